/* Reads the files of a piece of a diff. */
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { hunkLines, maxHunkHeaderBytes, readHunkHeader } from '../../readers/diff/read-sections.ts';
import type { Unscanned } from './cut-diff.ts';
import { readFileHeader } from './cut-diff.ts';

/** What a piece of a diff holds. */
interface ReadPiece {
  readonly files: readonly PatchFile[];
  readonly addedLines: number;
  /** Parts of a third-party diff that no reader of hunks sees. */
  readonly unread: readonly Unscanned[];
}

const gitHeader = Buffer.from('\ndiff --git ');
const [feed, plus, minus, space, backslash] = [10, 43, 45, 32, 92];
/** `git format-patch` ends a mail with it. */
const signature = '-- ';

/**
 * Reads every line of a piece once. Files that are not `known` are read from its headers, and then what no reader of
 * hunks sees is reported; `isCut`: the last file goes on in another piece.
 */
export function readPiece(
  diff: Uint8Array,
  known: readonly PatchFile[] | undefined,
  isCut: boolean,
): ReadPiece {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const files = known ?? readFiles(diff);
  const unread: Unscanned[] = [];
  let addedLines = 0;
  for (const [index, file] of files.entries()) {
    const section = file.binary ? 0 : readSection(bytes, file, isCut && index === files.length - 1);
    addedLines += typeof section === 'number' ? section : countAdded(diff, file);
    const reason = nameFault(file) ?? (typeof section === 'string' ? section : undefined);
    if (known === undefined && reason !== undefined) unread.push({ path: file.path, reason });
  }
  return { files, addedLines, unread };
}

/** Returns the files of a diff that begins with a file header, read from all headers. */
export function readFiles(diff: Uint8Array): readonly PatchFile[] {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const files: PatchFile[] = [];
  for (let start = 0; start < bytes.length; ) {
    const next = bytes.indexOf(gitHeader, start);
    const end = next < 0 ? bytes.length : next + 1;
    files.push(readFileHeader(bytes, start, end));
    start = end;
  }
  return files;
}

function countAdded(diff: Uint8Array, file: PatchFile): number {
  let count = 0;
  for (const { kind } of hunkLines(diff, file)) if (kind === 'added') count += 1;
  return count;
}

function nameFault({ path }: PatchFile): string | undefined {
  if (path === '') return 'its header names no file';
  return path.startsWith('"') || /[\r\n]/.test(path) ? 'the name in its header cannot be read' : undefined;
}

/**
 * Where a line is: in the header, in a hunk, right behind one that is full, or in what is written between two files.
 */
type Place = 'header' | 'hunk' | 'behind' | 'prose';

/**
 * Counts the lines that a file's section adds. Returns a reason instead if the section holds text that hunk readers
 * skip but that may be a change: colours, combined and foreign diffs, hunks with another length than their header
 * states, contradictory headers. A scan that skips such a part is incomplete.
 */
function readSection(
  bytes: Buffer,
  { start, end, changeType }: PatchFile,
  mayGoOn: boolean,
): number | string {
  let place: Place = 'header';
  let namesSide = false;
  let added = 0;
  let [oldLeft, newLeft] = [0, 0];
  for (let line = start, stop = start; line < end; line = stop + 1) {
    stop = line;
    while (stop < end && bytes[stop] !== feed) stop += 1;
    if (place === 'hunk') {
      const mark = bytes[line];
      if (mark === backslash) continue;
      if (mark === plus) {
        if (changeType === 'delete') return 'it is deleted, and has added lines';
        added += 1;
        newLeft -= 1;
      } else if (mark === minus) oldLeft -= 1;
      else if (mark === space || line === stop) [oldLeft, newLeft] = [oldLeft - 1, newLeft - 1];
      else return 'a line of a hunk begins with neither `+`, `-` nor a blank';
      if (oldLeft <= 0 && newLeft <= 0) place = 'behind';
      continue;
    }
    const text = bytes.toString('latin1', line, Math.min(stop, line + maxHunkHeaderBytes));
    if (line === start || text.startsWith('\\')) continue;
    if (text.startsWith('\u001b')) return 'it is coloured: make it with `--no-color`';
    if (/^diff --(?:cc|combined) /.test(text) || text.startsWith('@@@'))
      return 'a combined diff of a merge is not read: compare with one parent';
    if (text.startsWith('@@')) {
      const header = readHunkHeader(bytes, line, stop);
      if (!header) return 'a hunk header cannot be read';
      if (place === 'prose')
        return 'a hunk is apart from the header of its file: a diff without `diff --git`';
      [oldLeft, newLeft] = [header.oldCount, header.newCount];
      place = oldLeft > 0 || newLeft > 0 ? 'hunk' : 'behind';
    } else if (place === 'header') {
      if (text.startsWith('+++ ')) namesSide = true;
      else if (text.startsWith('+')) return 'an added line is before any hunk';
    } else if (place === 'behind') {
      if (text.startsWith('+')) return 'an added line is after a hunk that is full';
      if (!text.startsWith('-') || text === signature) place = 'prose';
    }
  }
  if (place === 'hunk' && !mayGoOn) return 'its last hunk has fewer lines than its header says';
  return place === 'header' && namesSide ? 'it names two sides and has no hunk' : added;
}
