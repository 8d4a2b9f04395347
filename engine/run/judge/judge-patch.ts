import type { Finding } from '../../../core/contract/finding.ts';
import { redactTexts } from '../../../readers/sensitive/redact-texts.ts';
import type { Attempt } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import { askRules } from './ask-rules.ts';
import { ruleQuestion } from './rule-question.ts';
import { securityCodeWarning } from './security-code-warning.ts';
import { wordingFindings } from './wording-findings.ts';

/**
 * Judges a patchset before it is Proposed: every patch rule, then every plugin. An `error` rejects it. The part of one
 * Task among several is not asked for what only the whole change can show.
 */
export async function judgePatch(
  attempt: Attempt,
  extent: 'whole' | 'part' = 'whole',
): Promise<readonly Finding[]> {
  const step =
    extent === 'part' ? 'part-judged' : attempt.observed ? 'patch-judged-observed' : 'patch-judged';
  return attempt.means.steps.once(step, async () => {
    const {
      identity: { contract, scope, runId },
      means: { engine },
      ground,
      patch,
    } = attempt;
    const spec = contract.effective;
    const question = ruleQuestion(attempt, { spec, patch, scope, artifacts: [] });
    const rules = ground.rules.at('patch', spec).filter((rule) => extent === 'whole' || !rule.judgesWhole);
    const found = await askRules(question, rules);
    const added = await engine.hooks.patch.judge.call({ runId, spec, patch });
    attempt.means.settings.signal.throwIfAborted();
    const worded = extent === 'whole' ? wordingFindings(attempt.identity.wording) : [];
    const all = [...found, ...worded, ...securityCodeWarning(spec, attempt.ground.config, patch), ...added];
    // What is refused for a secret is kept without it, also where the contract allows secrets to be written.
    const policy = policyOf(attempt);
    const isRefused = found.some(
      ({ rule, severity }) => severity === 'error' && ground.rules.get(rule)?.findsSecrets === true,
    );
    const remove = isRefused ? [...new Set([...policy.remove, 'secrets' as const])] : policy.remove;
    return redactTexts(all, { ...policy, remove });
  });
}
