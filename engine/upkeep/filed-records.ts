/* Resolves records of one run, and histories of one intent, that two clones wrote apart. */
import { rename } from 'node:fs/promises';
import { sha256Hex } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { findRun } from '../../store/record/list-records.ts';
import { journalPath } from '../../store/run-directory.ts';
import { parseObject } from '../../store/stored-object.ts';
import { openStores, type Stores, storeRefs } from '../../store/stores.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { gitLine } from '../../workspace/git/git.ts';
import type { Remote } from '../../workspace/git/network.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { listRefs, type RefUpdate, readRef, updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { appendIntentEvents, type NewIntentEvent } from '../intent/append-intent-events.ts';
import { withLandings } from '../intent/find-intent.ts';
import { type IntentEvent, type IntentStore, readIntentHistory } from '../intent/intent-history.ts';
import { readRun } from '../record/read-run.ts';
import type { MovedRef } from './remote.ts';
import { plansOfRuns, type StoredRef, toStoredRef } from './stored-ref.ts';

/** The parts of a run that are kept together; intents and plans have their own ids. */
type FiledKind = 'run' | 'content' | 'intent' | 'plan';

/**
 * Where the record of a remote is kept beside ours: `<prefix>/fetched/of-<run>/<remote>-<kind>`. writ does not list
 * it as a run, and neither pushes nor fetches it.
 */
export function filedRef(
  { prefix, id }: Pick<StoredRef, 'prefix' | 'id'>,
  source: string,
  kind: FiledKind,
): string {
  return `${filedStem(prefix, id)}${source}-${kind}`;
}

function filedStem(prefix: string, encodedRunId: string): string {
  return `${prefix}/fetched/of-${encodedRunId}/`;
}

/** A remote as part of a ref name; its own name may contain any character. */
export function filedSource({ address }: Pick<Remote, 'address'>): string {
  return `from-${sha256Hex(address).slice(0, 12)}`;
}

interface PickRequest {
  readonly stores: Stores;
  readonly repository: Repository;
  readonly clock: Clock;
  /** A run, or the beginning of its id. */
  readonly run: string;
  readonly keep: 'ours' | 'theirs';
  /** The remote, if several left a record. */
  readonly remote?: Remote;
}

const actor = { name: 'writ', email: 'writ@localhost' };

/**
 * Decides which record of a run counts, after `fetch` kept two. `theirs` replaces ours, which is kept beside it.
 * `ours` is written on top of theirs, so that the next push sends it. Record, content, intent and plans move with one
 * compare-and-swap. RECORD_NOT_DOUBLE.
 */
export async function pickRecord(request: PickRequest): Promise<readonly MovedRef[]> {
  const { stores, repository, clock, keep } = request;
  const { store, runId } = await findRun(stores, repository, clock, request.run);
  const ref = store.refs.run(runId);
  const at = { prefix: ref.slice(0, ref.lastIndexOf('/runs/')), id: encodeId(runId) };
  const source = await sourceOf(repository, at, request, runId);
  const updates: RefUpdate[] = [];
  const moved: MovedRef[] = [];
  const { spec } = await readRun(repository, store, runId);
  const parts: readonly (readonly [FiledKind, string, typeof at])[] = [
    ['run', ref, at],
    ['content', store.refs.content(runId), at],
    ['intent', store.refs.intent(spec.id), { ...at, id: encodeId(spec.id) }],
  ];
  const records = await Promise.all(
    [ref, filedRef(at, source, 'run')].map((one) => readRef(repository, one)),
  );
  const versions = records.flatMap((object) => (object === undefined ? [] : [{ object, prefix: at.prefix }]));
  const plans = [...(await plansOfRuns(repository, versions)).keys()].map(
    (own) => ['plan', own, { ...at, id: own.slice(own.lastIndexOf('/') + 1) }] as const,
  );
  for (const [kind, own, place] of [...parts, ...plans]) {
    const filed = filedRef(place, source, kind);
    const [ours, theirs] = [await readRef(repository, own), await readRef(repository, filed)];
    if (theirs === undefined) continue;
    const to = keep === 'theirs' ? theirs : await onTopOf(repository, theirs, ours, clock.now());
    updates.push({ ref: own, old: ours, new: to }, { ref: filed, old: theirs, new: undefined });
    if (keep === 'theirs' && ours !== undefined) {
      const before = filedRef(place, 'before', kind);
      updates.push({ ref: before, old: await readRef(repository, before), new: ours });
    }
    moved.push({ ref: own, from: ours ?? null, to, status: 'replaced', reason: `${keep} of two records` });
  }
  const outcome = await updateRefs(repository, updates, `writ: keep ${keep} of run ${runId}`);
  if (outcome.moved) {
    const isDecided = (await store.objects.readMany(ref, ['decision.json'])).size > 0;
    // The local journal belongs to the replaced record, so no process may continue it.
    if (keep === 'theirs' && isDecided) await retireJournal(repository, runId);
    return moved;
  }
  return moved.map((one) => ({
    ...one,
    to: one.from,
    status: 'moved',
    reason: 'it was moved while we looked',
  }));
}

async function retireJournal(repository: Repository, runId: string): Promise<void> {
  const path = journalPath(repository, runId);
  await rename(path, `${path}.replaced`).catch(absent);
}

