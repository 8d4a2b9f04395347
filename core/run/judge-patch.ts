import type { Finding } from '../contract/finding.ts';
import { askRules } from './ask-rules.ts';
import type { Attempt } from './attempt.ts';
import { ruleQuestion } from './rule-question.ts';
import { securityCodeWarning } from './security-code-warning.ts';

/** Judges the candidate before it is Proposed: every patch rule, then every plugin. An `error` rejects it. */
export async function judgePatch(attempt: Attempt): Promise<readonly Finding[]> {
  const { engine, contract, patch, scope, runId, journal } = attempt;
  const spec = contract.effective;
  const question = ruleQuestion(attempt, { spec, patch, scope, artifacts: [] });
  const found = await askRules(question, engine.rules.at('patch', spec));
  const added = await engine.hooks.patch.judge.call({ runId, spec, patch });
  attempt.request.signal.throwIfAborted();
  const findings = [...found, ...securityCodeWarning(spec, attempt.ground.config, patch), ...added];
  await journal.append('patch-judged', { patchset: patch.digest, findings });
  return findings;
}
