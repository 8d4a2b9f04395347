import type { WritEngine } from '../spec/writ-engine.ts';
import type { PartField } from './part-fields.ts';

/** Names that nothing of a plugin may bear: of its kind's built-in ones, and of rules those of policy engines, too. */
export function takenNames({
  slots: { provider, policy, log, artifact, evidence },
  rules,
}: Pick<WritEngine, 'slots' | 'rules'>): Readonly<Record<PartField | 'rules', readonly string[]>> {
  const ruleNames = [...rules.ids, ...policy.names];
  return {
    rules: ruleNames,
    providers: provider.names,
    logs: log.names,
    // What a stage check finds bears its name as the rule.
    stageChecks: ruleNames,
    artifacts: artifact.names,
    evidence: evidence.names,
  };
}
