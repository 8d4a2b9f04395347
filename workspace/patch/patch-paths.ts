/* Decides which paths a patch may write. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { type HunkHeader, readHunkHeader, readSections } from '../../readers/diff/read-sections.ts';
import { isGoverningPath, isTrackedState } from '../git/repository.ts';

/**
 * Refuses a path that no patch may write: PATCH_ESCAPES_REPOSITORY for absolute paths, `..`, and the git directory
 * under any name that a file system treats as such; PATCH_TOUCHES_STATE for `.writ`, except for the tracked files.
 */
export function requirePatchPath(path: string): void {
  const segments = path.split('/');
  const refuse = (why: string): never => {
    throw new WritError('PATCH_ESCAPES_REPOSITORY', {
      message: `\`${printable(path)}\` ${why}`,
      detail: { path: printable(path) },
    });
  };
  if (path === '' || path.includes('\0')) refuse('is no file name');
  if (path.startsWith('/') || path.startsWith('\\') || /^[A-Za-z]:[\\/]/.test(path))
    refuse('is an absolute path');
  if (path.split(/[\\/]/).includes('..')) refuse('leads out of the repository');
  if (segments.some((segment) => segment === '' || segment === '.')) refuse('is not a plain path');
  // NTFS treats a backslash as a separator, too.
  if (path.split(/[\\/]/).some(isGitDirectoryName)) refuse('lies in the git directory');
  if (stateName(path.split(/[\\/]/)[0] ?? '') && !isTrackedState(path)) {
    throw new WritError('PATCH_TOUCHES_STATE', { detail: { path: printable(path) } });
  }
}

/** `.git` as HFS+ (ignored code points, any case) and NTFS (trailing dots and spaces, streams, short names) read it. */
function isGitDirectoryName(segment: string): boolean {
  const folded = foldName(segment);
  return folded === '.git' || folded === 'git~1';
}

function stateName(segment: string): boolean {
  const folded = foldName(segment);
  return folded === '.writ' || folded === 'writ~1';
}

function foldName(segment: string): string {
  return segment
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}

/** True if a change adds, edits, moves or removes a governing file. */
export function touchesGoverning(files: readonly Pick<PatchFile, 'path' | 'oldPath'>[]): boolean {
  return files.some(
    ({ path, oldPath }) => isGoverningPath(path) || (oldPath !== undefined && isGoverningPath(oldPath)),
  );
}

/* Cuts a patch into files and hunks, and removes hunks from it. */

export interface CutHunk {
  /** Made of path and lines, so it does not depend on the position in the file. */
  readonly id: string;
  readonly header: HunkHeader;
  /** The header line behind the numbers, with its line end. */
  readonly rest: Buffer;
  readonly body: Buffer;
}

/** The change of one file; a file that changes its type has two. */
export interface CutSection {
  readonly path: string;
  readonly head: Buffer;
  /** Empty if the change cannot be divided (binary, mode, rename, an empty file). */
  readonly hunks: readonly CutHunk[];
  /** Names the whole section if it has no hunks. */
  readonly id: string;
}

const sectionStart = Buffer.from('\ndiff --git ');
const lineFeed = 10;

/**
 * Cuts a patch as git normalised it (`PatchSet.diff`) into files and hunks; together they are the same bytes. Lines
 * are counted by the hunk headers, so content that looks like a header is content.
 */
export function cutPatch(diff: Buffer): readonly CutSection[] {
  const sections: CutSection[] = [];
  const idOf = hunkIds();
  for (let start = 0; start < diff.length; ) {
    const next = diff.indexOf(sectionStart, start);
    const end = next < 0 ? diff.length : next + 1;
    const section = diff.subarray(start, end);
    const path = pathOf(section);
    const first = firstHunk(section);
    const head = section.subarray(0, first);
    const hunks = readHunks(section, first).map((hunk) => ({ ...hunk, id: idOf(path, hunk.body) }));
    sections.push({ path, head, hunks, id: idOf(path, head) });
    start = end;
  }
  return sections;
}

