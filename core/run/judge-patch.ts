import type { Finding } from '../contract/finding.ts';
import { askRules } from './ask-rules.ts';
import type { Attempt } from './attempt.ts';
import { ruleQuestion } from './rule-question.ts';
import { securityCodeWarning } from './security-code-warning.ts';

/** Judges the candidate before it is Proposed: every patch rule, then every plugin. An `error` rejects it. */
export async function judgePatch(attempt: Attempt): Promise<readonly Finding[]> {
  return attempt.steps.once('patch-judged', async () => {
    const { engine, contract, patch, scope, runId } = attempt;
    const spec = contract.effective;
    const question = ruleQuestion(attempt, { spec, patch, scope, artifacts: [] });
    const found = await askRules(question, engine.rules.at('patch', spec));
    const added = await engine.hooks.patch.judge.call({ runId, spec, patch });
    attempt.settings.signal.throwIfAborted();
    return [...found, ...securityCodeWarning(spec, attempt.ground.config, patch), ...added];
  });
}
