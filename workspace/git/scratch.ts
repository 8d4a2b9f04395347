/* Creates git directories of our own over the objects of a repository. */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { quotePath } from '../../readers/diff/read-sections.ts';
import { type GitDirectory, isolatedGitEnvironment, runGit } from './git.ts';
import { parseCommit } from './git-object.ts';
import { askObjects } from './object-reader.ts';
import type { Repository } from './repository.ts';

/** A bare git directory of our own over the objects of a repository. New objects stay in it until they are imported. */
export interface Scratch extends GitDirectory {
  readonly objectsDir: string;
  readonly borrowed: readonly string[];
}

/**
 * Content is stored and written byte by byte, even if `.gitattributes` in the tree request a conversion: this file
 * has the highest precedence.
 */
const rawAttributes = '* -text !eol -ident !filter !working-tree-encoding !diff !merge !whitespace\n';

/**
 * Creates a scratch at `dir`, or opens the one that a killed process left there. No config, attributes, hooks,
 * replacements or remotes of the user apply in it, so results depend on objects alone.
 */
export async function createScratch(dir: string, over: Borrowable): Promise<Scratch> {
  writeGitDirectory(dir, over, 'ref: refs/heads/none');
  mkdirSync(join(dir, 'objects', 'pack'), { recursive: true });
  if (over.commonDir !== undefined) copyShallow(over.commonDir, dir);
  return {
    gitDir: dir,
    objectFormat: over.objectFormat,
    cwd: dir,
    env: { ...isolatedGitEnvironment, GIT_DIR: dir },
    settings: [['core.attributesFile', '/dev/null']],
    objectsDir: join(dir, 'objects'),
    borrowed: borrowedBy(over),
  };
}

/** A repository, or a scratch together with what it borrows itself. */
export type Borrowable = Pick<GitDirectory, 'objectFormat'> & {
  readonly objectsDir: string;
  readonly borrowed?: readonly string[];
  /** Of a repository, which may be shallow. */
  readonly commonDir?: string;
};

/** History ends in the scratch where it ends in the repository. */
function copyShallow(commonDir: string, dir: string): void {
  const path = join(commonDir, 'shallow');
  if (existsSync(path)) copyFileSync(path, join(dir, 'shallow'));
}

/** The object directories that a git directory over `over` reads. */
export function borrowedBy(over: Borrowable): readonly string[] {
  return [over.objectsDir, ...(over.borrowed ?? [])];
}

/**
 * Writes a minimal git directory: no template, hook, remote or ref; objects are borrowed through alternates.
 * Synchronous, because every check gets one: for ten small files, waiting for each call costs more than the call.
 */
export function writeGitDirectory(dir: string, over: Borrowable, head: string, bare = true): void {
  // Parents first: Node looks for a missing parent one level at a time.
  for (const part of ['', 'objects', 'objects/info', 'refs', 'info'])
    mkdirSync(join(dir, part), { recursive: true });
  const isSha1 = over.objectFormat === 'sha1';
  const config = [
    '[core]',
    `\trepositoryformatversion = ${isSha1 ? 0 : 1}`,
    `\tbare = ${bare}`,
    '\tfilemode = true',
    '\tsymlinks = true',
    '\tignorecase = false',
    '\tprecomposeunicode = false',
    '\tautocrlf = false',
    '\tsafecrlf = false',
    '\tlogallrefupdates = false',
    ...(isSha1 ? [] : ['[extensions]', '\tobjectformat = sha256']),
    '',
  ];
  writeFileSync(join(dir, 'config'), config.join('\n'));
  writeFileSync(join(dir, 'HEAD'), `${head}\n`);
  writeFileSync(join(dir, 'info', 'attributes'), rawAttributes);
  writeFileSync(
    join(dir, 'objects', 'info', 'alternates'),
    `${borrowedBy(over).map(alternateLine).join('\n')}\n`,
  );
}

