import { join } from 'node:path';
import type { PatchSet } from '../../../core/contract/patch-set.ts';
import { createArtifactBox } from '../state/artifact-box.ts';
import type { Attempt, OpenRun } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import { withSteps } from '../state/with-steps.ts';

/** An attempt called `name` over a patchset; whatever an earlier process recorded under that name is taken up again. */
export function beginAttempt(run: OpenRun, name: string, patch: PatchSet): Attempt {
  const box = createArtifactBox({
    directory: join(run.means.directory, 'content', name),
    spec: run.identity.contract.effective,
    hooks: run.means.engine.hooks,
    policy: policyOf(run),
    nowMs: () => run.means.settings.clock.now(),
  });
  return { ...withSteps(run, run.means.steps.under(name)), name, patch, box, approvals: [] };
}
