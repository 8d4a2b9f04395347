/* Reads a run whose journal is not verified, and requests to cancel runs. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import { joinModelWork } from '../../readers/sensitive/model-work.ts';
import { isJournalBegun, type JournalRecord, parseJournal, readJournal } from '../../store/parse-journal.ts';
import { journalPath, requireKeptSpec, runDirectory } from '../../store/run-directory.ts';
import { fields, type TypeOf, text } from '../../store/shape.ts';
import type { RunStore } from '../../store/stores.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { claimedCalls, modelCalls, type OutsideCall } from '../state/calls.ts';
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
  /** Calls of models, those that drafted it included. */
  readonly models: readonly ModelWork[];
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
      message: `run \`${runId}\` has ended, and nothing on this machine shows an unfinished step`,
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
      message: `run \`${runId}\` cannot continue here: it has ended, or runs on another machine`,
      detail: { run_id: runId },
      hints: ['see its state with `writ show RUN`'],
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
    models: modelsOf(started, records).map((work) => ({ ...work, claimed: true })),
    ...(travelled ? { travelled } : {}),
    ...(runnerSeal ? { runnerSeal } : {}),
  };
}

/** A run has one or two. */
const maxModels = 50;

/** Calls of models in a run so far, those that drafted it first. JOURNAL_CORRUPT, also for more models than fit. */
export function modelsOf(
  { drafting }: Pick<StartedRun, 'drafting'>,
  records: readonly JournalRecord[],
): readonly ModelWork[] {
  const models = joinModelWork([...(drafting?.models ?? []), ...modelCalls(records)]);
  if (models.length <= maxModels) return models;
  throw new WritError('JOURNAL_CORRUPT', {
    message: `the journal names ${models.length} models in their roles, expected at most ${maxModels}`,
    detail: { models: models.length },
  });
}

/** The candidate of a worker's run that was shown for approval. */
function waitingCandidate(bytes: Uint8Array | undefined): StartedRun['candidate'] {
  if (bytes === undefined) return undefined;
  const { subject } = parseWaitingRecord(bytes);
  return { tree: subject.candidateTree, digest: subject.patchDigest };
}

const shape = fields({ by: text, reason: text });

/** Who wants a run to end, and why. */
type CancelRequest = TypeOf<typeof shape>;

const fileName = 'cancel';
const maxBytes = 64 * 1024;
const lookEveryMs = 250;

/**
 * Requests that the process working on a run cancels it. The file is written atomically; a second request replaces
 * the first. The request has no effect until a process watches for it.
 */
export async function requestCancel(
  repository: Pick<Repository, 'commonDir'>,
  runId: string,
  by: string,
  reason: string,
): Promise<void> {
  const directory = runDirectory(repository, runId);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = join(directory, `${fileName}.${randomOctets(8).toString('hex')}`);
  try {
    await writeFile(draft, JSON.stringify({ by, reason }), { mode: 0o600, flag: 'wx', flush: true });
    await rename(draft, join(directory, fileName));
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Returns the pending cancel request of a run, or `undefined`. Throws OBJECT_CORRUPT for a symlink or an invalid
 * request.
 */
export async function readCancel(directory: string): Promise<CancelRequest | undefined> {
  const path = join(directory, fileName);
  const { bytes, fault } = readPlain(path, maxBytes);
  if (fault?.code === 'ENOENT') return undefined;
  if (bytes === undefined) throw corrupt(path, fault);
  const { value } = parseStrictJson(bytes, { code: 'OBJECT_CORRUPT', maxBytes, maxDepth: 2 });
  const problems: string[] = [];
  shape.check(value, '', problems);
  if (problems.length > 0) throw corrupt(path);
  return value as CancelRequest;
}

/** Removes the cancel request, by any caller: it was handled, or no process is left to handle it. */
export async function withdrawCancel(directory: string): Promise<void> {
  await rm(join(directory, fileName), { force: true });
}

/**
 * Calls `onCancel` once when a cancel request exists, including one made before the watch began. Stops with `signal`.
 * It polls, because network file systems lose change events. An invalid request file cancels no run and stays for the
 * next reader.
 */
export async function watchCancel(
  directory: string,
  onCancel: (request: CancelRequest) => void,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> {
  while (!signal.aborted) {
    const request = await readCancel(directory).catch(() => undefined);
    if (request !== undefined && !signal.aborted) return onCancel(request);
    await clock.sleep(lookEveryMs, signal).catch(() => undefined);
  }
}

function corrupt(path: string, cause?: unknown): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `\`${path}\` is no request to cancel`,
    detail: { path },
    ...(cause === undefined ? {} : { cause }),
  });
}
