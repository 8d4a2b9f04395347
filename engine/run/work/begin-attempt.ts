import { join } from 'node:path';
import type { PatchSet } from '../../../core/contract/patch-set.ts';
import { policyOf } from '../judge/attempt-policy.ts';
import { createArtifactBox } from '../state/artifact-box.ts';
import type { Attempt, OpenRun } from '../state/attempt.ts';

/** An attempt called `name` over a patchset; whatever an earlier process recorded under that name is taken up again. */
export function beginAttempt(run: OpenRun, name: string, patch: PatchSet): Attempt {
  const box = createArtifactBox({
    directory: join(run.directory, 'content', name),
    spec: run.contract.effective,
    hooks: run.engine.hooks,
    policy: policyOf(run),
    nowMs: () => run.settings.clock.now(),
  });
  return { ...run, name, patch, box, approvals: [], steps: run.steps.under(name) };
}