/** The new name of the file, or the old one of a deleted file. */
function pathOf(section: Buffer): string {
  const [read] = readSections(section);
  const named = read?.newName ?? read?.oldName;
  return read?.plainNames.at(-1) ?? (named === undefined ? '' : named.slice(named.indexOf('/') + 1));
}

/** The head ends where the first hunk begins; a binary file has only a head. */
function firstHunk(section: Buffer): number {
  const names = section.indexOf('\n+++ ');
  const found = names < 0 ? -1 : section.indexOf('\n@@ -', names);
  return found < 0 ? section.length : found + 1;
}

function readHunks(section: Buffer, first: number): readonly Omit<CutHunk, 'id'>[] {
  const hunks: Omit<CutHunk, 'id'>[] = [];
  for (let at = first; at < section.length; ) {
    const lineEnd = endOfLine(section, at);
    const header = readHunkHeader(section, at, lineEnd);
    if (header === undefined) break;
    const numbers = section.indexOf(' @@', at) + 3;
    const end = endOfHunk(section, lineEnd, header);
    hunks.push({ header, rest: section.subarray(numbers, lineEnd), body: section.subarray(lineEnd, end) });
    at = end;
  }
  return hunks;
}

function endOfLine(bytes: Buffer, from: number): number {
  const feed = bytes.indexOf(lineFeed, from);
  return feed < 0 ? bytes.length : feed + 1;
}

function endOfHunk(section: Buffer, from: number, { oldCount, newCount }: HunkHeader): number {
  let [oldLeft, newLeft, at] = [oldCount, newCount, from];
  for (; at < section.length; at = endOfLine(section, at)) {
    const mark = String.fromCharCode(section[at] ?? 0);
    // `\ No newline at end of file` follows the last line, too.
    if (mark === '\\') continue;
    if (oldLeft <= 0 && newLeft <= 0) break;
    if (mark !== '+') oldLeft -= 1;
    if (mark !== '-') newLeft -= 1;
  }
  return at;
}

/** Names the hunks of one patch by path and lines; equal ones of a file also by their number. */
export function hunkIds(): (path: string, lines: Uint8Array) => string {
  const seen = new Map<string, number>();
  return (path, lines) => {
    const digest = sha256Hex(Buffer.concat([Buffer.from(`${path}\0`), lines]));
    const times = seen.get(digest) ?? 0;
    seen.set(digest, times + 1);
    return (times === 0 ? digest : sha256Hex(`${digest} ${times}`)).slice(0, 32);
  };
}

/**
 * A patch without the rejected hunks; the rest applies to the same base. A file without remaining hunks is not
 * renamed or created either. Empty if no hunk remains.
 */
export function patchWithout(diff: Buffer, rejected: ReadonlySet<string>): Buffer {
  const parts: Buffer[] = [];
  for (const { head, hunks, id } of cutPatch(diff)) {
    const left = withNumbers(hunks, rejected);
    if (hunks.length === 0 ? rejected.has(id) : left.length === 0) continue;
    parts.push(head, ...left);
  }
  return Buffer.concat(parts);
}

/** git looks for a hunk at the line of its new side, so the lines of rejected hunks before it are subtracted. */
function withNumbers(hunks: readonly CutHunk[], rejected: ReadonlySet<string>): readonly Buffer[] {
  const left: Buffer[] = [];
  let gone = 0;
  for (const { id, header, rest, body } of hunks) {
    const { oldCount, newCount, newLine } = header;
    if (rejected.has(id)) gone += newCount - oldCount;
    else left.push(headerLine({ ...header, newLine: newLine - gone }), rest, body);
  }
  return left;
}

function headerLine({ oldLine, oldCount, newLine, newCount }: HunkHeader): Buffer {
  return Buffer.from(`@@ -${oldLine},${oldCount} +${newLine},${newCount} @@`);
}
