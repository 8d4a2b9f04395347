/* Opens a run that waits for approvals, and cancels runs. */
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { requestCancel, withdrawCancel } from '../../engine/record/claimed-run.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { parseWaitingRecord, type WaitingRecord, waitingPath } from '../../engine/record/stored-approvals.ts';
import { resumeRun } from '../../engine/run.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { type GateReport, readGateReport } from '../../store/record/gate-report.ts';
import { findRun } from '../../store/record/list-records.ts';
import { verdictDigest } from '../../store/record/verdict.ts';
import { isRunHeld, runDirectory } from '../../store/run-directory.ts';
import type { Place, RunStore } from '../../store/stores.ts';
import { readIdentity } from '../../workspace/git/commit-log.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { readVersion } from '../build.ts';

/** A run that waits, and the very report that its approvals are bound to. */
export interface WaitingRun {
  readonly repository: Repository;
  readonly store: RunStore;
  readonly runId: string;
  readonly record: WaitingRecord;
  readonly report: GateReport;
}

const reportPath = 'gate-report.json';

/**
 * Opens the run that a command line names, from its refs alone. RUN_NOT_FOUND; RUN_NOT_WAITING; OBJECT_CORRUPT where
 * what would be shown is not what would be signed.
 */
export async function openWaitingRun(context: Place, wanted: string): Promise<WaitingRun> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const { store, runId } = await findRun(context.stores, repository, systemClock, wanted);
  const files = await store.objects.readMany(store.refs.run(runId), [
    waitingPath,
    reportPath,
    'decision.json',
  ]);
  const waiting = files.get(waitingPath);
  if (waiting === undefined || files.has('decision.json'))
    throw new WritError('RUN_NOT_WAITING', {
      detail: { run_id: runId, decided: files.has('decision.json') },
    });
  const record = parseWaitingRecord(waiting);
  if (record.subject.runId !== runId)
    throw corrupt(`it is of the run \`${record.subject.runId}\``, { run_id: runId });
  const bytes = files.get(reportPath);
  if (bytes === undefined) throw corrupt(`\`${reportPath}\` is missing`, { run_id: runId });
  const report = readGateReport(bytes);
  const digest = verdictDigest(report);
  if (digest !== record.subject.gateReportDigest) {
    throw corrupt(`the verdict in its \`${reportPath}\` is not the one that it names`, {
      run_id: runId,
      expected: record.subject.gateReportDigest,
      found: digest,
    });
  }
  requireSameChange(record, report);
  return { repository, store, runId, record, report };
}

/** The record names the report by digest. Its other statements about the change must match the report. */
function requireSameChange({ subject, specId, summary }: WaitingRecord, report: GateReport): void {
  const { patch, spec, baseCommit } = report;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['candidateTree', patch?.candidateTree, subject.candidateTree],
    ['patchDigest', patch?.digest, subject.patchDigest],
    ['specDigest', spec.digest, subject.specDigest],
    ['baseCommit', baseCommit ?? null, subject.baseCommit],
    ['specId', spec.id, specId],
    ['summary', spec.summary, summary],
  ];
  for (const [field, expected, found] of pairs)
    if (found !== expected)
      throw corrupt(`its \`${waitingPath}\` names another \`${field}\` than its \`${reportPath}\``, {
        run_id: subject.runId,
        field,
        expected,
        found,
      });
}

function corrupt(found: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `the run cannot be approved: ${found}`,
    detail,
  });
}

/** Which run is to end, and why. */
interface CancelCall extends Place {
  /** Id of the run, or the beginning of one. */
  readonly run: string;
  /** 1 to 2000 characters. */
  readonly reason: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Called once no process works on the run. */
  readonly withEngine: (end: (engine: WritEngine) => Promise<RunView>) => Promise<RunView>;
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
      message: `run \`${runId}\` has ended in \`${decision?.type}\`, so it cannot be cancelled`,
      detail: { run_id: runId, decision: decision?.type },
      hints: [`see it: \`writ show ${runId}\``],
    });
  }
  // With no process working on the run, resume it once to end it.
  return await call.withEngine((engine) =>
    resumeRun(engine, {
      repositoryPath,
      runId,
      schedulerVersion: readVersion(),
      witness: userJournalWitness(call.env),
      clock: systemClock,
      signal,
      cancel: `cancelled by ${by}: ${reason}`,
    }),
  );
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
          message: `the process that works on this run did not stop within ${maxWaitMs / 1000} s`,
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
