import { WritError } from '../../core/base/errors.ts';
import { isJournalBegun, type JournalRecord, parseJournal, readJournal } from '../../store/parse-journal.ts';
import { journalPath, requireKeptSpec, runDirectory } from '../../store/run-directory.ts';
import type { RunStore } from '../../store/stores.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { claimedCalls, type OutsideCall } from '../state/calls.ts';
import { requireStartedContract, runnerSealPath, travelledJournal } from './journal-view.ts';
import { type StartedRun, startedRun } from './started-run.ts';
import { parseWaitingRecord, waitingPath } from './stored-approvals.ts';

/**
 * A run's journal that no one on this machine vouches for: it was changed, or it arrived with the run's refs. It is a
 * claim. writ uses only its request and candidate, and whatever rests on a runner that the policy commit lists.
 */
export interface ClaimedRun {
  readonly started: StartedRun;
  /** The spec with exactly the digest in `started`. */
  readonly spec: Uint8Array;
  readonly candidate: StartedRun['candidate'];
  /** Calls that may have left a machine, even if the journal reports that they ended. */
  readonly calls: readonly OutsideCall[];
  /** The journal in its refs, where there is one, and what a runner signed over it. */
  readonly travelled?: { readonly records: readonly JournalRecord[]; readonly bytes: Uint8Array };
  readonly runnerSeal?: Uint8Array;
}

/**
 * Reads a run's claim: from the local journal if there is one, otherwise from the run's refs. Throws
 * RUN_NOT_RESUMABLE if the refs already hold a decision, or hold too little to resume; JOURNAL_CORRUPT if the journal
 * is unusable.
 */
export async function readClaim(
  repository: Repository,
  { objects, refs }: RunStore,
  runId: string,
): Promise<ClaimedRun> {
  const stored = await objects.readMany(refs.run(runId), [
    'decision.json',
    travelledJournal,
    'spec.json',
    runnerSealPath,
    waitingPath,
  ]);
  if (stored.has('decision.json')) {
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `run \`${runId}\` is recorded as decided, and no journal that this user wrote on this machine says that anything is left to do`,
      detail: { run_id: runId },
    });
  }
  const path = journalPath(repository, runId);
  const isHere = await isJournalBegun(path);
  const there = stored.get(travelledJournal);
  // Beside a journal that was changed here, what came by ref is one claim more.
  const travelled =
    isHere || there === undefined
      ? undefined
      : { bytes: there, records: parseJournal(there, `${refs.run(runId)}:${travelledJournal}`).records };
  const records = isHere ? (await readJournal(path)).records : (travelled?.records ?? []);
  const started = startedRun(records);
  const spec = isHere
    ? await requireKeptSpec(runDirectory(repository, runId), runId)
    : stored.get('spec.json');
  if (!started || !spec) {
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `run \`${runId}\` has ended, or is at work elsewhere: nothing here says how to go on`,
      detail: { run_id: runId },
      hints: ['see it: `writ show RUN`'],
    });
  }
  // Verify the claim before writing any file, so that a better copy can still be fetched.
  if (started.runId !== runId) {
    throw new WritError('JOURNAL_CORRUPT', {
      message: `the journal is of the run \`${started.runId}\``,
      detail: { run_id: runId, found: started.runId },
    });
  }
  requireStartedContract(spec, started);
  const runnerSeal = stored.get(runnerSealPath);
  return {
    started,
    spec,
    candidate: started.candidate ?? waitingCandidate(stored.get(waitingPath)),
    calls: claimedCalls(records),
    ...(travelled ? { travelled } : {}),
    ...(runnerSeal ? { runnerSeal } : {}),
  };
}

/** The candidate of a worker's run that was shown for approval. */
function waitingCandidate(bytes: Uint8Array | undefined): StartedRun['candidate'] {
  if (bytes === undefined) return undefined;
  const { subject } = parseWaitingRecord(bytes);
  return { tree: subject.candidateTree, digest: subject.patchDigest };
}
