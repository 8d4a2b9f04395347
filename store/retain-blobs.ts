/* Keeps the context blobs of a run from `git gc`, in one of four ways. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError, messageOf, WritError } from '../core/base/errors.ts';
import { absent, isDraft, writeDurably } from '../core/base/files.ts';
import { uuidTimeMs } from '../core/base/ids.ts';
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import { createCommit } from '../workspace/git/create-commit.ts';
import { adoptObjects } from '../workspace/git/import-objects.ts';
import { deletePack, packTree, placePack, setAlternate } from '../workspace/git/packs.ts';
import { readBlob } from '../workspace/git/read-objects.ts';
import { encodeId } from '../workspace/git/ref-name.ts';
import { listRefs, readRef, updateRefs } from '../workspace/git/refs.ts';
import type { Repository } from '../workspace/git/repository.ts';
import { treeOf } from '../workspace/git/resolve-commit.ts';
import { createScratch, type Scratch } from '../workspace/git/scratch.ts';
import { importTree, type TreeFiles } from '../workspace/git/write-tree.ts';
import { acquireProcessLock, type ProcessLock } from '../workspace/process/process-lock.ts';
import { inTemporary } from './remove-litter.ts';

interface RetainedRun {
  readonly repository: Repository;
  /** The id, encoded as one component of a ref or path. */
  readonly name: string;
  /** `refs/ai`. */
  readonly refStem: string;
  /** Commit time in epoch milliseconds; always the same for a run. */
  readonly atMs: number;
}

/** One way to keep blobs from `git gc`. `keep` and `release` run under a lock. */
interface BlobRetention {
  /** True: a run has one tree, and new blobs are added to it. False: each `keep` adds a tree. */
  readonly merges: boolean;
  /** The trees that hold the blobs of a run. */
  trees(run: RetainedRun): Promise<readonly string[]>;
  /** Keeps a tree of a scratch with everything in it. All or nothing. */
  keep(run: RetainedRun, made: { readonly scratch: Scratch; readonly tree: string }): Promise<void>;
  /** Leaves the blobs to git: they must stay readable for other objects that need them by now. */
  release(run: RetainedRun): Promise<void>;
}

const writ = { name: 'writ', email: 'writ@localhost' };

/** The same blobs make the same commit. */
async function commitBlobs(run: RetainedRun, scratch: Scratch, tree: string): Promise<string> {
  const commit = {
    tree,
    parents: [],
    message: `context of run ${run.name}\n`,
    author: writ,
    committer: writ,
    authoredAtMs: run.atMs,
    committedAtMs: run.atMs,
  };
  return createCommit(scratch, commit);
}

/** EVIDENCE_WRITE_FAILED if another process moved the ref. */
async function moveRef(
  repo: Repository,
  ref: string,
  old: string | undefined,
  to: string | undefined,
): Promise<void> {
  if (old === to) return;
  const outcome = await updateRefs(repo, [{ ref, old, new: to }], 'writ: context blobs');
  if (outcome.moved) return;
  throw new WritError('EVIDENCE_WRITE_FAILED', {
    message: `\`${ref}\` was written by another process`,
    detail: { ref, expected: old ?? null, found: outcome.stale[0]?.found ?? null },
  });
}

/**
 * Commits without parents, each on `<prefix>orphan-commits/<run>/<its id>`: no two machines write different content
 * under one name, so what each of them keeps can be sent to the others.
 */
const orphanCommit: BlobRetention = {
  merges: false,
  async trees(run) {
    const kept = await listRefs(run.repository, folderOf(run));
    return Promise.all(kept.map(({ object }) => treeOf(run.repository, object)));
  },
  async keep(run, { scratch, tree }) {
    const commit = await commitBlobs(run, scratch, tree);
    await adoptObjects(scratch, run.repository);
    const ref = `${folderOf(run)}${commit}`;
    await moveRef(run.repository, ref, await readRef(run.repository, ref), commit);
  },
  async release(run) {
    for (const { ref, object } of await listRefs(run.repository, folderOf(run)))
      await moveRef(run.repository, ref, object, undefined);
  },
};

function folderOf({ refStem, name }: RetainedRun): string {
  return `${refStem}/orphan-commits/${name}/`;
}

/** A commit per run on the ref `<prefix>context/<run>`. */
const refAnchoring: BlobRetention = {
  merges: true,
  async trees(run) {
    const commit = await readRef(run.repository, refOf(run));
    return commit === undefined ? [] : [await treeOf(run.repository, commit)];
  },
  async keep(run, { scratch, tree }) {
    const commit = await commitBlobs(run, scratch, tree);
    await adoptObjects(scratch, run.repository);
    await moveRef(run.repository, refOf(run), await readRef(run.repository, refOf(run)), commit);
  },
  async release(run) {
    await moveRef(run.repository, refOf(run), await readRef(run.repository, refOf(run)), undefined);
  },
};

