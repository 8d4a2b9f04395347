/* `writ gc`: removes expired content and the remains of ended runs and killed processes. */
import { lstat, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { removeLitter, temporaryRoot } from '../../store/remove-litter.ts';
import { type BlobRetentionStrategy, releaseBlobs } from '../../store/retain-blobs.ts';
import { acquireRunLock, listRunDirectories, runDirectory } from '../../store/run-directory.ts';
import { type OpenStore, openStores, type Stores } from '../../store/stores.ts';
import { claimsDirectory, removeStaleLocks } from '../../workspace/git/locks.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { removeStaleRunFiles } from '../record/stale-run-files.ts';
import {
  type ContentExpiry,
  expireContent,
  localStateOf,
  type Removed,
  readExpiries,
  readStoredExpiries,
} from './expire-content.ts';
import { listStoredRefs, ownerKey, type StoredRef, toStoredRef } from './stored-ref.ts';

export interface CollectRequest {
  readonly stores: Stores;
  readonly repository: Repository;
  readonly clock: Clock;
  /** Reports what retention would remove, and removes nothing. */
  readonly dryRun: boolean;
  /** Directory of private workspaces; default the system's. */
  readonly temporary?: string;
}

/**
 * Enforces retention and removes what ended runs left. Never touches a run that waits, works or can be resumed. What
 * killed processes left is only found while it is removed, so a dry run does not list it.
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
  const elsewhere = stored.find(({ objects }) => objects.content)?.objects.content;
  const contentOver = [
    ...(await expireContent(repository, inGit, expiriesInGit, { clock, dryRun, elsewhere })),
  ];
  const expiriesBeside = new Map<string, ContentExpiry>();
  for (const { objects, refs } of stored) {
    const runs = await runsWithSomething(repository, refs, [...inGit, ...beside]);
    const expiries = await readStoredExpiries(objects, runs);
    for (const [ref, expiry] of expiries) expiriesBeside.set(ref, expiry);
    contentOver.push(...(await expireContentBeside(repository, objects, refs, expiries, nowMs, dryRun)));
  }
  // If a ref is in both, the one in git counts, as for all readers.
  const known = new Set(inGit.map(({ ref }) => ref));
  const refs = [...inGit, ...beside.filter(({ ref }) => !known.has(ref))];
  const expiries = new Map([...expiriesBeside, ...expiriesInGit]);
  const governed = [
    ...contentOver,
    ...(await releaseContext(repository, refs, expiries, nowMs, dryRun)),
    // Last, because an existing directory indicates that there may be content to release.
    ...(await clearRunDirectories(repository, refs, expiries, nowMs, dryRun)),
  ];
  if (dryRun) return governed;
  const begun = await runLitter(repository, clock, temporary);
  const writes = await measured(temporaryRoot(repository), () => removeLitter(repository));
  const locks = await measured(claimsDirectory(repository), () => removeStaleLocks(repository));
  return [...governed, ...begun, ...writes.map(as('temporary')), ...locks.map(as('git-lock'))];
}

/**
 * Runs among `refs` that left more than their record, here or in `all`: a repository with many old runs is not read
 * completely.
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
    removed.push(...(await removeStaleRunFiles(repository, clock, temporary)));
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

/** Our entries directly in a directory that `act` removed, with their sizes. */
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

/** Files of a decided run that are kept until its retention ends. */
const kept = ['journal.jsonl', 'spec.json'];

/**
 * Clears the directories of decided runs: at once of everything but journal and spec, of these when the retention
 * ends. A run without a decision in the refs, or with unfinished work here, keeps everything.
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
  // Locked while it is cleared, so that no process resumes the run.
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

/** Size of everything below a path; links are not followed. */
async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  let bytes = 0;
  for (const name of await readdir(path).catch(() => [])) bytes += await sizeOf(join(path, name));
  return bytes;
}

/** Our refs in a store outside of git; `object` is their version. */
async function listRefsBeside(
  repository: Repository,
  { beside }: Pick<OpenStore, 'beside'>,
): Promise<readonly StoredRef[]> {
  const refs = (await beside?.list(repository)) ?? [];
  return refs.flatMap(({ ref, version }) => toStoredRef(ref, version) ?? []);
}

/**
 * Removes the content of runs in a store outside of git when all of it has expired. Content of a run that waits,
 * works or can be resumed here stays.
 */
async function expireContentBeside(
  repository: Repository,
  store: OpenStore['objects'],
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  nowMs: number,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const runs = new Map(refs.filter(({ kind }) => kind === 'run').map((run) => [ownerKey(run), run.ref]));
  const removed: Removed[] = [];
  for (const content of refs.filter(({ kind }) => kind === 'content')) {
    const expiry = expiries.get(runs.get(ownerKey(content)) ?? '');
    if (expiry === undefined || nowMs < expiry.lastMs) continue;
    if ((await localStateOf(repository, content.id)) !== 'over') continue;
    const bytes = (await store.list(content.ref)).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (!dryRun) await store.remove(content.ref);
    removed.push({ kind: 'content', where: content.ref, runId: content.id, bytes });
  }
  return removed;
}

const defaultPrefix = 'refs/ai';

/** Releases the context blobs of runs with expired content. Git removes them with its next gc. */
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
  const runs = refs.filter(({ kind }) => kind === 'run');
  const removed: Removed[] = [];
  for (const { ref, id, prefix } of runs) {
    const expiry = expiries.get(ref);
    if (expiry?.blobStrategy === undefined || nowMs < expiry.lastMs) continue;
    const stems = [...new Set([prefix, defaultPrefix])];
    const own = (named.get(id) ?? []).filter((one) => stems.includes(one.prefix));
    if (['ref-anchoring', 'orphan-commit'].includes(expiry.blobStrategy) && own.length === 0) continue;
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
