import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { requestCancel, withdrawCancel } from '../../engine/record/cancel-request.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { resumeRun } from '../../engine/run-intent.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { findRun } from '../../store/record/find-run.ts';
import { isRunHeld, runDirectory } from '../../store/run-directory.ts';
import { readIdentity } from '../../workspace/git/commit-log.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { readVersion } from '../build.ts';
import type { Place } from '../place.ts';

/** Which run is to end, and why. */
export interface CancelCall extends Place {
  /** Id of the run, or the beginning of one. */
  readonly run: string;
  /** 1 to 2000 characters. */
  readonly reason: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Called once no process works on the run. This function closes the engine. */
  readonly openEngine: () => Promise<WritEngine>;
}

/** How long a process that works on the run has to let go of it. */
const maxWaitMs = 15_000;
const lookEveryMs = 100;
/**
 * Maximum characters of a reason. The decision records it. A running process ignores a cancel request with a longer
 * reason.
 */
const maxReason = 2000;

/**
 * Ends a run with Decision.Abandon in any state. Returns how the run ended, which may differ if it had already
 * progressed too far.
 *
 * USAGE for an invalid reason, RUN_NOT_FOUND, RUN_BUSY. RUN_NOT_CANCELLABLE if the run has ended or is being sealed;
 * the process may have sealed it before releasing it.
 */
export async function cancelRun(call: CancelCall): Promise<RunView> {
  const { reason, signal } = call;
  if (reason.length > maxReason || reason.includes('\0')) {
    throw new WritError('USAGE', {
      message: `expected a reason of 1 to ${maxReason} characters, found ${reason.length}`,
      detail: { option: 'reason', length: reason.length },
    });
  }
  const repositoryPath = call.repoPath ?? call.cwd;
  const repository = await openRepository(repositoryPath);
  const { store, runId } = await findRun(call.stores, repository, systemClock, call.run);
  const identity = await readIdentity(repository);
  const by = identity?.name ?? 'somebody whom git does not know';
  await stopWork(repository, runId, by, reason, signal);
  const { state, decision } = await readRun(repository, store, runId);
  if (state === 'decided') {
    throw new WritError('RUN_NOT_CANCELLABLE', {
      message: `run \`${runId}\` has ended in \`${decision?.type}\`: there is nothing to cancel`,
      detail: { run_id: runId, decision: decision?.type },
      hints: [`see it: \`writ show ${runId}\``],
    });
  }
  // With no process working on the run, resume it once to end it.
  await using engine = await call.openEngine();
  return await resumeRun(engine, {
    repositoryPath,
    runId,
    schedulerVersion: readVersion(),
    witness: userJournalWitness(call.env),
    clock: systemClock,
    signal,
    cancel: `cancelled by ${by}: ${reason}`,
  });
}

/** Requests that the process working on the run release it, if there is one. RUN_BUSY if it does not. */
async function stopWork(
  repository: Repository,
  runId: string,
  by: string,
  reason: string,
  signal: AbortSignal,
): Promise<void> {
  const directory = runDirectory(repository, runId);
  if (!(await isRunHeld(directory))) return;
  await requestCancel(repository, runId, by, reason);
  try {
    const deadline = systemClock.monotonic() + maxWaitMs;
    while (await isRunHeld(directory)) {
      if (systemClock.monotonic() > deadline) {
        throw new WritError('RUN_BUSY', {
          message: `the process that works on this run did not let go of it in ${maxWaitMs / 1000} s`,
          detail: { run_id: runId },
        });
      }
      await systemClock.sleep(lookEveryMs, signal);
    }
  } finally {
    // The request must not reach the next process that resumes the run.
    await withdrawCancel(directory);
  }
}