function refOf({ refStem, name }: RetainedRun): string {
  return `${refStem}/context/${name}`;
}

/**
 * A pack with a `.keep` file, which `git gc` respects. The file names the runs that need the pack, and their trees:
 * the same blobs are the same pack. Without a ref it is not pushed.
 */
const keepPack: BlobRetention = {
  merges: false,
  async trees(run) {
    const dir = packDirectory(run);
    const names = new Set(await readdir(dir));
    const trees: string[] = [];
    for (const file of names) {
      // A write that was killed left its mark without a pack.
      if (!isMark(file) || !names.has(file.replace(/\.keep$/, '.idx'))) continue;
      const tree = (await readMark(join(dir, file))).get(run.name);
      if (tree !== undefined) trees.push(tree);
    }
    return trees;
  },
  async keep(run, { scratch, tree }) {
    const made = join(scratch.gitDir, 'made');
    const pack = await packTree(scratch, tree, made);
    const mark = join(packDirectory(run), `${pack}.keep`);
    await writeMark(mark, new Map([...(await readMark(mark)), [run.name, tree]]));
    await placePack(pack, made, packDirectory(run));
  },
  async release(run) {
    const dir = packDirectory(run);
    for (const file of (await readdir(dir)).filter(isMark)) {
      const runs = await readMark(join(dir, file));
      if (!runs.has(run.name)) continue;
      const others = new Map([...runs].filter(([name]) => name !== run.name));
      // Only the mark is removed: another object may need an object of this pack, and git decides that.
      if (others.size === 0) await rm(join(dir, file), { force: true });
      else await writeMark(join(dir, file), others);
    }
  },
};

function packDirectory({ repository }: RetainedRun): string {
  return join(repository.objectsDir, 'pack');
}

function isMark(file: string): boolean {
  return file.startsWith('pack-') && file.endsWith('.keep');
}

/** Run → tree; empty for a mark of another program. */
async function readMark(path: string): Promise<ReadonlyMap<string, string>> {
  const text = (await readFile(path, 'utf8').catch(absent)) ?? '';
  const lines = text.matchAll(/^writ (\S+) ([0-9a-f]{40,64})$/gm);
  return new Map([...lines].map(([, name = '', tree = '']) => [name, tree]));
}

async function writeMark(path: string, runs: ReadonlyMap<string, string>): Promise<void> {
  await writeDurably(path, [...runs].map(([name, tree]) => `writ ${name} ${tree}\n`).join(''), 0o444);
}

/**
 * Packs in our own object directory, `<git-common-dir>/writ/blobs`, an alternate of the repository: only `writ gc`
 * cleans there. `runs/<run>/<pack>` names the tree. Without a ref it is not pushed.
 */
const customGc: BlobRetention = {
  merges: false,
  async trees(run) {
    const { marks } = placesOf(run);
    const trees: string[] = [];
    for (const pack of await namesIn(join(marks, run.name)))
      trees.push((await readFile(join(marks, run.name, pack), 'utf8')).trim());
    return trees;
  },
  async keep(run, { scratch, tree }) {
    const made = join(scratch.gitDir, 'made');
    const pack = await packTree(scratch, tree, made);
    const { dir, packs, marks } = placesOf(run);
    await mkdir(join(marks, run.name), { recursive: true, mode: 0o700 });
    await placePack(pack, made, packs);
    await setAlternate(run.repository.objectsDir, dir, true);
    await writeDurably(join(marks, run.name, pack), `${tree}\n`);
  },
  async release(run) {
    const { dir, packs, marks } = placesOf(run);
    const released = await namesIn(join(marks, run.name));
    if (released.length === 0) return;
    const needed = new Set<string>();
    for (const other of await namesIn(marks))
      if (other !== run.name) for (const pack of await namesIn(join(marks, other))) needed.add(pack);
    for (const pack of released) {
      // Moved, not deleted: git does not write what an alternate has, so a newer commit may need an object of this
      // pack.
      await placePack(pack, packs, join(run.repository.objectsDir, 'pack'));
      if (!needed.has(pack)) await deletePack(pack, packs);
    }
    if (needed.size === 0) await setAlternate(run.repository.objectsDir, dir, false);
    await rm(join(marks, run.name), { recursive: true, force: true });
  },
};

interface Places {
  readonly dir: string;
  readonly packs: string;
  readonly marks: string;
}

function placesOf({ repository }: RetainedRun): Places {
  const dir = join(repository.commonDir, 'writ', 'blobs');
  return { dir, packs: join(dir, 'pack'), marks: join(dir, 'runs') };
}

async function namesIn(dir: string): Promise<readonly string[]> {
  return ((await readdir(dir).catch(absent)) ?? []).filter((name) => !isDraft(name));
}

