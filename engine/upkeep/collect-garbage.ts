import { lstat, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { type OpenStore, openStores, type Stores } from '../../store/open-stores.ts';
import { removeLitter, temporaryRoot } from '../../store/remove-litter.ts';
import { type BlobRetentionStrategy, releaseBlobs } from '../../store/retain-blobs.ts';
import { listRunDirectories, runDirectory } from '../../store/run-directory.ts';
import { acquireRunLock } from '../../store/run-lock.ts';
import { claimsDirectory } from '../../workspace/git/git-claim.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { removeStaleLocks } from '../../workspace/git/stale-locks.ts';
import { removeRunLitter } from '../record/run-litter.ts';
import { type ContentExpiry, readExpiries, readStoredExpiries } from './content-expiry.ts';
import { expireContent } from './expire-content.ts';
import type { Removed } from './removed.ts';
import { localStateOf } from './run-states.ts';
import { listStoredRefs, type StoredRef, toStoredRef } from './stored-ref.ts';

export interface CollectRequest {
  readonly stores: Stores;
  readonly repository: Repository;
  readonly clock: Clock;
  /** Lists what retention would remove, and removes none of it. */
  readonly dryRun: boolean;
  /** Where private workspaces are; default the system's. */
  readonly temporary?: string;
}

/**
 * Enforces retention and removes leftovers of runs that have ended. Never touches a run that waits, works or can be
 * resumed. Leftovers of killed processes are detected only during removal, so a dry run omits them.
 */
export async function collectGarbage(request: CollectRequest): Promise<readonly Removed[]> {
  const { stores, repository, clock, dryRun, temporary = tmpdir() } = request;
  await using readers = keepObjectReaders();
  readers.keep(repository);
  const inGit = await listStoredRefs(repository);
  const stored: (OpenStore & { readonly refs: readonly StoredRef[] })[] = [];
  for (const store of await openStores(stores, repository, clock))
    stored.push({ ...store, refs: await listRefsBeside(repository, store) });
  const beside = stored.flatMap(({ refs }) => refs);
  const nowMs = clock.now();
  const expiriesInGit = await readExpiries(repository, await runsWithSomething(repository, inGit, inGit));
  const contentOver = [...(await expireContent(repository, inGit, expiriesInGit, clock, dryRun))];
  const expiriesBeside = new Map<string, ContentExpiry>();
  for (const { objects, refs } of stored) {
    const runs = await runsWithSomething(repository, refs, [...inGit, ...beside]);
    const expiries = await readStoredExpiries(objects, runs);
    for (const [ref, expiry] of expiries) expiriesBeside.set(ref, expiry);
    contentOver.push(...(await expireContentBeside(repository, objects, refs, expiries, nowMs, dryRun)));
  }
  // A ref that is in both is the one in git, as for everybody who reads.
  const known = new Set(inGit.map(({ ref }) => ref));
  const refs = [...inGit, ...beside.filter(({ ref }) => !known.has(ref))];
  const expiries = new Map([...expiriesBeside, ...expiriesInGit]);
  const governed = [
    ...contentOver,
    ...(await releaseContext(repository, refs, expiries, nowMs, dryRun)),
    // Last, because the directory's existence marks a run that may still have content to release.
    ...(await clearRunDirectories(repository, refs, expiries, nowMs, dryRun)),
  ];
  if (dryRun) return governed;
  const begun = await runLitter(repository, clock, temporary);
  const writes = await measured(temporaryRoot(repository), () => removeLitter(repository));
  const locks = await measured(await claimsDirectory(repository), () => removeStaleLocks(repository));
  return [...governed, ...begun, ...writes.map(as('temporary')), ...locks.map(as('git-lock'))];
}

/**
 * Runs among `refs` that left more than their record, here or in `all`, so that a repository with many old ones is not
 * read through.
 */
async function runsWithSomething(
  repository: Repository,
  refs: readonly StoredRef[],
  all: readonly StoredRef[],
): Promise<readonly StoredRef[]> {
  const left = new Set(await listRunDirectories(repository));
  for (const { kind, id } of all) if (kind === 'content' || kind === 'context') left.add(id);
  return refs.filter(({ kind, id }) => kind === 'run' && left.has(id));
}

async function runLitter(
  repository: Repository,
  clock: Clock,
  temporary: string,
): Promise<readonly Removed[]> {
  const removed: string[] = [];
  const workspaces = await measured(temporary, async () => {
    removed.push(...(await removeRunLitter(repository, clock, temporary)));
  });
  const unbegun = removed.filter((path) => !basename(path).startsWith('writ-run-'));
  return [
    ...workspaces.filter(({ where }) => removed.includes(where)).map(as('workspace')),
    ...unbegun.map((where) => as('run-directory')({ where, bytes: 0 })),
  ];
}

function as(kind: Removed['kind']): (found: Pick<Removed, 'where' | 'bytes'>) => Removed {
  return (found) => ({ kind, ...found });
}

/** What of ours directly below a directory was there before an act and is not there after it. */
async function measured(
  directory: string,
  act: () => Promise<unknown>,
): Promise<readonly Pick<Removed, 'where' | 'bytes'>[]> {
  const before = await ours(directory);
  const bytes = new Map<string, number>();
  for (const name of before) bytes.set(name, await sizeOf(join(directory, name)));
  await act();
  const after = new Set(await ours(directory));
  return before
    .filter((name) => !after.has(name))
    .map((name) => ({ where: join(directory, name), bytes: bytes.get(name) ?? 0 }));
}

async function ours(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => /^(?:writ-run-|store-|[0-9a-f]{24}\.json$)/.test(name));
}

