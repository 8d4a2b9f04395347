import { rm } from 'node:fs/promises';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { makeTemporary } from '../../store/remove-litter.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { gitLine, runGit } from '../../workspace/git/git.ts';
import { adoptObjects } from '../../workspace/git/import-objects.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { logPrefix, readRef, updateRefs } from '../../workspace/git/refs.ts';
import { type Repository, zeroIdOf } from '../../workspace/git/repository.ts';
import { createScratch, type Scratch } from '../../workspace/git/scratch.ts';
import { importTree } from '../../workspace/git/write-tree.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { maxBundleBytes } from './entry-bundle.ts';
import { isPrefix } from './ledger-proofs.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readSubtrees } from './tile-reader.ts';

const author = { name: 'writ', email: 'writ@localhost' };

/** Where the mirror of a log is: it travels with the other refs of `refs/ai/`. */
export function mirrorRef(origin: string): string {
  return `${logPrefix}${encodeId(origin)}`;
}

/**
 * Reads a mirrored log out of git, as it stands now; `undefined` where there is none. Nothing in it is verified yet.
 */
export async function readMirror(
  repository: Repository,
  origin: string,
): Promise<LedgerFileReader | undefined> {
  const version = await readRef(repository, mirrorRef(origin));
  return version === undefined ? undefined : readMirrorAt(repository, version);
}

/** Reads one version of a mirrored log. */
export function readMirrorAt(repository: Repository, version: string): LedgerFileReader {
  return (path) => readBlob(repository, version, path, maxBundleBytes);
}

/**
 * Brings the mirror of a log up to its current checkpoint: only tiles that changed since the mirrored one are read and
 * written, those they replace are removed. Moved by compare-and-swap; a mirror that another process moved on meanwhile
 * is left to it. LOG_FAILED where what is mirrored is no prefix of the ledger.
 */
export async function mirrorLedger(
  repository: Repository,
  clock: Clock,
  read: LedgerFileReader,
  head: Checkpoint,
): Promise<void> {
  const ref = mirrorRef(head.origin);
  const old = await readRef(repository, ref);
  const mirrored = old === undefined ? undefined : await readHead(repository, old, ref);
  if (mirrored?.source === head.source) return;
  const from = mirrored?.size ?? 0;
  if (mirrored !== undefined && !(await isPrefix(mirrored, head, readSubtrees(read, head.size)))) {
    throw new WritError('LOG_FAILED', {
      message: `\`${ref}\` holds ${from} entries of another history than the ledger with ${head.size}`,
      detail: { ref, mirrored: from, size: head.size },
      hints: ['if the ledger was put back from a backup, restore it; else remove the ref'],
    });
  }
  const commit = await writeMirror(repository, clock, read, head, { size: from, commit: old });
  const outcome = await updateRefs(repository, [{ ref, old, new: commit }], 'writ: mirror the ledger');
  if (outcome.moved) return;
  const found = outcome.stale[0]?.found;
  const later = found === undefined ? undefined : await readHead(repository, found, ref);
  if (later !== undefined && later.size >= head.size) return;
  throw new WritError('LOG_FAILED', { message: `\`${ref}\` was moved by another process`, detail: { ref } });
}

async function readHead(repository: Repository, version: string, ref: string): Promise<Checkpoint> {
  const bytes = await readBlob(repository, version, 'checkpoint', maxBundleBytes);
  if (bytes === undefined)
    throw new WritError('LOG_FAILED', { message: `\`${ref}\` holds no checkpoint`, detail: { ref } });
  return parseCheckpoint(bytes.toString('utf8'));
}

async function writeMirror(
  repository: Repository,
  clock: Clock,
  read: LedgerFileReader,
  head: Checkpoint,
  before: { readonly size: number; readonly commit: string | undefined },
): Promise<string> {
  const dir = await makeTemporary(repository);
  try {
    const scratch = await createScratch(dir, repository);
    const place: Scratch = { ...scratch, settings: [...scratch.settings, ['core.fsync', 'committed']] };
    const wanted = [...tilesSince(before.size, head.size)];
    const added = await importTree(place, readAll(read, wanted, head), before.commit, repository);
    const gone = [...edgesOf(before.size)].filter((path) => !edgesOf(head.size).has(path));
    const commit = await createCommit(place, {
      tree: await withoutFiles(place, added, gone),
      parents: before.commit === undefined ? [] : [before.commit],
      message: `ledger: ${head.size} entries\n`,
      author,
      committer: author,
      authoredAtMs: clock.now(),
      committedAtMs: clock.now(),
    });
    await adoptObjects(scratch, repository);
    return commit;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The tree without these files. */
async function withoutFiles(place: Scratch, tree: string, paths: readonly string[]): Promise<string> {
  if (paths.length === 0) return tree;
  await runGit(place, ['read-tree', tree]);
  const removals = paths.map((path) => `0 ${zeroIdOf(place)}\t${path}\0`).join('');
  await runGit(place, ['update-index', '-z', '--index-info'], { input: removals });
  return gitLine(place, ['write-tree']);
}

async function* readAll(
  read: LedgerFileReader,
  paths: readonly string[],
  head: Checkpoint,
): AsyncGenerator<readonly [string, Uint8Array]> {
  for (const path of paths) {
    const bytes = await read(path);
    if (bytes === undefined) throw corrupt('a file is missing', path);
    yield [path, bytes];
  }
  yield ['checkpoint', Buffer.from(head.source)];
}

/** Tiles and bundles of the tree of `to` that are not in the tree of `from`. */
export function* tilesSince(from: number, to: number): Generator<string> {
  for (const [kind, level] of levelsOf(to)) {
    const old = Math.floor(from / tileWidth ** level);
    for (let index = Math.floor(old / tileWidth); widthAt(level, index, to) > 0; index += 1)
      if (widthAt(level, index, to) !== widthAt(level, index, from))
        yield tilePath(kind, index, widthAt(level, index, to));
  }
}

/** Partial tiles and bundles of a tree. */
function edgesOf(size: number): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const [kind, level] of levelsOf(size)) {
    const index = Math.floor(Math.floor(size / tileWidth ** level) / tileWidth);
    const width = widthAt(level, index, size);
    if (width > 0) paths.add(tilePath(kind, index, width));
  }
  return paths;
}

function levelsOf(size: number): readonly (readonly [kind: number | 'entries', level: number])[] {
  const levels: [number | 'entries', number][] = [['entries', 0]];
  for (let level = 0; size >= tileWidth ** level; level += 1) levels.push([level, level]);
  return levels;
}
