import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError, messageOf, WritError } from '../core/base/errors.ts';
import { uuidTimeMs } from '../core/base/ids.ts';
import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import { readBlob } from '../workspace/git/blobs.ts';
import { importTree, type TreeFiles } from '../workspace/git/import-tree.ts';
import { encodeId } from '../workspace/git/ref-name.ts';
import type { Repository } from '../workspace/git/repository.ts';
import { createScratch, type Scratch } from '../workspace/git/scratch.ts';
import { acquireProcessLock, type ProcessLock } from '../workspace/process/process-lock.ts';
import { makeTemporary } from './remove-litter.ts';
import type { BlobRetention, RetainedRun } from './retention/blob-retention.ts';
import { customGc } from './retention/custom-gc.ts';
import { keepPack } from './retention/keep-pack.ts';
import { orphanCommit } from './retention/orphan-commit.ts';
import { refAnchoring } from './retention/ref-anchoring.ts';

/** `objmodel.objectStore.blobRetentionStrategy` (document 1). */
export type BlobRetentionStrategy = EffectiveIntentSpec['objmodel']['objectStore']['blobRetentionStrategy'];

export interface RetentionOptions {
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
 * Keeps blobs of a run in the repository so that `git gc` does not take them, on top of what the run keeps already;
 * answers the SHA-256 of each by name. The same call again changes nothing. EVIDENCE_WRITE_FAILED where they cannot be
 * written; then nothing new is kept.
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
    const dir = await makeTemporary(repository);
    try {
      const scratch = await createScratch(dir, repository);
      const place: Scratch = {
        ...scratch,
        settings: [...scratch.settings, ['core.fsync', 'committed'], ['core.fsyncObjectFiles', 'true']],
      };
      const over = retention.merges ? before[0] : undefined;
      const tree = await importTree(place, digested(blobs, digests), over, repository);
      if (!before.includes(tree)) await retention.keep(run, { scratch: place, tree });
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
  return { digests };
}

/** A blob that a run keeps; `undefined` where it keeps none by that name. */
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

/**
 * Stops keeping a run's blobs: those that nothing else needs go with the next `git gc`. Nothing happens where none are
 * kept.
 */
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

/** The name may come out of a stored record: OBJECT_CORRUPT for one that is none. */
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
    // From the id, so that keeping the same blobs again makes the same commit.
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

/** One process at a time: two would each keep only what they knew of. */
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
