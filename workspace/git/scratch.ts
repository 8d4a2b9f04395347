import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quotePath } from '../../readers/diff/read-sections.ts';
import type { GitDirectory } from './git.ts';
import { isolatedGitEnvironment } from './git-environment.ts';

/**
 * A bare git directory of our own over somebody's objects: new objects stay in it until they are imported, or removed
 * with it.
 */
export interface Scratch extends GitDirectory {
  readonly objectsDir: string;
  /** The object directories that it borrows from, read-only. */
  readonly borrowed: readonly string[];
}

/**
 * Bytes go in and out exactly as they are, whatever `.gitattributes` in the tree says: this file has the highest
 * precedence.
 */
const rawAttributes = '* -text !eol -ident !filter !working-tree-encoding !diff !merge !whitespace\n';

/**
 * Makes a scratch at `dir`, or takes up the one that a stopped process made there. No config, attributes, hooks,
 * replacements or remotes of the person's apply in it, so what git answers there depends on objects alone.
 */
export async function createScratch(dir: string, over: Borrowable): Promise<Scratch> {
  await writeGitDirectory(dir, over, 'ref: refs/heads/none');
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

/** Deletes a scratch and every object that was not imported. */
export async function removeScratch(scratch: Scratch): Promise<void> {
  await rm(scratch.gitDir, { recursive: true, force: true });
}

/** What objects can be borrowed from: a repository, or a scratch together with what it borrows itself. */
export type Borrowable = Pick<GitDirectory, 'objectFormat'> & {
  readonly objectsDir: string;
  readonly borrowed?: readonly string[];
};

/** The object directories that a git directory over `over` reads. */
export function borrowedBy(over: Borrowable): readonly string[] {
  return [over.objectsDir, ...(over.borrowed ?? [])];
}

/** Writes a minimal git directory: no template, hook, remote or ref; objects borrowed through alternates. */
export async function writeGitDirectory(
  dir: string,
  over: Borrowable,
  head: string,
  bare = true,
): Promise<void> {
  for (const part of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info'])
    await mkdir(join(dir, part), { recursive: true });
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
  await writeFile(join(dir, 'config'), config.join('\n'));
  await writeFile(join(dir, 'HEAD'), `${head}\n`);
  await writeFile(join(dir, 'info', 'attributes'), rawAttributes);
  await writeFile(
    join(dir, 'objects', 'info', 'alternates'),
    `${borrowedBy(over).map(alternateLine).join('\n')}\n`,
  );
}

/** Git reads C-quoted lines in `alternates`; a plain one ends at the newline and a leading `#` makes it a comment. */
function alternateLine(path: string): string {
  return quotePath(path, /#/);
}
