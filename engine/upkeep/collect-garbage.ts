import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { removeRunLitter } from '../run/record/run-litter.ts';
import { type OpenStore, openStores, type Stores } from '../store/open-stores.ts';
import { removeLitter, temporaryRoot } from '../store/remove-litter.ts';
import { listRunDirectories } from '../store/run-directory.ts';
import { claimsDirectory } from '../vcs/git-claim.ts';
import { keepObjectReaders } from '../vcs/object-reader.ts';
import type { Repository } from '../vcs/repository.ts';
import { removeStaleLocks } from '../vcs/stale-locks.ts';
import { clearRunDirectories, sizeOf } from './clear-run-directories.ts';
import { type ContentExpiry, readExpiries, readStoredExpiries } from './content-expiry.ts';
import { expireContent } from './expire-content.ts';
import { expireContentBeside, listRefsBeside } from './expire-content-beside.ts';
import { releaseContext } from './release-context.ts';
import type { Removed } from './removed.ts';
import { listStoredRefs, type StoredRef } from './stored-ref.ts';

export interface CollectRequest {
  readonly stores: Stores;
  readonly repository: Repository;
  readonly clock: Clock;
  /** Says what would go of the things that retention governs, and removes nothing. */
  readonly dryRun: boolean;
  /** Where private workspaces are; default the system's. */
  readonly temporary?: string;
}

/**
 * Enforces retention and takes away what runs that are over have left. Never touches a run that waits, works or can be
 * resumed. Litter of killed processes is only told apart while it is removed, so a dry run leaves it out.
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
    // Last: a directory that is here says that there may be something to release.
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
