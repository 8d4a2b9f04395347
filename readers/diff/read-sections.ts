/* Reads the file headers, hunks and quoted names of a git diff. */
import type { PatchFile } from '../../core/interfaces/patch-set.ts';

/**
 * The headers of one file in an incoming patch. Names are as written, including the prefix; an absent name is
 * `/dev/null` or not given.
 */
export interface PatchSection {
  readonly isGit: boolean;
  readonly oldName?: string;
  readonly newName?: string;
  /** From `rename from`, `copy to` and the like: never prefixed. */
  readonly plainNames: readonly string[];
  /** First line (from 1) of the section. */
  readonly line: number;
  readonly hunks: readonly { readonly oldStart: number; readonly line: number }[];
}

type Draft = { -readonly [Key in keyof PatchSection]: PatchSection[Key] } & {
  plainNames: string[];
  hunks: { oldStart: number; line: number }[];
};

/**
 * Reads the file headers of a patch. It skips hunk bodies by their line counts, and all text outside the patch (mail
 * headers, prose). It does no validation, because git does. Runs in time linear in the size of the patch, without
 * copying it.
 */
export function readSections(patch: Buffer): readonly PatchSection[] {
  const sections: Draft[] = [];
  let current: Draft | undefined;
  let at = 0;
  let line = 0;
  let isBinary = false;
  const nextLine = (): Buffer | undefined => {
    if (at >= patch.length) return undefined;
    const end = patch.indexOf(10, at);
    const found = patch.subarray(at, end < 0 ? patch.length : end);
    at = end < 0 ? patch.length : end + 1;
    line += 1;
    return found;
  };
  for (let text = nextLine(); text !== undefined; text = nextLine()) {
    const first = text[0];
    if (first === 0x64 && startsWith(text, 'diff --git ')) {
      current = { isGit: true, plainNames: [], line, hunks: [], ...gitHeaderNames(text.subarray(11)) };
      sections.push(current);
      isBinary = false;
    } else if (first === 0x47 && startsWith(text, 'GIT binary patch')) {
      isBinary = true;
    } else if (first === 0x2d && startsWith(text, '--- ')) {
      const peek = patch.subarray(at, at + 4);
      if (!startsWith(peek, '+++ ')) continue;
      const oldName = headerName(text.subarray(4));
      const newName = headerName((nextLine() ?? text).subarray(4));
      if (current === undefined || !current.isGit || current.hunks.length > 0 || isBinary) {
        current = { isGit: false, plainNames: [], line: line - 1, hunks: [] };
        sections.push(current);
      }
      delete current.oldName;
      delete current.newName;
      if (oldName !== undefined) current.oldName = oldName;
      if (newName !== undefined) current.newName = newName;
    } else if (first === 0x40 && current && startsWith(text, '@@ -')) {
      const header = readHunkHeader(text, 0, text.length);
      if (!header) continue;
      current.hunks.push({ oldStart: header.oldLine, line });
      skipHunk(header.oldCount, header.newCount);
    } else if (first === 0x72 || first === 0x63) {
      const name = /^(?:rename|copy) (?:from|to) (?=.)/.exec(text.toString('latin1', 0, 14))?.[0];
      if (name && current?.isGit) current.plainNames.push(wholeName(text.subarray(name.length)) ?? '');
    }
  }
  return sections;

  /** Content may look like headers (a removed line `-- a/x` reads `--- a/x`), so it is stepped over by count. */
  function skipHunk(oldLines: number, newLines: number): void {
    let oldLeft = oldLines;
    let newLeft = newLines;
    while ((oldLeft > 0 || newLeft > 0) && at < patch.length) {
      const kind = patch[at];
      if (kind === 0x2b) newLeft -= 1;
      else if (kind === 0x2d) oldLeft -= 1;
      else if (kind === 0x20 || kind === 0x0a || kind === 0x0d) {
        oldLeft -= 1;
        newLeft -= 1;
      } else if (kind !== 0x5c) return;
      const end = patch.indexOf(10, at);
      at = end < 0 ? patch.length : end + 1;
      line += 1;
    }
  }
}

function startsWith(text: Buffer, wanted: string): boolean {
  return text.length >= wanted.length && text.toString('latin1', 0, wanted.length) === wanted;
}

