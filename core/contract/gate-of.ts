import type { ArtifactStage, EffectiveIntentSpec } from './intentspec.gen.ts';
import { type StageName, stageNames } from './stage.ts';

/** Which gate stage an artifact's stage is (document 1, `required[].stage`). */
export const gateOf: Readonly<Record<ArtifactStage, StageName>> = {
  'per-task': 'fast',
  integration: 'integration',
  security: 'security',
  release: 'release',
};

type Required = Pick<EffectiveIntentSpec['artifacts']['required'][number], 'name' | 'stage'>;

/**
 * The gate stage at which an artifact is looked for: the one that the contract names; a later one where the check that
 * produces it stands only there, because before that nobody could have made it.
 */
export function lookedForAt(spec: EffectiveIntentSpec, required: Required): StageName {
  const named = gateOf[required.stage];
  const made = producedAt(spec, required);
  return made !== undefined && stageNames.indexOf(made) > stageNames.indexOf(named) ? made : named;
}

/**
 * The first stage with a command or suite that says it produces the artifact. A `test-log` that none claims is the
 * output of all: at the stage that the contract names, else at the next one where something runs, else at the last
 * before it. `undefined`: only the engine could make it.
 */
export function producedAt(spec: EffectiveIntentSpec, { name, stage }: Required): StageName | undefined {
  const plan = spec.acceptance.verificationPlan;
  const running = stageNames.map((at) => plan[`${at}Checks`].filter(({ kind }) => kind !== 'policy'));
  const claimed = running.findIndex((checks) =>
    checks.some(({ artifactsProduced }) => artifactsProduced.includes(name)),
  );
  if (claimed >= 0) return stageNames[claimed];
  if (name !== 'test-log') return undefined;
  const ranAt = stageNames.filter((_, index) => (running[index]?.length ?? 0) > 0);
  const named = stageNames.indexOf(gateOf[stage]);
  return ranAt.find((at) => stageNames.indexOf(at) >= named) ?? ranAt.at(-1);
}
