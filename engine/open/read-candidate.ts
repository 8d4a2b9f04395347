import { messageOf, WritError } from '../../core/base/errors.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Base } from '../../workspace/git/resolve-commit.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import type { StartedRun } from '../record/started-run.ts';

/** The candidate of a supplied patch, out of the objects it left. */
export async function readCandidate(
  scratch: Scratch,
  base: Base,
  runId: string,
  candidate: StartedRun['candidate'],
): Promise<PatchSet | undefined> {
  if (!candidate) return undefined;
  const patch = await normalisePatch(scratch, base, candidate.tree).catch((cause: unknown) => {
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `the candidate of run \`${runId}\` is not in this repository: ${messageOf(cause)}`,
      detail: { run_id: runId, tree: candidate.tree },
      hints: ['fetch what belongs to it: `writ fetch`'],
      cause,
    });
  });
  if (patch.digest === candidate.digest) return patch;
  throw new WritError('OBJECT_CORRUPT', {
    message: 'the candidate is not the one that was evaluated',
    detail: { expected: candidate.digest, found: patch.digest },
  });
}
