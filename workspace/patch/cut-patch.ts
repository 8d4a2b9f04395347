import { type HunkHeader, readHunkHeader, readSections } from '../../readers/diff/read-sections.ts';
import { hunkIds } from './hunk-ids.ts';

/** One place of a file at which a patch changes it. */
export interface CutHunk {
  /** Of path and lines: the same wherever in the file they stand. */
  readonly id: string;
  readonly header: HunkHeader;
  /** What follows the numbers on the header line, with its line end. */
  readonly rest: Buffer;
  /** Its lines, without the header line. */
  readonly body: Buffer;
}

/** What a patch does to one file; a file that becomes another kind of thing has two. */
export interface CutSection {
  readonly path: string;
  readonly head: Buffer;
  /** None: nothing of it can be told apart (binary, mode, rename, an empty file). */
  readonly hunks: readonly CutHunk[];
  /** Stands for the whole where there are no hunks. */
  readonly id: string;
}

const sectionStart = Buffer.from('\ndiff --git ');
const lineFeed = 10;

/**
 * Cuts a patch as git normalised it (`PatchSet.diff`) into files and hunks. Put together again they are the same bytes.
 * Lines are taken by the counts of their hunk, so content that looks like a header is content.
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

/** The name that the file has afterwards, or had where it goes. */
function pathOf(section: Buffer): string {
  const [read] = readSections(section);
  const named = read?.newName ?? read?.oldName;
  return read?.plainNames.at(-1) ?? (named === undefined ? '' : named.slice(named.indexOf('/') + 1));
}

/** The head ends where the first hunk begins; that of a binary file has none. */
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

/** Behind the line feed. */
function endOfLine(bytes: Buffer, from: number): number {
  const feed = bytes.indexOf(lineFeed, from);
  return feed < 0 ? bytes.length : feed + 1;
}

function endOfHunk(section: Buffer, from: number, { oldCount, newCount }: HunkHeader): number {
  let [oldLeft, newLeft, at] = [oldCount, newCount, from];
  for (; at < section.length; at = endOfLine(section, at)) {
    const mark = String.fromCharCode(section[at] ?? 0);
    // That the file does not end in a line feed stands behind the last line, too.
    if (mark === '\\') continue;
    if (oldLeft <= 0 && newLeft <= 0) break;
    if (mark !== '+') oldLeft -= 1;
    if (mark !== '-') newLeft -= 1;
  }
  return at;
}
