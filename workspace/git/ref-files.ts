import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitDirectory } from './git.ts';
import { isRefName } from './ref-name.ts';

/** What a ref names; `id` is `undefined` where it does not exist. */
export interface RefFound {
  readonly id: string | undefined;
}

const maxLooseBytes = 4096;
const maxConfigBytes = 1024 * 1024;
const maxPackedBytes = 64 * 1024 * 1024;
/** Each work tree has its own. */
const perWorkTree = /^refs\/(?:bisect|rewritten|worktree)\//;
const missing = ['ENOENT', 'ENOTDIR'];

/**
 * Reads a full ref name from the files that git keeps refs in, in git's order: its own file, then `packed-refs`.
 * `undefined` for whatever is not plain (symbolic, damaged, kept in another way): ask git.
 */
export async function readRefFile(place: GitDirectory, ref: string): Promise<RefFound | undefined> {
  const { refsIn } = place;
  if (refsIn === undefined || perWorkTree.test(ref)) return undefined;
  const loose = await readText(join(refsIn, ref), maxLooseBytes);
  if (loose !== 'missing') return idAtStart(place, loose);
  const packed = await readText(join(refsIn, 'packed-refs'), maxPackedBytes);
  if (packed === 'missing') return { id: undefined };
  if (packed === undefined) return undefined;
  const at = packed.indexOf(Buffer.from(` ${ref}\n`));
  if (at < 0) return { id: undefined };
  const line = packed.subarray(packed.lastIndexOf(10, at) + 1, at + 1);
  return idAtStart(place, line);
}

/**
 * True where the files say that there is no ref below `stem` (`refs/ai/approvals/X`). False: ask git, who may find none
 * either.
 */
export async function hasNoRefsBelow({ refsIn }: GitDirectory, stem: string): Promise<boolean> {
  if (refsIn === undefined || perWorkTree.test(stem)) return false;
  const fault: unknown = await lstat(join(refsIn, stem)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isMissing(fault)) return false;
  const packed = await readText(join(refsIn, 'packed-refs'), maxPackedBytes);
  return packed === 'missing' || (packed !== undefined && !packed.includes(` ${stem}/`));
}

/**
 * Every line of `packed-refs`, none where there is no such file; `undefined` where a line is not as git writes it:
 * it would complain.
 */
export async function readPackedRefs(
  { objectFormat }: GitDirectory,
  refsIn: string,
): Promise<readonly { readonly ref: string; readonly object: string }[] | undefined> {
  const packed = await readText(join(refsIn, 'packed-refs'), maxPackedBytes);
  if (packed === 'missing') return [];
  if (packed === undefined) return undefined;
  const digits = objectFormat === 'sha1' ? 40 : 64;
  const form = new RegExp(`^(?:([0-9a-f]{${digits}}) (refs/.+)|\\^[0-9a-f]{${digits}})$`);
  const lines = packed.toString('utf8').split('\n');
  if (lines.pop() !== '') return undefined;
  const refs: { ref: string; object: string }[] = [];
  for (const [n, line] of lines.entries()) {
    if (n === 0 && line.startsWith('# pack-refs with:')) continue;
    const [isLine, object, ref] = form.exec(line) ?? [];
    if (isLine === undefined) return undefined;
    if (object === undefined || ref === undefined) continue;
    if (!/[1-9a-f]/.test(object)) return undefined;
    refs.push({ ref, object });
  }
  return refs;
}

/**
 * Whether the config of a repository names no other way to keep refs than in files. git looks for that nowhere else,
 * follows no include there and knows no other spelling but in capitals. False: only git can read the refs.
 */
export async function areRefsFiles(commonDir: string): Promise<boolean> {
  const config = await readText(join(commonDir, 'config'), maxConfigBytes);
  return Buffer.isBuffer(config) && !/refstorage/i.test(config.toString('latin1'));
}

/** HEAD of this work tree, read likewise. No branch when detached, no id when unborn. */
export async function readHeadFile(
  place: GitDirectory,
): Promise<(RefFound & { readonly branch: string | undefined }) | undefined> {
  if (place.refsIn === undefined) return undefined;
  const head = await readText(join(place.gitDir, 'HEAD'), maxLooseBytes);
  if (head === undefined || head === 'missing') return undefined;
  const branch = /^ref: (\S+)\n$/.exec(head.toString('utf8'))?.[1];
  if (branch !== undefined && !isRefName(branch)) return undefined;
  const found = branch === undefined ? idAtStart(place, head) : await readRefFile(place, branch);
  return found && { branch, id: found.id };
}

/** The id that a file of one ref begins with; `undefined` for anything else. */
export function idAtStart({ objectFormat }: GitDirectory, bytes: Buffer | undefined): RefFound | undefined {
  const digits = objectFormat === 'sha1' ? 40 : 64;
  const text = bytes?.toString('latin1', 0, digits + 1) ?? '';
  const id = text.slice(0, digits);
  const isId = text.length === digits + 1 && /^[0-9a-f]+\s$/.test(text) && /[1-9a-f]/.test(id);
  return isId ? { id } : undefined;
}

/** `undefined` for what is longer, a symlink, or cannot be read. */
export async function readText(path: string, maxBytes: number): Promise<Buffer | 'missing' | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (stat.isDirectory()) return 'missing';
    return stat.isFile() && stat.size <= maxBytes ? await file.readFile() : undefined;
  } catch (fault) {
    return isMissing(fault) ? 'missing' : undefined;
  } finally {
    await file?.close();
  }
}

/** True for what says that there is no such file. */
export function isMissing(fault: unknown): boolean {
  return fault instanceof Error && 'code' in fault && missing.includes(String(fault.code));
}
