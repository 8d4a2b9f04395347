import { mostPart, type Part } from './part.ts';

/** What stands open at the top level of a text, between two of its lines. */
export type Open =
  | { readonly type: 'nothing' }
  /** `head`: both lines above the rows of a table, the beginning of which was told. */
  | { readonly type: 'text'; readonly text: string; readonly last: string; readonly head?: string }
  | {
      readonly type: 'item';
      readonly text: string;
      readonly last: string;
      readonly marker: Marker;
      readonly number: number;
      readonly isFirst: boolean;
      readonly isSpaced: boolean;
      readonly isRest: boolean;
      /** The line before was empty. */
      readonly isApart: boolean;
      readonly fence?: Fence;
    }
  | { readonly type: 'code'; readonly fence: Fence; readonly language: string; readonly isFirst: boolean };

export const nothingOpen: Open = { type: 'nothing' };

interface Step {
  readonly open: Open;
  readonly done: readonly Part[];
}

/** One line more: what stands open then, and what is finished by it and will never change. */
export function takeLine(open: Open, line: string): Step {
  const step = takeAny(open, line);
  return sizeOf(step.open) > mostPart ? cut(step) : step;
}

/** The end of the text, or what stands open as if it ended here. */
export function closeParts(open: Open): readonly Part[] {
  if (open.type === 'text')
    return open.text === ''
      ? []
      : [{ type: 'text', text: wholeOf(open), continues: open.head !== undefined }];
  if (open.type !== 'item') return [];
  const { text, marker, number, isFirst, isSpaced, isRest } = open;
  return [{ type: 'item', text, isOrdered: marker.isOrdered, number, isFirst, isSpaced, isRest }];
}

function takeAny(open: Open, line: string): Step {
  if (open.type === 'code') return takeCode(open, line);
  if (open.type === 'item') return takeInItem(open, line);
  if (open.type === 'nothing') return begin(line);
  if (isBlank(line)) return ended(open);
  const isUnder = /^ {0,3}(?:-+|=+)[ \t]*$/.test(line);
  if (!isUnder && interrupts(line, open.last)) return then(open, begin(line));
  return { open: { ...open, text: open.text === '' ? line : `${open.text}\n${line}`, last: line }, done: [] };
}

function takeCode(open: Open & { type: 'code' }, line: string): Step {
  if (closesFence(line, open.fence)) return { open: nothingOpen, done: [] };
  const { language, isFirst } = open;
  const text = dedent(line, open.fence.indent);
  return { open: { ...open, isFirst: false }, done: [{ type: 'code', text, language, isFirst }] };
}

function takeInItem(open: Open & { type: 'item' }, line: string): Step {
  const add = (text: string, isApart: boolean, fence: Fence | undefined): Step => {
    const { fence: _, ...rest } = open;
    const next = fence === undefined ? rest : { ...rest, fence };
    return { open: { ...next, isApart, text: `${open.text}\n${text}`, last: text }, done: [] };
  };
  if (isBlank(line)) return add('', true, open.fence);
  const { marker } = open;
  if (indentOf(line) >= marker.indent + 2) {
    const text = dedent(line, marker.width);
    if (open.fence === undefined) return add(text, false, toFence(text));
    return add(text, false, closesFence(text, open.fence) ? undefined : open.fence);
  }
  const next = toMarker(line);
  if (next !== undefined) {
    const joins = next.isOrdered === marker.isOrdered;
    return then(open, {
      open: openItem(next, joins ? open.number + 1 : next.number, !joins, open.isApart && joins),
      done: [],
    });
  }
  if (open.isApart || open.fence !== undefined || interrupts(line, open.last)) return then(open, begin(line));
  return add(line, false, undefined);
}

/** A line where nothing stands open. */
function begin(line: string): Step {
  if (isBlank(line)) return { open: nothingOpen, done: [] };
  const fence = toFence(line);
  if (fence !== undefined)
    return { open: { type: 'code', fence, language: languageOf(fence.info), isFirst: true }, done: [] };
  const marker = indentOf(line) < 4 ? toMarker(line) : undefined;
  if (marker !== undefined) return { open: openItem(marker, marker.number, true, false), done: [] };
  const open: Open = { type: 'text', text: line, last: line };
  return isHeading(line) || isRule(line) ? ended(open) : { open, done: [] };
}

function openItem(marker: Marker, number: number, isFirst: boolean, isSpaced: boolean): Open {
  const fence = toFence(marker.text);
  const open: Open = {
    type: 'item',
    text: marker.text,
    last: marker.text,
    marker,
    number,
    isFirst,
    isSpaced,
    isRest: false,
    isApart: false,
  };
  return fence === undefined ? open : { ...open, fence };
}