async function sourceOf(
  repository: Repository,
  { prefix, id }: { readonly prefix: string; readonly id: string },
  { remote }: PickRequest,
  runId: string,
): Promise<string> {
  const stem = filedStem(prefix, id);
  const sources = (await listRefs(repository, stem)).flatMap(
    ({ ref }) => /^(from-[0-9a-f]{12})-run$/.exec(ref.slice(stem.length))?.[1] ?? [],
  );
  const wanted = remote && filedSource(remote);
  const fits = sources.filter((source) => wanted === undefined || source === wanted);
  const [only] = fits;
  if (fits.length === 1 && only !== undefined) return only;
  throw new WritError('RECORD_NOT_DOUBLE', {
    message:
      fits.length > 1
        ? `${fits.length} remotes have a record of run \`${runId}\`. Name one`
        : `run \`${runId}\` has only one record here, so there is nothing to choose`,
    detail: { run_id: runId, found: sources.length },
    hints: [
      fits.length > 1
        ? 'name the remote: `writ fetch REMOTE --theirs RUN`'
        : '`writ fetch` gets records from the remote',
    ],
  });
}

/** Our tree on top of theirs, so that a clone with theirs can follow it. */
async function onTopOf(
  repository: Repository,
  theirs: string,
  ours: string | undefined,
  nowMs: number,
): Promise<string> {
  if (ours === undefined) return theirs;
  return createCommit(repository, {
    tree: await gitLine(repository, ['rev-parse', '--verify', '--end-of-options', `${ours}^{tree}`]),
    parents: [theirs, ours],
    message: 'writ: ours of two records\n',
    author: actor,
    committer: actor,
    authoredAtMs: nowMs,
    committedAtMs: nowMs,
  });
}

interface JoinPlace {
  readonly repository: Repository;
  readonly stores: Stores;
  readonly clock: Clock;
}

/**
 * Joins each history of an intent that two clones wrote apart: the events of the remote, then ours that it lacks. The
 * result follows theirs, so the next push sends it; ours is kept under a ref beside it. Histories that are damaged,
 * or of another intent, stay. Returns `refs` with the changes.
 */
export async function joinIntents(place: JoinPlace, refs: readonly MovedRef[]): Promise<readonly MovedRef[]> {
  return Promise.all(
    refs.map(async (moved) => {
      const stored = moved.from === null ? undefined : toStoredRef(moved.ref, moved.from);
      if (moved.status !== 'diverged' || stored?.kind !== 'intent') return moved;
      try {
        return (await joinIntent(place, stored)) ?? moved;
      } catch (fault) {
        if (isWritError(fault, 'OBJECT_CORRUPT')) return moved;
        throw fault;
      }
    }),
  );
}

async function joinIntent(
  { repository, stores, clock }: JoinPlace,
  stored: StoredRef,
): Promise<MovedRef | undefined> {
  const { ref, object, prefix, id } = stored;
  const before = filedRef(stored, 'before', 'intent');
  const filed = (await listRefs(repository, filedStem(prefix, id))).find(
    (one) => one.ref.endsWith('-intent') && one.ref !== before,
  );
  const store = await storeOf({ repository, stores, clock }, stored);
  if (!filed || !store) return undefined;
  const intent = await store.objects.read(ref, 'intent.json');
  const specId = intent && parseObject('intent', intent).external_ids.intentspec_id;
  if (specId === undefined) return undefined;
  const beside: IntentStore = { ...store, refs: { intent: () => filed.ref } };
  const ours = await readIntentHistory(store, specId);
  const theirs = await readIntentHistory(beside, specId);
  if (!ours || theirs?.thread !== ours.thread || ours.version !== object) return undefined;
  await appendIntentEvents(beside, specId, ours.events.map(toNewEvent), { isJoin: true });
  const to = await readRef(repository, filed.ref);
  if (to === undefined) return undefined;
  const outcome = await updateRefs(
    repository,
    [
      { ref, old: object, new: to },
      { ref: filed.ref, old: to, new: undefined },
      { ref: before, old: await readRef(repository, before), new: object },
    ],
    'writ: join two histories of an intent',
  );
  if (!outcome.moved) return undefined;
  return {
    ref,
    from: object,
    to,
    status: 'replaced',
    reason: `two histories joined; ours was \`${before}\``,
  };
}

/** The store that holds the intent; only a store in git has refs of a remote. */
async function storeOf(
  { repository, stores, clock }: JoinPlace,
  { ref, prefix }: StoredRef,
): Promise<IntentStore | undefined> {
  for (const { objects } of await openStores(stores, repository, clock))
    if ((await objects.version(ref)) !== undefined)
      return withLandings(repository, { objects, refs: storeRefs(prefix) });
  return undefined;
}

/** An event, to be appended to another history. */
function toNewEvent(event: IntentEvent): NewIntentEvent {
  const { kind, reason, status, diff_summary, run, superseded_by, supersedes } = event;
  const digest = event.external_ids.intentspec_digest;
  return {
    kind,
    reason,
    ...(status === undefined ? {} : { status }),
    ...(diff_summary === undefined ? {} : { diff_summary }),
    ...(run === undefined ? {} : { run }),
    ...(superseded_by === undefined ? {} : { superseded_by }),
    ...(supersedes === undefined ? {} : { supersedes }),
    by: event.created_by,
    nowMs: Date.parse(event.created_at),
    ...(digest === undefined ? {} : { digest }),
  };
}
