import type { WritEngine } from '../spec/writ-engine.ts';
import type { PartField } from './part-fields.ts';

/** Names that no part of a plugin may bear, because a built-in one of its kind does. */
export function takenNames({
  slots: { provider, policy, artifact, evidence },
  rules,
}: Pick<WritEngine, 'slots' | 'rules'>): Readonly<Record<PartField, readonly string[]>> {
  return {
    providers: provider.names,
    logs: [],
    // What a stage check finds bears its name as the rule.
    stageChecks: [...rules.ids, ...policy.names],
    artifacts: artifact.names,
    evidence: evidence.names,
  };
}