/**
 * Files of a decided run's directory that are kept until its retention ends: the history of its actions, and the
 * request.
 */
const kept = ['journal.jsonl', 'spec.json'];

/**
 * Clears the directories of decided runs. Removes everything except journal and spec at once, and these when the
 * run's retention ends. Keeps the whole directory of a run that is undecided in the refs or has work left here.
 */
async function clearRunDirectories(
  repository: Repository,
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  nowMs: number,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const local = new Set(await listRunDirectories(repository));
  const runs = refs.filter(({ kind, id }) => kind === 'run' && local.has(id));
  const removed: Removed[] = [];
  for (const { ref, id } of runs) {
    const expiry = expiries.get(ref);
    if (expiry === undefined || (await localStateOf(repository, id)) !== 'over') continue;
    const found = await clearOne(runDirectory(repository, id), nowMs >= expiry.lastMs, dryRun);
    if (found) removed.push({ kind: 'run-directory', runId: id, ...found });
  }
  return removed;
}

async function clearOne(
  directory: string,
  whole: boolean,
  dryRun: boolean,
): Promise<Pick<Removed, 'where' | 'bytes'> | undefined> {
  const names = (await readdir(directory)).filter((name) => !isLock(name) && (whole || !kept.includes(name)));
  if (names.length === 0 && !whole) return undefined;
  let bytes = 0;
  for (const name of names) bytes += await sizeOf(join(directory, name));
  if (dryRun) return { where: directory, bytes };
  // Hold the lock while clearing, so that no process resumes the run.
  const lock = await acquireRunLock(directory).catch((fault: unknown) => {
    if (isWritError(fault, 'RUN_BUSY')) return undefined;
    throw fault;
  });
  if (lock === undefined) return undefined;
  try {
    for (const name of names) await rm(join(directory, name), { recursive: true, force: true });
  } finally {
    await lock.release();
  }
  if (whole) await rm(directory, { recursive: true, force: true });
  return { where: directory, bytes };
}

function isLock(name: string): boolean {
  return name === 'lock' || name.startsWith('lock.');
}

/** Bytes of everything below a path; links are not followed. */
async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  let bytes = 0;
  for (const name of await readdir(path).catch(() => [])) bytes += await sizeOf(join(path, name));
  return bytes;
}

/** Our refs in a store outside git; `object` is the version. Empty for a store of another kind. */
async function listRefsBeside(
  repository: Repository,
  { beside }: Pick<OpenStore, 'beside'>,
): Promise<readonly StoredRef[]> {
  const refs = (await beside?.list(repository)) ?? [];
  return refs.flatMap(({ ref, version }) => toStoredRef(ref, version) ?? []);
}

/**
 * Removes a run's content from a store outside git when all of it is past its retention, including bytes that no
 * other content there uses. Keeps content of a run that waits, works or can be resumed here.
 */
async function expireContentBeside(
  repository: Repository,
  store: OpenStore['objects'],
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  nowMs: number,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const runs = new Map(refs.filter(({ kind }) => kind === 'run').map((run) => [keyOf(run), run.ref]));
  const removed: Removed[] = [];
  for (const content of refs.filter(({ kind }) => kind === 'content')) {
    const expiry = expiries.get(runs.get(keyOf(content)) ?? '');
    if (expiry === undefined || nowMs < expiry.lastMs) continue;
    if ((await localStateOf(repository, content.id)) !== 'over') continue;
    const bytes = (await store.list(content.ref)).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (!dryRun) await store.remove(content.ref);
    removed.push({ kind: 'content', where: content.ref, runId: content.id, bytes });
  }
  return removed;
}

function keyOf({ prefix, id }: StoredRef): string {
  return `${prefix}/${id}`;
}

const defaultPrefix = 'refs/ai';

/**
 * Releases retrieved context of runs with expired content. Four strategies of `blobRetentionStrategy` protect it from
 * `git gc`, and only this function ends that protection. Git removes the blobs in its next `gc`.
 */
async function releaseContext(
  repository: Repository,
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  nowMs: number,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const named = Map.groupBy(
    refs.filter(({ kind }) => kind === 'context'),
    ({ id }) => id,
  );
  const hasOrphans = refs.some(({ kind }) => kind === 'orphans');
  const runs = refs.filter(({ kind }) => kind === 'run');
  const removed: Removed[] = [];
  for (const { ref, id, prefix } of runs) {
    const expiry = expiries.get(ref);
    if (expiry?.blobStrategy === undefined || nowMs < expiry.lastMs) continue;
    const stems = [...new Set([prefix, defaultPrefix])];
    const own = (named.get(id) ?? []).filter((one) => stems.includes(one.prefix));
    if (expiry.blobStrategy === 'ref-anchoring' && own.length === 0) continue;
    if (expiry.blobStrategy === 'orphan-commit' && own.length === 0 && !hasOrphans) continue;
    if ((await localStateOf(repository, id)) !== 'over') continue;
    if (!dryRun) {
      for (const stem of stems)
        await releaseBlobs(repository, expiry.blobStrategy as BlobRetentionStrategy, id, {
          aiRefPrefix: stem,
        });
    }
    for (const one of own) removed.push({ kind: 'context', where: one.ref, runId: id, bytes: 0 });
  }
  return removed;
}
