/* Reads refs from the files that git keeps them in, which saves a process. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPlain } from '../../core/base/files.ts';
import type { GitDirectory } from './git.ts';
import { isRefName } from './ref-name.ts';

interface RefFound {
  readonly id: string | undefined;
}

const maxLooseBytes = 4096;
const maxConfigBytes = 1024 * 1024;
const maxPackedBytes = 64 * 1024 * 1024;
/** Refs that each working tree has on its own. */
const perWorkTree = /^refs\/(?:bisect|rewritten|worktree)\//;
const missing = ['ENOENT', 'ENOTDIR'];

/**
 * Reads a full ref name from git's files, in git's order: its own file, then `packed-refs`. `undefined` if the ref is
 * not a plain one (symbolic, damaged, stored in another way), so that only git can read it.
 */
export function readRefFile(place: GitDirectory, ref: string): RefFound | undefined {
  const { refsIn } = place;
  if (refsIn === undefined || perWorkTree.test(ref)) return undefined;
  const loose = readText(join(refsIn, ref), maxLooseBytes);
  if (loose !== 'missing') return idAtStart(place, loose);
  const packed = readText(join(refsIn, 'packed-refs'), maxPackedBytes);
  if (packed === 'missing') return { id: undefined };
  if (packed === undefined) return undefined;
  const at = packed.indexOf(Buffer.from(` ${ref}\n`));
  if (at < 0) return { id: undefined };
  const line = packed.subarray(packed.lastIndexOf(10, at) + 1, at + 1);
  return idAtStart(place, line);
}

/** True if the files show that there is no ref below `stem` (`refs/ai/approvals/X`); false if only git can decide. */
export function hasNoRefsBelow({ refsIn }: GitDirectory, stem: string): boolean {
  if (refsIn === undefined || perWorkTree.test(stem)) return false;
  if (!isAbsent(join(refsIn, stem))) return false;
  const packed = readText(join(refsIn, 'packed-refs'), maxPackedBytes);
  return packed === 'missing' || (packed !== undefined && !packed.includes(` ${stem}/`));
}

/** Every line of `packed-refs`, none if the file is missing; `undefined` if a line is not as git writes it. */
function readPackedRefs({ objectFormat }: GitDirectory, refsIn: string): readonly ListedRef[] | undefined {
  const packed = readText(join(refsIn, 'packed-refs'), maxPackedBytes);
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
 * True if the config names no other ref storage than files. git reads that setting nowhere else and follows no
 * include for it.
 */
export function areRefsFiles(commonDir: string): boolean {
  const config = readText(join(commonDir, 'config'), maxConfigBytes);
  return Buffer.isBuffer(config) && !/refstorage/i.test(config.toString('latin1'));
}

/** HEAD of this working tree. No branch when detached, no id when unborn. */
export function readHeadFile(
  place: GitDirectory,
): (RefFound & { readonly branch: string | undefined }) | undefined {
  if (place.refsIn === undefined) return undefined;
  const head = readText(join(place.gitDir, 'HEAD'), maxLooseBytes);
  if (head === undefined || head === 'missing') return undefined;
  const branch = /^ref: (\S+)\n$/.exec(head.toString('utf8'))?.[1];
  if (branch !== undefined && !isRefName(branch)) return undefined;
  const found = branch === undefined ? idAtStart(place, head) : readRefFile(place, branch);
  return found && { branch, id: found.id };
}

/** The id at the beginning of a ref file; `undefined` for anything else. */
function idAtStart({ objectFormat }: GitDirectory, bytes: Buffer | undefined): RefFound | undefined {
  const digits = objectFormat === 'sha1' ? 40 : 64;
  const text = bytes?.toString('latin1', 0, digits + 1) ?? '';
  const id = text.slice(0, digits);
  const isId = text.length === digits + 1 && /^[0-9a-f]+\s$/.test(text) && /[1-9a-f]/.test(id);
  return isId ? { id } : undefined;
}

/** `undefined` for a larger file, a symlink, or one that cannot be read. A directory holds no ref of its name. */
function readText(path: string, maxBytes: number): Buffer | 'missing' | undefined {
  const { bytes, status, fault } = readPlain(path, maxBytes);
  return isMissing(fault) || status?.isDirectory() ? 'missing' : bytes;
}

function isMissing(fault: unknown): boolean {
  return fault instanceof Error && 'code' in fault && missing.includes(String(fault.code));
}

/** True if nothing is at the path; false also if that cannot be seen. */
export function isAbsent(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (fault) {
    return isMissing(fault);
  }
}

/** None in a directory that is missing; `undefined` in one that cannot be read. */
function entriesIn(directory: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (fault) {
    return isMissing(fault) ? [] : undefined;
  }
}

export interface ListedRef {
  readonly ref: string;
  readonly object: string;
}

/** git lists more refs faster. */
const maxEntries = 2_000;

/**
 * Refs that match `wanted`, in git's order, from git's files; only the directories of `refs/` that `isRoot` accepts
 * are read. `undefined` if there are many, or one is not a plain ref, so that only git can list them.
 */
export function listRefFiles(
  place: GitDirectory,
  isRoot: (name: string) => boolean,
  wanted: RegExp,
): readonly ListedRef[] | undefined {
  const { refsIn } = place;
  if (refsIn === undefined) return undefined;
  const found = new Map<string, string>();
  let entriesLeft = maxEntries;
  const isPlain = (ref: string, entry: Dirent): boolean => {
    if (entry.isDirectory()) return walk(ref);
    if (!entry.isFile()) return false;
    if (!wanted.test(ref)) return true;
    const text = readText(join(refsIn, ref), maxLooseBytes);
    const id = text === 'missing' || !isRefName(ref) ? undefined : idAtStart(place, text)?.id;
    if (id !== undefined) found.set(ref, id);
    return id !== undefined;
  };
  const walk = (directory: string): boolean => {
    const entries = entriesIn(join(refsIn, directory));
    entriesLeft -= entries?.length ?? 0;
    if (entries === undefined || entriesLeft < 0) return false;
    // git skips its own files beside refs.
    const kept = entries.filter(({ name }) => !name.startsWith('.') && !name.endsWith('.lock'));
    const chosen = directory === 'refs' ? kept.filter(({ name }) => isRoot(name)) : kept;
    return chosen.every((entry) => isPlain(`${directory}/${entry.name}`, entry));
  };
  // Loose refs first: one that is packed meanwhile is found afterwards.
  if (!walk('refs')) return undefined;
  const packed = readPackedRefs(place, refsIn);
  if (packed === undefined) return undefined;
  for (const { ref, object } of packed) {
    if (!wanted.test(ref) || found.has(ref)) continue;
    if (!isRefName(ref)) return undefined;
    found.set(ref, object);
  }
  return [...found]
    .map(([ref, object]) => ({ ref, object }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.ref), Buffer.from(b.ref)));
}
