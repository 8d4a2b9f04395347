import { WritError } from '../../core/base/errors.ts';
import { isJournalBegun, type JournalRecord, parseJournal, readJournal } from '../../store/parse-journal.ts';
import { requireKeptSpec } from '../../store/record/kept-spec.ts';
import { journalPath, runDirectory } from '../../store/run-directory.ts';
import type { RunStore } from '../../store/run-store.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { claimedCalls, type OutsideCall } from '../state/calls.ts';
import { requireStartedContract, runnerSealPath, travelledJournal } from './journal-view.ts';
import { type StartedRun, startedRun } from './started-run.ts';
import { parseWaitingRecord, waitingPath } from './stored-approvals.ts';

/**
 * What a memory says that nobody here vouches for: a journal that was changed, or that came with its refs. It is a
 * claim; only the request and the candidate are taken from it, and what rests on a runner whom the policy commit names.
 */
export interface ClaimedRun {
  readonly started: StartedRun;
  /** The contract of exactly that digest. */
  readonly spec: Uint8Array;
  readonly candidate: StartedRun['candidate'];
  /** Calls that may have left a machine, whatever it says of their ends. */
  readonly calls: readonly OutsideCall[];
  /** The journal in its refs, where there is one, and what a runner signed over it. */
  readonly travelled?: { readonly records: readonly JournalRecord[]; readonly bytes: Uint8Array };
  readonly runnerSeal?: Uint8Array;
}

/**
 * Reads the claim of a run: from its journal here, else from its refs. RUN_NOT_RESUMABLE where the refs hold a decision
 * already, or nothing to go on from; JOURNAL_CORRUPT for a journal that says nothing usable.
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
  // Before anything is written: what came from elsewhere is judged, and a better one may still be fetched.
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

/** Of a run that a worker did: what people were asked about. */
function waitingCandidate(bytes: Uint8Array | undefined): StartedRun['candidate'] {
  if (bytes === undefined) return undefined;
  const { subject } = parseWaitingRecord(bytes);
  return { tree: subject.candidateTree, digest: subject.patchDigest };
}
