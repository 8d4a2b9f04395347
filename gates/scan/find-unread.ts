import type { PatchFile } from '../../core/contract/patch-set.ts';
import { maxHunkHeaderBytes, readHunkHeader } from '../../readers/diff/hunk-header.ts';
import type { Unscanned } from './diff-piece.ts';
import type { MarkedHunks } from './marked-hunks.ts';

const escapeByte = 0x1b;
const colour = Buffer.from('\n\u001b');
/** `git format-patch` ends a mail with it. */
const signature = '-- ';

/**
 * Where a line stands: in the header, in a hunk, right behind one that is full, or in what is written between two
 * files.
 */
type Place = 'header' | 'hunk' | 'behind' | 'prose';

/**
 * Files of a diff whose sections hold text that no reader of hunks sees, and that could be a change all the same:
 * colours, combined and foreign diffs, hunks that lie about their length, headers that contradict themselves. A scan
 * that passes such a part over has not scanned it. `isCut`: the last file goes on elsewhere.
 */
export function findUnread(
  diff: Uint8Array,
  files: readonly PatchFile[],
  measured: readonly (MarkedHunks | undefined)[],
  isCut: boolean,
): readonly Unscanned[] {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const isColoured = bytes.includes(escapeByte) && bytes.includes(colour);
  const unread: Unscanned[] = [];
  for (const [index, file] of files.entries()) {
    const mayGoOn = isCut && index === files.length - 1;
    const reason =
      nameFault(file) ??
      (file.binary || (!isColoured && isPlain(bytes, file, measured[index]))
        ? undefined
        : readAll(bytes, file, mayGoOn));
    if (reason !== undefined) unread.push({ path: file.path, reason });
  }
  return unread;
}

function nameFault({ path }: PatchFile): string | undefined {
  if (path === '') return 'its header names no file';
  return path.startsWith('"') || /[\r\n]/.test(path) ? 'the name in its header cannot be read' : undefined;
}

/** True where hunks alone follow the header, each as long as it says; false where lines have to be looked at. */
function isPlain(bytes: Buffer, file: PatchFile, found: MarkedHunks | undefined): boolean {
  if (found === undefined || found.hunks === 0 || found.between > 0) return false;
  if (file.changeType === 'delete' && found.added > 0) return false;
  return found.before.every((line) => bytes[line] !== 0x40);
}

/** Line by line: why the section is not what a reader of hunks takes it for. */
function readAll(bytes: Buffer, { start, end, changeType }: PatchFile, mayGoOn: boolean): string | undefined {
  let place: Place = 'header';
  let namesSide = false;
  let oldLeft = 0;
  let newLeft = 0;
  for (let at = start; at < end; ) {
    const feed = bytes.indexOf(10, at);
    const stop = feed < 0 || feed >= end ? end : feed;
    const text = bytes.toString('latin1', at, Math.min(stop, at + maxHunkHeaderBytes));
    const line = at;
    at = stop + 1;
    if (place === 'hunk') {
      const mark = text[0];
      if (mark === '\\') continue;
      if (mark === '+') newLeft -= 1;
      else if (mark === '-') oldLeft -= 1;
      else if (mark === ' ' || text === '') [oldLeft, newLeft] = [oldLeft - 1, newLeft - 1];
      else return 'a line of a hunk begins with neither `+`, `-` nor a blank';
      if (mark === '+' && changeType === 'delete') return 'it is deleted, and has added lines';
      if (oldLeft <= 0 && newLeft <= 0) place = 'behind';
      continue;
    }
    if (line === start || text.startsWith('\\')) continue;
    if (text.startsWith('\u001b')) return 'it is coloured: make it with `--no-color`';
    if (/^diff --(?:cc|combined) /.test(text) || text.startsWith('@@@'))
      return 'a combined diff of a merge is not read: compare with one parent';
    if (text.startsWith('@@')) {
      const header = readHunkHeader(bytes, line, stop);
      if (!header) return 'a hunk header cannot be read';
      if (place === 'prose')
        return 'a hunk stands apart from the header of its file: a diff without `diff --git`';
      [oldLeft, newLeft] = [header.oldCount, header.newCount];
      place = oldLeft > 0 || newLeft > 0 ? 'hunk' : 'behind';
    } else if (place === 'header') {
      if (text.startsWith('+++ ')) namesSide = true;
      else if (text.startsWith('+')) return 'an added line stands before any hunk';
    } else if (place === 'behind') {
      if (text.startsWith('+')) return 'an added line stands behind a hunk that is full';
      if (!text.startsWith('-') || text === signature) place = 'prose';
    }
  }
  if (place === 'hunk' && !mayGoOn) return 'its last hunk has fewer lines than its header says';
  return place === 'header' && namesSide ? 'it names two sides and has no hunk' : undefined;
}
