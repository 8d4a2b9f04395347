/* Opens the stores of a repository, and names the refs in them. */
import { realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Clock } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import type { ObjectStore, RefWrite } from '../core/interfaces/store.ts';
import type { StoreBeside, StoreSource } from '../core/interfaces/store-source.ts';
import type { Slot } from '../core/kernel/slot.ts';
import { askGit, gitFailed } from '../workspace/git/git.ts';
import { encodeId, requireRefName } from '../workspace/git/ref-name.ts';
import type { Repository } from '../workspace/git/repository.ts';

/** Slot `store`, for readers without a spec that names a store. */
export type Stores = Pick<Slot<StoreSource>, 'names' | 'pick'>;

/** Where a command runs: the named repository, else the one around the working directory. */
export interface Place {
  /** What its runs may be kept in. */
  readonly stores: Stores;
  readonly repoPath?: string;
  readonly cwd: string;
}

export interface OpenStore {
  readonly name: string;
  readonly objects: ObjectStore;
  /** The store that keeps the content of artifacts, if it is another one. */
  readonly contentStore?: string;
  /** Present for a store outside of git. */
  readonly beside?: Pick<StoreBeside, 'list'>;
}

/** The actor name if no spec names an orchestrator. */
const actorId = 'writ';

/**
 * Every store that may hold data of a repository, in the order of the slot, without those outside of git that were
 * never used here.
 */
export async function openStores(
  stores: Stores,
  repository: Repository,
  clock: Clock,
): Promise<readonly OpenStore[]> {
  const open: OpenStore[] = [];
  for (const name of stores.names) {
    const { open: openStore, beside, readsGit = false } = await stores.pick(name);
    if (beside && !beside.isUsed(repository)) continue;
    const objects = openStore({ repository, clock, actorId });
    const inGit = open.findIndex((other) => other.beside === undefined);
    const git = readsGit ? open[inGit] : undefined;
    // It reads for the store in git, whose records these are.
    if (git) open[inGit] = { ...git, objects, contentStore: name };
    else open.push({ name, objects, ...(beside ? { beside } : {}) });
  }
  return open;
}

/**
 * All stores of a repository as one, for a caller with a ref and no spec: a ref is read from the first store that has
 * it; a new one goes to the first store. SLOT_UNKNOWN without a store.
 */
export function joinStores(stores: readonly Pick<OpenStore, 'objects'>[]): ObjectStore {
  const all = stores.map(({ objects }) => objects);
  const [first] = all;
  if (first === undefined) throw new WritError('SLOT_UNKNOWN', { message: 'slot `store` is empty' });
  if (all.length === 1) return first;
  const holderOf = async (ref: string): Promise<ObjectStore> => {
    for (const one of all) if ((await one.version(ref)) !== undefined) return one;
    return first;
  };
  return {
    writeTree: async (ref, write) => (await holderOf(ref)).writeTree(ref, write),
    async version(ref) {
      for (const one of all) {
        const found = await one.version(ref);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    read: async (ref, path) => (await holderOf(ref)).read(ref, path),
    readMany: async (ref, paths) => (await holderOf(ref)).readMany(ref, paths),
    list: async (ref) => (await holderOf(ref)).list(ref),
    async refs(prefix) {
      const found = new Map<string, { readonly ref: string; readonly version: string }>();
      for (const one of all)
        for (const held of await one.refs(prefix)) if (!found.has(held.ref)) found.set(held.ref, held);
      return [...found.values()].sort((a, b) => Buffer.compare(Buffer.from(a.ref), Buffer.from(b.ref)));
    },
    async remove(ref) {
      for (const one of all) await one.remove(ref);
    },
  };
}

/** Makes several writes, as one if the store can; a kill in between leaves the first ones. */
export async function writeTrees(objects: ObjectStore, writes: readonly RefWrite[]): Promise<void> {
  if (writes.length > 1 && objects.writeTrees) return objects.writeTrees(writes);
  for (const [ref, write] of writes) await objects.writeTree(ref, write);
}

interface StoreRefs {
  readonly runs: string;
  readonly run: (runId: string) => string;
  readonly intent: (specId: string) => string;
  readonly plan: (planId: string) => string;
  /** `<prefix>/approvals/<run>/`: a ref for each signed approval, numbered from 1. */
  readonly approvals: (runId: string) => string;
  /** Artifact content is separate from the permanent record, because it expires. */
  readonly content: (runId: string) => string;
  /** `<prefix>/fetched/of-<run>/`: records of remotes, kept beside ours. */
  readonly fetched: (runId: string) => string;
}

/** The refs under `objmodel.objectStore.aiRefPrefix` (with or without its final slash); REF_INVALID. */
export function storeRefs(prefix: string): StoreRefs {
  const stem = requireRefName(prefix.replace(/\/$/, ''));
  const under = (kind: string) => (id: string) => `${stem}/${kind}/${encodeId(id)}`;
  return {
    runs: `${stem}/runs/`,
    run: under('runs'),
    intent: under('intents'),
    plan: under('plans'),
    approvals: (runId) => `${under('approvals')(runId)}/`,
    content: under('content'),
    fetched: (runId) => `${stem}/fetched/of-${encodeId(runId)}/`,
  };
}

export interface RunStore {
  readonly objects: ObjectStore;
  readonly refs: StoreRefs;
}

/* Reads the settings that all working trees of a repository share. */

interface RepositorySettings {
  /** Root of the main working tree, with links resolved; absent if there is none, or only it knows its place. */
  readonly main?: string;
  /** `core.ignorecase`. */
  readonly ignoreCase: boolean;
  /** `core.precomposeunicode`. */
  readonly precompose: boolean;
}

/** The result is the same in every working tree. GIT_FAILED if git cannot read its config. */
export async function readRepositorySettings(repo: Repository): Promise<RepositorySettings> {
  const keys = '^core\\.(bare|worktree|ignorecase|precomposeunicode)$';
  const args = ['config', '-z', '--get-regexp', keys];
  const { code, stdout, stderr } = await askGit(repo, args, { env: { GIT_DIR: repo.commonDir } });
  // 1 is "no such key".
  if (code > 1) throw gitFailed(args, code, stderr);
  const values = new Map<string, string>();
  for (const entry of stdout.toString('utf8').split('\0')) {
    const [key = '', value = 'true'] = entry.split('\n', 2);
    values.set(key, value);
  }
  const isSet = (key: string): boolean => /^(?:true|yes|on|[1-9][0-9]*)$/i.test(values.get(key) ?? '');
  const main = isSet('core.bare') ? undefined : mainRoot(repo.commonDir, values.get('core.worktree'));
  return {
    ...(main === undefined ? {} : { main }),
    ignoreCase: isSet('core.ignorecase'),
    precompose: isSet('core.precomposeunicode'),
  };
}

/** With a git directory of another name, only the main working tree knows where both are. */
function mainRoot(commonDir: string, named: string | undefined): string | undefined {
  if (named === undefined && basename(commonDir) !== '.git') return undefined;
  try {
    return realpathSync.native(named === undefined ? dirname(commonDir) : resolve(commonDir, named));
  } catch {
    return undefined;
  }
}