/**
 * Parses `a/x b/x`; either half may be quoted. Unquoted halves are split as git does it: the names after their
 * prefixes must be equal.
 */
function gitHeaderNames(text: Buffer): { oldName?: string; newName?: string } {
  const bytes = stripReturn(text);
  if (bytes[0] === 0x22) {
    const left = unquotePath(bytes);
    const rest = left && bytes.subarray(left.length + 1);
    const newName = rest && wholeName(rest);
    return left && newName !== undefined ? { oldName: left.path, newName } : {};
  }
  const names = bytes.toString('utf8');
  const quote = names.indexOf(' "');
  if (quote > 0 && names.endsWith('"')) {
    const newName = wholeName(bytes.subarray(Buffer.byteLength(names.slice(0, quote + 1))));
    return newName === undefined ? {} : { oldName: names.slice(0, quote), newName };
  }
  const middle = (names.length - 1) / 2;
  const left = names.slice(0, middle);
  const right = names.slice(middle + 1);
  if (
    Number.isInteger(middle) &&
    names[middle] === ' ' &&
    (left === right || afterPrefix(left) === afterPrefix(right))
  ) {
    return { oldName: left, newName: right };
  }
  // A rename: the names are repeated, unambiguous, on lines of their own.
  return {};
}

function afterPrefix(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

/** The name on a `---` or `+++` line: up to a tab, or up to a timestamp behind blanks; `undefined` for `/dev/null`. */
function headerName(text: Buffer): string | undefined {
  const bytes = stripReturn(text);
  if (bytes[0] === 0x22) return unquotePath(bytes)?.path ?? '';
  const tab = bytes.indexOf(9);
  const name = bytes.toString('utf8', 0, tab < 0 ? bytes.length : tab);
  const bare =
    tab < 0
      ? name.replace(/ +\d{2,4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?[+-]\d\d:?\d\d)?$/, '')
      : name;
  return bare === '/dev/null' ? undefined : bare;
}

function wholeName(text: Buffer): string | undefined {
  const bytes = stripReturn(text);
  return bytes[0] === 0x22 ? unquotePath(bytes)?.path : bytes.toString('utf8');
}

function stripReturn(text: Buffer): Buffer {
  return text.at(-1) === 13 ? text.subarray(0, -1) : text;
}

/** The first line of a hunk (git, unified diff): first line and number of lines on each side. */
export interface HunkHeader {
  readonly oldLine: number;
  readonly oldCount: number;
  readonly newLine: number;
  readonly newCount: number;
}

/**
 * A hunk header must end within this many bytes of its line. Every reader uses the same bound; otherwise one would
 * see a hunk that another does not.
 */
export const maxHunkHeaderBytes = 120;

const comma = 44;
const before = Buffer.from('@@ -');
const between = Buffer.from(' +');
const behind = Buffer.from(' @@');

/**
 * The header at the beginning of the line from `start` to `end`; `undefined` for any other line. A count that is left
 * out is 1.
 */
export function readHunkHeader(bytes: Uint8Array, start: number, end: number): HunkHeader | undefined {
  const most = Math.min(end, start + maxHunkHeaderBytes);
  const old = readSide(bytes, start, most, before);
  const candidate = old && readSide(bytes, old.end, most, between);
  if (!candidate || !stands(bytes, candidate.end, most, behind)) return undefined;
  return { oldLine: old.line, oldCount: old.count, newLine: candidate.line, newCount: candidate.count };
}

interface Side {
  readonly line: number;
  readonly count: number;
  readonly end: number;
}

/** `,` and a count may follow the line. */
function readSide(bytes: Uint8Array, start: number, most: number, mark: Uint8Array): Side | undefined {
  if (!stands(bytes, start, most, mark)) return undefined;
  const from = start + mark.length;
  const end = digitsEnd(bytes, from, most);
  if (end === from) return undefined;
  const line = numberOf(bytes, from, end);
  if (end >= most || bytes[end] !== comma) return { line, count: 1, end };
  const countEnd = digitsEnd(bytes, end + 1, most);
  return countEnd === end + 1
    ? undefined
    : { line, count: numberOf(bytes, end + 1, countEnd), end: countEnd };
}

function stands(bytes: Uint8Array, start: number, most: number, text: Uint8Array): boolean {
  if (start + text.length > most) return false;
  for (let index = 0; index < text.length; index += 1) if (bytes[start + index] !== text[index]) return false;
  return true;
}

function digitsEnd(bytes: Uint8Array, from: number, most: number): number {
  let at = from;
  while (at < most && (bytes[at] as number) >= 48 && (bytes[at] as number) <= 57) at += 1;
  return at;
}

/** Digits as `Number` reads them, also where they are more than a number can hold. */
function numberOf(bytes: Uint8Array, from: number, end: number): number {
  if (end - from > 15) return Number(Buffer.from(bytes.subarray(from, end)).toString('latin1'));
  let value = 0;
  for (let at = from; at < end; at += 1) value = 10 * value + (bytes[at] as number) - 48;
  return value;
}

/** One line of a hunk; `start` and `end` are offsets in the diff, without mark and line feed. */
interface HunkLine {
  readonly kind: 'added' | 'context' | 'removed';
  /**
   * From 1, on the side that contains the line: the candidate for added and context lines, the base for removed ones.
   */
  readonly line: number;
  /** Counts hunks from 0: lines of different hunks are not neighbours. */
  readonly hunk: number;
  readonly start: number;
  readonly end: number;
}

const lineFeed = 10;
const at = 64;
const plus = 43;
const minus = 45;
const space = 32;

/**
 * Yields every line of the hunks of one changed file, in order. The counts in the hunk header decide where a hunk
 * ends, so content that looks like a header is content. A file without hunks (binary, mode only) yields none.
 */
export function* hunkLines(bytes: Uint8Array, file: Pick<PatchFile, 'start' | 'end'>): Generator<HunkLine> {
  const diff = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let hunk = -1;
  let oldLine = 0;
  let newLine = 0;
  let oldLeft = 0;
  let newLeft = 0;
  for (let start = file.start; start < file.end; ) {
    const feed = diff.indexOf(lineFeed, start);
    const end = feed === -1 || feed >= file.end ? file.end : feed;
    const mark = diff[start];
    if (oldLeft <= 0 && newLeft <= 0) {
      const header = mark === at ? readHunkHeader(diff, start, end) : undefined;
      if (header) {
        hunk += 1;
        ({ oldLine, oldCount: oldLeft, newLine, newCount: newLeft } = header);
      }
    } else if (mark === plus) {
      yield { kind: 'added', line: newLine++, hunk, start: start + 1, end };
      newLeft -= 1;
    } else if (mark === minus) {
      yield { kind: 'removed', line: oldLine++, hunk, start: start + 1, end };
      oldLeft -= 1;
    } else if (mark === space || start === end) {
      yield { kind: 'context', line: newLine++, hunk, start: Math.min(start + 1, end), end };
      oldLine += 1;
      oldLeft -= 1;
      newLeft -= 1;
    }
    start = end + 1;
  }
}

/**
 * A name as git writes it with `core.quotePath` off: C-quoted if it contains quotes, backslashes or control
 * characters. `also` matches further characters that require quoting.
 */
export function quotePath(path: string, also?: RegExp): string {
  if (!special.test(path) && also?.test(path) !== true) return path;
  const body = path.replace(
    new RegExp(special, 'g'),
    (char) => named[char] ?? `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${body}"`;
}

const special = /["\\\u0000-\u001f\u007f]/;
const named: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
};

const escapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/**
 * Decodes a C-quoted name as git writes it (`"a/t\303\244st"`), and returns the number of bytes of `text` it used.
 * Returns `undefined` if the quote is not closed.
 */
export function unquotePath(text: Buffer): { readonly path: string; readonly length: number } | undefined {
  const octets: number[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const octet = text[at] ?? 0;
    if (octet === 0x22) return { path: Buffer.from(octets).toString('utf8'), length: at + 1 };
    if (octet !== 0x5c) {
      octets.push(octet);
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.toString('latin1', at + 1, at + 4))?.[0];
    const simple = escapes[String.fromCharCode(text[at + 1] ?? 0)];
    if (octal !== undefined) octets.push(Number.parseInt(octal, 8));
    else if (simple !== undefined) octets.push(simple);
    else return undefined;
    at += octal === undefined ? 1 : 3;
  }
  return undefined;
}