/**
 * git accepts C-quoted lines in `alternates`; a plain line ends at the newline, and a leading `#` makes it a comment.
 */
function alternateLine(path: string): string {
  return quotePath(path, /#/);
}

/** An object store without alternates, and where its history was cut. */
export interface SealedObjects extends Scratch {
  /** Commits with missing parents (git: `shallow`). */
  readonly shallow: readonly string[];
}

interface SealRequest {
  /** The last commit of the included history; `undefined` for none. */
  readonly commit: string | undefined;
  /** Number of commits from the tip, at least 1. */
  readonly history: number;
  readonly trees: readonly string[];
}

const maxCommitBytes = 16 * 1024 * 1024;

/**
 * Creates a bare git directory at `dir` (expected absent). It contains only the objects reachable from the commit, to
 * the given depth, and from the trees: no alternates, refs or config of the user. If `from` is shallow, its history
 * ends there.
 */
export async function sealObjects(
  from: Scratch,
  dir: string,
  { commit, history, trees }: SealRequest,
): Promise<SealedObjects> {
  const shallow = commit === undefined ? [] : await findBoundary(from, commit, history);
  const sealed = await createScratch(dir, from);
  if (shallow.length > 0) await writeShallow(dir, shallow);
  const wanted = [...(commit === undefined ? [] : [commit]), ...trees];
  // Objects that a partial clone lacks are not fetched; the export reports them if they are needed.
  await runGit(
    sealed,
    [
      'pack-objects',
      '--quiet',
      '--revs',
      '--non-empty',
      '--missing=allow-any',
      // Reuses existing deltas; searching for more would cost more than it saves.
      '--window=0',
      '--delta-base-offset',
      join(sealed.objectsDir, 'pack', 'pack'),
    ],
    { input: `${wanted.join('\n')}\n` },
  );
  await rm(join(sealed.objectsDir, 'info', 'alternates'));
  return { ...sealed, borrowed: [], shallow };
}

export async function writeShallow(gitDir: string, shallow: readonly string[]): Promise<void> {
  await writeFile(join(gitDir, 'shallow'), `${shallow.join('\n')}\n`);
}

/** Commits with parents at the given depth, and before it those with a missing parent. */
async function findBoundary(from: Scratch, commit: string, history: number): Promise<readonly string[]> {
  const parents = new Map<string, readonly string[]>();
  const missing = new Set<string>();
  const boundary = new Set<string>();
  let level: readonly string[] = [commit];
  for (let depth = 1; depth <= history && level.length > 0; depth += 1) {
    const next = new Set<string>();
    await askObjects(from, {
      names: level,
      command: 'contents',
      maxBytes: maxCommitBytes,
      take: (index, answer) => {
        const id = level[index] ?? '';
        if (answer === undefined) {
          missing.add(id);
          return;
        }
        const found = parseCommit(answer.bytes ?? Buffer.alloc(0))?.parents ?? [];
        parents.set(id, found);
        if (depth === history && found.length > 0) boundary.add(id);
        for (const parent of found) next.add(parent);
      },
    });
    level = [...next].filter((id) => !parents.has(id));
  }
  if (missing.has(commit)) throw new WritError('REF_NOT_FOUND', { detail: { ref: commit } });
  for (const [id, ofIt] of parents) if (ofIt.some((parent) => missing.has(parent))) boundary.add(id);
  return [...boundary].sort();
}

/** Runs `act` with a directory `writ-NAME-…` in the system's temporary directory. */
export async function inTemporaryDirectory<T>(
  name: string,
  act: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), `writ-${name}-`));
  try {
    return await act(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The repository, with new objects written to the scratch. */
export function writingTo(
  scratch: Scratch,
  repo: Repository,
  more: Readonly<Record<string, string>> = {},
): Repository {
  const objects = {
    GIT_OBJECT_DIRECTORY: scratch.objectsDir,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(repo.objectsDir, /:/),
  };
  return { ...repo, env: { ...repo.env, ...objects, ...more } };
}
