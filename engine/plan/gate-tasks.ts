import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { PlannedTask } from '../../core/contract/plan-draft.ts';
import { type StageName, stageNames } from '../../core/contract/stage.ts';

/**
 * The gates after `implementation` (objmodel.planGeneration.gateTaskPerStage): one for each stage that lists checks,
 * each after the one before it; or one for all of them, with every check id in stage order. A contract without checks
 * has no gate.
 */
export function gateTasks(
  { acceptance, objmodel }: Pick<EffectiveIntentSpec, 'acceptance' | 'objmodel'>,
  implementation: readonly Pick<PlannedTask, 'key' | 'number'>[],
): readonly PlannedTask[] {
  const checksAt = (stage: StageName): readonly string[] =>
    acceptance.verificationPlan[`${stage}Checks`].map(({ id }) => id);
  const stages = stageNames.filter((stage) => checksAt(stage).length > 0);
  const cut = objmodel.planGeneration.gateTaskPerStage ? stages.map((stage) => [stage]) : [stages];
  const numbers = implementation.length;
  const gates = cut.filter((one) => one.length > 0);
  const keys = gates.map((one) => (objmodel.planGeneration.gateTaskPerStage ? `gate-${one[0]}` : 'gate'));
  return gates.map((gateStages, at) => {
    const previous = keys[at - 1];
    return {
      key: keys[at] ?? 'gate',
      number: numbers + at + 1,
      kind: 'gate' as const,
      title: `${gateStages.join(', ')} checks`,
      goal: 'gate',
      steps: gateStages.flatMap(checksAt),
      constraints: [],
      acceptanceCriteria: [],
      dependsOn: previous === undefined ? implementation.map(({ key }) => key) : [previous],
      gateStages,
    };
  });
}