export type BlobRetentionStrategy = EffectiveIntentSpec['objmodel']['objectStore']['blobRetentionStrategy'];

interface RetentionOptions {
  /** `objmodel.objectStore.aiRefPrefix`; default `refs/ai/`. */
  readonly aiRefPrefix?: string;
}

const strategies: Readonly<Record<BlobRetentionStrategy, BlobRetention>> = {
  'ref-anchoring': refAnchoring,
  'orphan-commit': orphanCommit,
  'keep-pack': keepPack,
  'custom-gc': customGc,
};
const lockWaitMs = 60_000;

/**
 * Keeps blobs of a run from `git gc`, in addition to those that it keeps already; returns the SHA-256 of each by
 * name. Idempotent. EVIDENCE_WRITE_FAILED if they cannot be written; then no new blob is kept.
 */
export async function retainBlobs(
  repository: Repository,
  strategy: BlobRetentionStrategy,
  runId: string,
  blobs: TreeFiles,
  options: RetentionOptions = {},
): Promise<{ readonly digests: ReadonlyMap<string, string> }> {
  const retention = retentionOf(strategy);
  const run = toRun(repository, runId, options);
  const digests = new Map<string, string>();
  await changing(run, async () => {
    const before = await retention.trees(run);
    await inTemporary(repository, async (directory) => {
      const scratch = await createScratch(directory, repository);
      const place: Scratch = {
        ...scratch,
        settings: [...scratch.settings, ['core.fsync', 'committed'], ['core.fsyncObjectFiles', 'true']],
      };
      const over = retention.merges ? before[0] : undefined;
      const tree = await importTree(place, digested(blobs, digests), over, repository);
      if (!before.includes(tree)) await retention.keep(run, { scratch: place, tree });
    });
  });
  return { digests };
}

/** A kept blob; `undefined` if the run keeps none of that name. */
export async function readRetained(
  repository: Repository,
  strategy: BlobRetentionStrategy,
  runId: string,
  name: string,
  options: RetentionOptions = {},
): Promise<Buffer | undefined> {
  for (const tree of await retentionOf(strategy).trees(toRun(repository, runId, options))) {
    const bytes = await readBlob(repository, tree, name);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
}

/** Stops keeping the blobs of a run; the next `git gc` removes those without another reference. */
export async function releaseBlobs(
  repository: Repository,
  strategy: BlobRetentionStrategy,
  runId: string,
  options: RetentionOptions = {},
): Promise<void> {
  const retention = retentionOf(strategy);
  const run = toRun(repository, runId, options);
  await changing(run, () => retention.release(run));
}

/** The name may come from a stored record: OBJECT_CORRUPT for an unknown one. */
function retentionOf(strategy: BlobRetentionStrategy): BlobRetention {
  if (Object.hasOwn(strategies, strategy)) return strategies[strategy];
  throw new WritError('OBJECT_CORRUPT', {
    message: `\`${strategy}\` is no blob retention strategy`,
    detail: { strategy, known: Object.keys(strategies) },
  });
}

function toRun(repository: Repository, runId: string, { aiRefPrefix }: RetentionOptions): RetainedRun {
  return {
    repository,
    name: encodeId(runId),
    refStem: (aiRefPrefix ?? 'refs/ai/').replace(/\/$/, ''),
    // Derived from the id, so that the same blobs make the same commit.
    atMs: uuidTimeMs(runId) ?? 0,
  };
}

async function* digested(
  blobs: TreeFiles,
  digests: Map<string, string>,
): AsyncGenerator<readonly [string, Uint8Array]> {
  for await (const [name, bytes] of blobs) {
    digests.set(name, createHash('sha256').update(bytes).digest('hex'));
    yield [name, bytes];
  }
}

/** One process at a time: two would each keep only the blobs that they know. */
async function changing(run: RetainedRun, act: () => Promise<void>): Promise<void> {
  const { commonDir } = run.repository;
  const path = join(commonDir, 'writ', 'retention', 'lock');
  const busy = (): WritError =>
    new WritError('EVIDENCE_WRITE_FAILED', {
      message: `the lock \`${path}\` is held`,
      detail: { path },
    });
  let lock: ProcessLock | undefined;
  try {
    lock = await acquireProcessLock(path, { waitMs: lockWaitMs, busy });
    await act();
  } catch (cause) {
    if (isWritError(cause, 'EVIDENCE_WRITE_FAILED') || isWritError(cause, 'GIT_MISSING')) throw cause;
    throw new WritError('EVIDENCE_WRITE_FAILED', {
      message: `the blobs of run \`${run.name}\` could not be kept or released: ${messageOf(cause)}`,
      detail: { run: run.name, ...(isWritError(cause) ? { reason: cause.detail } : {}) },
      cause,
    });
  } finally {
    await lock?.release();
  }
}
