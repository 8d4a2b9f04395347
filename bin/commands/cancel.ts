import { toRunData } from '../../api/run/run-data.ts';
import { readVersion } from '../../api/version.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { requestCancel, withdrawCancel } from '../../engine/run/record/cancel-request.ts';
import { readRun } from '../../engine/run/record/read-run.ts';
import { resumeRun } from '../../engine/run/run-intent.ts';
import { findRun } from '../../engine/store/record/find-run.ts';
import { runDirectory } from '../../engine/store/run-directory.ts';
import { isRunHeld } from '../../engine/store/run-lock.ts';
import { readIdentity } from '../../engine/vcs/identity.ts';
import { openRepository, type Repository } from '../../engine/vcs/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/open-engine.ts';
import { printRun } from '../report/human.ts';
import { toResult } from './run.ts';

/** How long a process that works on the run has to let go of it. */
const maxWaitMs = 15_000;
const lookEveryMs = 100;
/**
 * Characters of a reason: it stands in the decision, and a request with a longer one is none that a working process
 * reads.
 */
const maxReason = 2000;

/** `writ cancel RUN`: ends a run in Decision.Abandon, wherever it stands; exit 0 where that is what it came to. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { options, args, repoPath, cwd, signal } = context;
  const reason = options.value('reason') ?? 'no reason given';
  if (reason.length > maxReason || reason.includes('\0')) {
    throw new WritError('USAGE', {
      message: `expected a reason of 1 to ${maxReason} characters, found ${reason.length}`,
      detail: { option: 'reason', length: reason.length },
    });
  }
  const repository = await openRepository(repoPath ?? cwd);
  const { store, runId } = await findRun(context.stores, repository, systemClock, args[0] ?? '');
  const identity = await readIdentity(repository);
  const by = identity?.name ?? 'somebody whom git does not know';
  await stopWork(repository, runId, by, reason, signal);
  const { state, decision } = await readRun(repository, store, runId);
  if (state === 'decided') {
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `run \`${runId}\` has ended in \`${decision?.type}\`: there is nothing to cancel`,
      detail: { run_id: runId, decision: decision?.type },
    });
  }
  const view = await endNow(context, runId, `cancelled by ${by}: ${reason}`);
  if (view.decision?.type !== 'abandon') return toResult(view);
  return succeeded(toRunData(view), (printer) => printRun(printer, view));
}

/** Asks the process that works on the run, if one does, to let go of it. RUN_BUSY where it does not. */
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
    // Whoever takes the run up from here on is not the one that was asked.
    await withdrawCancel(directory);
  }
}

/** A run that nobody works on is taken up once more, to be ended. */
async function endNow(context: CommandContext, runId: string, cancel: string): Promise<RunView> {
  await using engine = await openEngine(context, { ephemeralKey: true, plugins: [] });
  return await resumeRun(engine, {
    repositoryPath: context.repoPath ?? context.cwd,
    runId,
    sandbox: 'auto',
    schedulerVersion: readVersion(),
    witness: userJournalWitness(context.env),
    clock: systemClock,
    signal: context.signal,
    cancel,
  });
}
