/** The diff of a file write, for the question about it. */
import { isUtf8 } from 'node:buffer';
import { structuredPatch } from 'diff/lib/patch/create.js';
import type { FileChange } from '../../core/interfaces/hook-payload.ts';
import { type Mask, visibleText } from './judge-approval.ts';

/** Of what is shown: its lines, their characters, those of one line. */
const most = { lines: 160, characters: 8_000, line: 400 } as const;

/** What a use would make of a file, as a question about it holds it: masked, visible, bounded. */
export interface WrittenChange {
  readonly changeType: 'add' | 'modify' | 'delete';
  /** Hunks of a unified diff. */
  readonly diff?: string;
  /** Lines of the diff that are left out behind it. */
  readonly unshown?: number;
  /** Why there is no diff, or which lines it does not show. */
  readonly note?: string;
}

/** What the bytes that would be written make of those that are there. Pure. */
export function writtenChange({ before, after, unseen }: FileChange, mask: Mask): WrittenChange {
  if (unseen !== undefined) return { changeType: 'modify', note: unseen };
  const changeType = before === undefined ? 'add' : after === undefined ? 'delete' : 'modify';
  const [old, now] = [textOf(before), textOf(after)];
  if (old === undefined || now === undefined)
    return { changeType, note: `not text: ${sizesOf(before, after)}` };
  // Secrets that span several lines can only be found in the whole text.
  const lines = unifiedLines(mask(old), mask(now));
  if (lines.length === 0) return { changeType, note: withoutLines(changeType, old === now) };
  const shown: string[] = [];
  let left = most.characters;
  let isCut = false;
  for (const line of lines.slice(0, most.lines)) {
    const text = `${line[0]}${visibleText(line.slice(1), (one) => one, most.line)}`;
    left -= text.length + 1;
    if (left < 0) break;
    isCut ||= text !== `${line[0]}${visibleText(line.slice(1), (one) => one, most.line + 1)}`;
    shown.push(text);
  }
  const unshown = lines.length - shown.length;
  return {
    changeType,
    diff: shown.join('\n'),
    ...(unshown === 0 ? {} : { unshown }),
    ...(isCut ? { note: `lines are cut behind ${most.line} characters` } : {}),
  };
}

/** A file that comes or goes is a change, although it is empty. */
function withoutLines(changeType: WrittenChange['changeType'], isSame: boolean): string {
  if (!isSame) return 'what differs is not shown: it is masked';
  return { add: 'an empty file', delete: 'the file was empty', modify: 'nothing differs' }[changeType];
}

/** An absent file is an empty text. */
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return '';
  return isUtf8(bytes) && !bytes.includes(0) ? Buffer.from(bytes).toString('utf8') : undefined;
}

function sizesOf(before: Uint8Array | undefined, after: Uint8Array | undefined): string {
  const words = [before, after].flatMap((bytes) => (bytes === undefined ? [] : [`${bytes.length} bytes`]));
  return words.join(' before, now ');
}

/** Lines that stay around what is changed. */
const around = 3;
/** Lines that differ, which bounds the work to its square: beyond, all of both texts is one change. */
const mostDiffering = 1_000;

/** Differences between two texts as hunks of a unified diff. Empty if they are equal. Pure. */
export function unifiedLines(before: string, after: string): readonly string[] {
  const options = { context: around, maxEditLength: mostDiffering };
  const patch = structuredPatch('', '', before, after, '', '', options);
  if (patch === undefined) return oneChange(linesOf(before), linesOf(after));
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ]);
}

function oneChange(old: readonly string[], now: readonly string[]): readonly string[] {
  const signed = (sign: string, lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) =>
      line.endsWith('\n')
        ? [`${sign}${line.slice(0, -1)}`]
        : [`${sign}${line}`, '\\ No newline at end of file'],
    );
  return [
    `@@ -${range(1, old.length)} +${range(1, now.length)} @@`,
    ...signed('-', old),
    ...signed('+', now),
  ];
}

/** A side without lines is behind the line before it. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/** With the end of each, by which the last one may differ alone. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
