/** How a line begins, as far as the top level of a text is concerned (CommonMark 0.31, sections 4 and 5). */
export interface Marker {
  readonly isOrdered: boolean;
  readonly number: number;
  /** Columns before the marker. */
  readonly indent: number;
  /** Columns before the text of the item. */
  readonly width: number;
  readonly text: string;
}

export interface Fence {
  readonly mark: string;
  readonly info: string;
  readonly indent: number;
}

/** Spaces before the text of a line; a tab goes to the next fourth column. */
export function indentOf(line: string): number {
  let columns = 0;
  for (const char of line) {
    if (char === ' ') columns += 1;
    else if (char === '\t') columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

/** The line without its first so many columns of indent; less where there is less. */
export function dedent(line: string, most: number): string {
  let columns = 0;
  let at = 0;
  for (; columns < most && at < line.length; at += 1) {
    if (line[at] === ' ') columns += 1;
    else if (line[at] === '\t') columns += 4 - (columns % 4);
    else break;
  }
  return ' '.repeat(Math.max(0, columns - most)) + line.slice(at);
}

export function isBlank(line: string): boolean {
  return line.trim() === '';
}

/** Three or more of a kind alone on a line. */
export function isRule(line: string): boolean {
  return /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(line);
}

export function isHeading(line: string): boolean {
  return /^ {0,3}#{1,6}(?:[ \t]|$)/.test(line);
}

/** A fence that opens a block of code. */
export function toFence(line: string): Fence | undefined {
  const found = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line);
  if (found === null) return undefined;
  const [, indent = '', mark = '', info = ''] = found;
  return mark.startsWith('`') && info.includes('`')
    ? undefined
    : { mark, info: info.trim(), indent: indent.length };
}

export function closesFence(line: string, { mark }: Fence): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return found !== undefined && found[0] === mark[0] && found.length >= mark.length;
}

/** The marker of an item; the columns of a line that only indents are not looked at. */
export function toMarker(line: string): Marker | undefined {
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
export function isTableRule(line: string): boolean {
  return /^ {0,3}[|:\- \t]+$/.test(line) && line.includes('-') && line.includes('|');
}