function ended(open: Open): Step {
  return { open: nothingOpen, done: closeParts(open) };
}

function then(open: Open, next: Step): Step {
  return { open: next.open, done: [...closeParts(open), ...next.done] };
}

/** Whether a line begins a block of its own although no empty line stands before it. */
function interrupts(line: string, before: string): boolean {
  if (indentOf(line) > 3) return false;
  if (isHeading(line) || toFence(line) !== undefined || isRule(line)) return true;
  if (line.trimStart().startsWith('>')) return !before.trimStart().startsWith('>');
  const marker = toMarker(line);
  return marker !== undefined && marker.text !== '' && (!marker.isOrdered || marker.number === 1);
}

/** A block that is too long is finished where it stands, and goes on as another. */
function cut({ open, done }: Step): Step {
  const all = [...done, ...closeParts(open)];
  if (open.type === 'item') {
    const text = open.fence === undefined ? '' : `${open.fence.mark}${open.fence.info}`;
    return { open: { ...open, text, last: text, isFirst: false, isSpaced: false, isRest: true }, done: all };
  }
  const head = open.type === 'text' ? tableHead(wholeOf(open)) : undefined;
  if (head === undefined) return { open: nothingOpen, done: all };
  return { open: { type: 'text', text: '', last: '', head }, done: all };
}

/** The first two lines of a table, if they are short. */
function tableHead(text: string): string | undefined {
  const [first = '', second = ''] = text.split('\n', 2);
  if (!first.includes('|') || !isTableRule(second) || first.length + second.length > mostPart / 8)
    return undefined;
  return `${first}\n${second}`;
}

function wholeOf({ head, text }: Open & { type: 'text' }): string {
  return head === undefined ? text : `${head}\n${text}`;
}

function sizeOf(open: Open): number {
  return open.type === 'text' || open.type === 'item' ? open.text.length : 0;
}

function languageOf(info: string): string {
  return (/^[\w+#-]{1,32}/.exec(info)?.[0] ?? '').toLowerCase();
}

/** How a line begins, as far as the top level of a text is concerned (CommonMark 0.31, sections 4 and 5). */
interface Marker {
  readonly isOrdered: boolean;
  readonly number: number;
  /** Columns before the marker. */
  readonly indent: number;
  /** Columns before the text of the item. */
  readonly width: number;
  readonly text: string;
}

interface Fence {
  readonly mark: string;
  readonly info: string;
  readonly indent: number;
}

/** Spaces before the text of a line; a tab goes to the next fourth column. */
function indentOf(line: string): number {
  let columns = 0;
  for (const char of line) {
    if (char === ' ') columns += 1;
    else if (char === '\t') columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

/** The line without its first so many columns of indent; less where there is less. */
function dedent(line: string, most: number): string {
  let columns = 0;
  let at = 0;
  for (; columns < most && at < line.length; at += 1) {
    if (line[at] === ' ') columns += 1;
    else if (line[at] === '\t') columns += 4 - (columns % 4);
    else break;
  }
  return ' '.repeat(Math.max(0, columns - most)) + line.slice(at);
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}

/** Three or more of a kind alone on a line. */
function isRule(line: string): boolean {
  return /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(line);
}

function isHeading(line: string): boolean {
  return /^ {0,3}#{1,6}(?:[ \t]|$)/.test(line);
}

/** A fence that opens a block of code. */
function toFence(line: string): Fence | undefined {
  const found = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line);
  if (found === null) return undefined;
  const [, indent = '', mark = '', info = ''] = found;
  return mark.startsWith('`') && info.includes('`')
    ? undefined
    : { mark, info: info.trim(), indent: indent.length };
}

function closesFence(line: string, { mark }: Fence): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return found !== undefined && found[0] === mark[0] && found.length >= mark.length;
}

/** The marker of an item; the columns of a line that only indents are not looked at. */
function toMarker(line: string): Marker | undefined {
  const found = /^([ \t]*)(?:([-+*])|(\d{1,9})[.)])(?:([ \t]+)(.*)|)$/.exec(line);
  if (found === null || isRule(line)) return undefined;
  const [, , bullet, digits = '', space = ' ', text = ''] = found;
  const indent = indentOf(line);
  const mark = bullet === undefined ? digits.length + 1 : 1;
  // Five spaces are one, and the rest is the indent of code.
  const apart = indentOf(space) > 4 || text === '' ? 1 : indentOf(space);
  return {
    isOrdered: bullet === undefined,
    number: Number(digits),
    indent,
    width: indent + mark + apart,
    text: ' '.repeat(indentOf(space) - apart) + text,
  };
}

/** The line under the head of a table. */
function isTableRule(line: string): boolean {
  return /^ {0,3}[|:\- \t]+$/.test(line) && line.includes('-') && line.includes('|');
}
