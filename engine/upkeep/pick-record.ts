import { rename } from 'node:fs/promises';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import type { Stores } from '../../store/open-stores.ts';
import { findRun } from '../../store/record/find-run.ts';
import { journalPath } from '../../store/run-directory.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { gitLine } from '../../workspace/git/git.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { listRefs, type RefUpdate, readRef, updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { readRun } from '../record/read-run.ts';
import { type FiledKind, filedRef, filedSource, filedStem } from './filed-record.ts';
import type { MovedRef } from './move-outcome.ts';
import type { Remote } from './network-git.ts';
import { plansOfRuns } from './plans-of-runs.ts';

export interface PickRequest {
  readonly stores: Stores;
  readonly repository: Repository;
  readonly clock: Clock;
  /** A run, or the beginning of its id. */
  readonly run: string;
  readonly keep: 'ours' | 'theirs';
  /** Selects the remote if several left a record. */
  readonly remote?: Remote;
}

const actor = { name: 'writ', email: 'writ@localhost' };

/**
 * Picks the record of a run that stays in effect, if `fetch` kept two. `theirs`: it replaces ours, which is kept
 * aside. `ours`: it is committed on top of theirs, so that the next `push` sends it to the remote. Record, content,
 * intent and plan move by one compare-and-swap. Throws RECORD_NOT_DOUBLE.
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
    // This machine's journal belongs to the replaced record, so no work is left to resume.
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
        ? `${fits.length} remotes left a record of run \`${runId}\`: say which`
        : `run \`${runId}\` has one record here`,
    detail: { run_id: runId, found: sources.length },
    hints: [
      fits.length > 1
        ? 'name the remote: `writ fetch REMOTE --theirs RUN`'
        : 'bring what there is: `writ fetch`',
    ],
  });
}

/** Commits our tree on top of theirs: clones with theirs can fast-forward to it, and no version is lost. */
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
