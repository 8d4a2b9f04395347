/* Files that git shows otherwise than it stores them: `eol=crlf`, and content that Git LFS keeps beside the tree. */
import { createHash } from 'node:crypto';
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hashOpenFile } from './directory-digest.ts';
import { type GitDirectory, maxListBytes, runGit } from './git.ts';
import { readBlobs } from './read-objects.ts';
import { type Borrowable, createScratch } from './scratch.ts';
import type { TreeEntry } from './tree.ts';
import { gitOf, type SmallTree } from './workspace.ts';

export interface ShownFiles {
  /** The bytes of a file, or the path of a file with them. */
  readonly files: ReadonlyMap<string, Buffer | string>;
  /** Pointers of Git LFS of which the content is not on this machine. */
  readonly missing: readonly string[];
}

const none: ShownFiles = { files: new Map(), missing: [] };
const mayMatter = /\beol=crlf\b|\bfilter=lfs\b/;
/** A pointer is shorter (git-lfs, docs/spec.md). */
const maxPointerBytes = 1024;
const pointer =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n/;

/**
 * Finds such files of a tree by its own attributes, and the content of LFS files in `objects` of `lfsDir`.
 * Configuration has no influence, so every machine finds the same.
 */
export async function findShown(
  objects: GitDirectory & Borrowable,
  tree: string,
  entries: readonly TreeEntry[],
  { lfsDir, temporary }: Readonly<Record<'lfsDir' | 'temporary', string>>,
): Promise<ShownFiles> {
  const attributes = entries.map(({ path }) => path).filter((path) => /(?:^|\/)\.gitattributes$/.test(path));
  if (attributes.length === 0) return none;
  const texts = await readBlobs(objects, tree, attributes);
  if (![...texts.values()].some((bytes) => mayMatter.test(bytes.toString('latin1')))) return none;
  // A link is none of them: what is written goes to the file itself.
  const sizes = new Map(
    entries.map(({ path, sizeBytes, mode }) => [path, mode.startsWith('100') ? sizeBytes : -1]),
  );
  const asked = await askAttributes(objects, tree, [...sizes.keys()], temporary);
  const ends = [...asked].flatMap(([path, { eol, text }]) =>
    eol === 'crlf' && text !== 'unset' ? [path] : [],
  );
  const kept = [...asked].flatMap(([path, { filter }]) => {
    const size = sizes.get(path) ?? -1;
    return filter === 'lfs' && size >= 0 && size <= maxPointerBytes ? [path] : [];
  });
  const files = new Map<string, Buffer | string>();
  for (const [path, bytes] of await readBlobs(objects, tree, ends)) {
    const shown = (sizes.get(path) ?? -1) < 0 ? bytes : withCrlf(bytes, asked.get(path)?.text === 'auto');
    if (shown.length !== bytes.length) files.set(path, shown);
  }
  const missing: string[] = [];
  for (const [path, bytes] of await readBlobs(objects, tree, kept)) {
    const [, sha256, size] = pointer.exec(bytes.toString('latin1')) ?? [];
    if (sha256 === undefined) continue;
    const source = join(lfsDir, 'objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256);
    if (await holds(source, sha256, Number(size))) files.set(path, source);
    else missing.push(path);
  }
  return { files, missing };
}

/** As git does for a file that is text; `auto`: only one that looks like text with LF alone. */
function withCrlf(bytes: Buffer, auto: boolean): Buffer {
  const text = bytes.toString('latin1');
  if (auto && /[\r\0]/.test(text)) return bytes;
  return Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1');
}

async function holds(path: string, sha256: string, size: number): Promise<boolean> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size !== size) return false;
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return false;
  try {
    return (await hashOpenFile(file, createHash('sha256'), Buffer.allocUnsafe(1024 * 1024))) === sha256;
  } finally {
    await file.close();
  }
}

type Attributes = Readonly<Record<string, string>>;

async function askAttributes(
  objects: GitDirectory & Borrowable,
  tree: string,
  paths: readonly string[],
  temporary: string,
): Promise<ReadonlyMap<string, Attributes>> {
  const dir = await mkdtemp(join(temporary, 'attributes-'));
  try {
    const place = await createScratch(dir, objects);
    rmSync(join(dir, 'info', 'attributes'));
    await runGit(place, ['read-tree', tree]);
    const asked = ['check-attr', '--cached', '-z', '--stdin', 'text', 'eol', 'filter'];
    const input = paths.map((path) => `${path}\0`).join('');
    const answer = await runGit(place, asked, { input, maxBytes: maxListBytes });
    const fields = answer.toString('utf8').split('\0');
    const found = new Map<string, Record<string, string>>();
    for (let at = 0; at + 2 < fields.length; at += 3) {
      const [path = '', name = '', value = ''] = fields.slice(at, at + 3);
      const known = found.get(path) ?? {};
      known[name] = value;
      found.set(path, known);
    }
    return found;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The tree as it is shown; `undefined` if content of LFS is part of it, which is not kept in memory. */
export function smallAsShown(small: SmallTree | undefined, { files }: ShownFiles): SmallTree | undefined {
  if (small === undefined || files.size === 0) return small;
  const entries: SmallTree['entries'][number][] = [];
  for (const entry of small.entries) {
    const bytes = files.get(entry.path) ?? entry.bytes;
    if (typeof bytes === 'string') return undefined;
    entries.push({ ...entry, bytes });
  }
  return { ...small, entries };
}

/**
 * Writes them into a fresh export. The git of the workspace knows line ends by the tree's own attributes, and takes
 * content of LFS as unchanged, because its filter is not there. `isWritten`: the tree was written as it is shown.
 */
export async function writeShown(
  objects: GitDirectory,
  directory: string,
  { files }: ShownFiles,
  isWritten: boolean,
): Promise<void> {
  if (files.size === 0) return;
  const attributes = join(directory, '.git', 'info', 'attributes');
  writeFileSync(attributes, '* -ident !filter !working-tree-encoding\n');
  if (isWritten) return;
  const ends: string[] = [];
  const kept: string[] = [];
  for (const [path, shown] of files) {
    const place = join(directory, path);
    if (typeof shown === 'string') await copyFile(shown, place);
    else writeFileSync(place, shown);
    (typeof shown === 'string' ? kept : ends).push(`${path}\0`);
  }
  const update = async (paths: readonly string[], ...options: readonly string[]): Promise<void> => {
    if (paths.length === 0) return;
    const args = ['update-index', ...options, '-z', '--stdin'];
    await runGit(gitOf(directory, objects), args, { input: paths.join('') });
  };
  await update(ends);
  await update(kept, '--assume-unchanged');
}
