/* The text of one side of a changed file, and its language. */
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { binarySides } from '../../readers/diff/binary-sides.ts';
import { hunkLines } from '../../readers/diff/read-sections.ts';
import { firstIndex } from '../../readers/source/first-index.ts';
import { type Language, languageOf } from '../../readers/source/language.ts';

/** Larger files are read through the diff alone. */
const maxWholeBytes = 2 * 1024 * 1024;
const maxFirstLine = 200;

interface Position {
  readonly line: number;
  /** UTF-16 columns from 1. */
  readonly column: number;
}

/** One side of a changed file as text in which an index is a byte offset (latin1). */
export interface ChangedSource {
  readonly path: string;
  readonly language: Language;
  readonly text: string;
  /** False if only the lines of the diff are known. Then it is uncertain whether a hunk starts inside a comment. */
  readonly whole: boolean;
  /** Whether the patch added the line at an offset. */
  isAdded(offset: number): boolean;
  /** Costs the length of the line. */
  positionOf(offset: number): Position;
}

/** True for regular files that the candidate holds: no symlink, no submodule, not deleted. */
export function isRegularCandidate(file: PatchFile): boolean {
  return file.changeType !== 'delete' && (file.newMode === undefined || file.newMode.startsWith('100'));
}

/** Language of a changed file; a first line is known where the content is or where a hunk starts at line 1. */
export function languageOfChange(input: RuleInput, file: PatchFile): Language | undefined {
  return languageOf(file.path) ?? languageOf(file.path, firstLine(input, file, 'candidate'));
}

/**
 * Whether a file that was no source of this language is it now: by a new name, by a first line that names an
 * interpreter, or because a script that only its first line makes one can be executed.
 */
function becomesCode(input: RuleInput, file: PatchFile, language: Language): boolean {
  if (file.changeType === 'add') return false;
  const before = file.oldPath ?? file.path;
  const named = languageOf(before);
  if (named !== undefined) return named !== language;
  if (languageOf(file.path) !== undefined) return true;
  const isMadeExecutable = isExecutable(file.newMode) && !isExecutable(file.oldMode);
  return isMadeExecutable || languageOf(before, firstLine(input, file, 'base')) !== language;
}

function isExecutable(mode: string | undefined): boolean {
  return mode === '100755';
}

/** The first line of a side as the content or the hunks show it; empty where neither does. */
function firstLine(input: RuleInput, file: PatchFile, side: 'base' | 'candidate'): string {
  const content = input.files[file.path]?.[side];
  if (content) return asBuffer(content).toString('latin1', 0, Math.min(content.length, maxFirstLine));
  const other = side === 'base' ? 'added' : 'removed';
  for (const { kind, line, start, end } of hunkLines(input.patch.diff, file))
    if (kind !== other)
      return line > 1
        ? ''
        : asBuffer(input.patch.diff).toString('latin1', start, Math.min(end, start + maxFirstLine));
  return '';
}

/**
 * The candidate side: the whole file where its content was given, else the hunks. All lines of a binary file, and of a
 * file that becomes code, count as added; `undefined` where neither content nor hunks exist.
 */
export function candidateSource(
  input: RuleInput,
  file: PatchFile,
  language: Language,
): ChangedSource | undefined {
  const content = input.files[file.path]?.candidate;
  const isAll = file.binary || becomesCode(input, file, language);
  if (content && content.length <= maxWholeBytes)
    return toSource(file.path, language, asBuffer(content).toString('latin1'), {
      whole: true,
      isAdded: isAll ? () => true : isAmong(addedLines(input, file)),
    });
  if (file.binary) return undefined;
  return hunkSource(input, file, language, 'added', isAll);
}

/** The base side, under the same rules; lines that the patch removed count as `added`. */
export function baseSource(input: RuleInput, file: PatchFile, language: Language): ChangedSource | undefined {
  const content = input.files[file.path]?.base;
  if (content && content.length <= maxWholeBytes)
    return toSource(file.path, language, asBuffer(content).toString('latin1'), {
      whole: true,
      isAdded: () => false,
    });
  if (file.changeType === 'add' || file.binary) return undefined;
  return hunkSource(input, file, language, 'removed');
}

function addedLines(input: RuleInput, file: PatchFile): ReadonlySet<number> {
  const added = new Set<number>();
  for (const { kind, line } of hunkLines(input.patch.diff, file)) if (kind === 'added') added.add(line - 1);
  return added;
}

function isAmong(indexes: ReadonlySet<number>): (index: number) => boolean {
  return (index) => indexes.has(index);
}

function hunkSource(
  input: RuleInput,
  file: PatchFile,
  language: Language,
  changed: 'added' | 'removed',
  isAll = false,
): ChangedSource {
  const diff = asBuffer(input.patch.diff);
  const parts: string[] = [];
  const numbers: number[] = [];
  const marks = new Set<number>();
  let last = 0;
  // A diff that adds or deletes a file holds all of it.
  const whole = file.changeType === (changed === 'added' ? 'add' : 'delete');
  for (const { kind, line, hunk, start, end } of hunkLines(input.patch.diff, file)) {
    if (kind !== 'context' && kind !== changed) continue;
    if (hunk !== last && !whole) {
      // An empty line keeps what is not adjacent apart.
      parts.push('');
      numbers.push(line);
      last = hunk;
    }
    if (kind === changed) marks.add(parts.length);
    parts.push(diff.toString('latin1', start, end));
    numbers.push(line);
  }
  return toSource(file.path, language, parts.join('\n'), {
    whole,
    isAdded: isAll ? () => true : isAmong(marks),
    numbers,
  });
}

/** `isAdded` is called with the index of a line; `numbers` of the lines, where they are not one behind the other. */
function toSource(
  path: string,
  language: Language,
  text: string,
  {
    whole,
    isAdded,
    numbers,
  }: {
    readonly whole: boolean;
    readonly isAdded: (index: number) => boolean;
    readonly numbers?: readonly number[];
  },
): ChangedSource {
  const starts = lineStarts(text);
  return {
    path,
    language,
    text,
    whole,
    isAdded: (offset) => isAdded(lineIndex(starts, offset)),
    positionOf(offset) {
      const index = lineIndex(starts, offset);
      const before = Buffer.from(text.slice(starts[index] ?? 0, offset), 'latin1').toString('utf8');
      return { line: numbers ? (numbers[index] ?? 1) : index + 1, column: before.length + 1 };
    },
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let feed = text.indexOf('\n'); feed !== -1; feed = text.indexOf('\n', feed + 1)) starts.push(feed + 1);
  return starts;
}

/** Index of the last line that starts at or before `offset`. */
function lineIndex(starts: readonly number[], offset: number): number {
  return Math.max(0, firstIndex(starts.length, (index) => (starts[index] ?? 0) <= offset) - 1);
}

/** A line of a file that git treats as binary, with its number; always 1 if the diff lacks a side. */
interface BinaryLine {
  readonly line: number;
  /** UTF-8, without its line feed. */
  readonly bytes: Buffer;
}

const texts =
  /(?:\.(?:json5?|jsonl|ndjson|xml|html?|svg|pem|key|p8|pub|ppk|crt|asc|gpg|css|scss|graphql|proto|lock|map|vue|svelte|ipynb|plist|gradle|cmake|mk|tpl|tmpl|j2|diff|patch)|(?:^|\/)(?:Makefile|LICENSE|README|id_[a-z0-9]+))$/i;

const dataNames =
  /(?:^|\/)(?:\.env(?:[.-][\w.-]{1,40})?|[\w.-]{0,80}\.env|\.(?:npmrc|pypirc|netrc|pgpass|dockercfg|s3cfg|boto)|_netrc|netrc|credentials|Dockerfile[\w.-]{0,40}|[\w.-]{0,80}\.Dockerfile|[\w.-]{0,120}\.(?:ini|cfg|conf|config|cnf|properties|ya?ml|toml|tfvars|env|sh|bash|zsh|bat|cmd|ps1|service|txt|log|md|rst|adoc|csv|tsv|sql|http|rest))$/i;

/** Whether `name = value` without quotes is a value in files of this kind; in program text it is an expression. */
export function isDataFile(path: string): boolean {
  return dataNames.test(path);
}

/** Whether a name indicates a text file: a NUL in it must not hide its content. */
export function isNamedAsText(path: string): boolean {
  return isDataFile(path) || languageOf(path) !== undefined || texts.test(path);
}

/** The lines that a change adds to a file that git treats as binary, if the diff has them; UTF-16 is decoded. */
export function addedBinaryLines(diff: PatchSet['diff'], file: PatchFile): readonly BinaryLine[] | undefined {
  const sides = binarySides(diff, file);
  if (sides === undefined) return undefined;
  if (sides.inserted) return linesOf(sides.inserted).map(({ bytes }) => ({ bytes, line: 1 }));
  const known = new Map<string, number>();
  for (const { bytes } of linesOf(sides.base)) {
    const text = bytes.toString('latin1');
    known.set(text, (known.get(text) ?? 0) + 1);
  }
  return linesOf(sides.candidate).filter(({ bytes }) => {
    if (known.size === 0) return true;
    const text = bytes.toString('latin1');
    const left = known.get(text) ?? 0;
    if (left > 0) known.set(text, left - 1);
    return left === 0;
  });
}

function linesOf(side: Buffer | undefined): readonly BinaryLine[] {
  if (side === undefined) return [];
  const text = asUtf8(side);
  const lines: BinaryLine[] = [];
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf(10, start);
    const end = feed < 0 ? text.length : feed;
    lines.push({ line: lines.length + 1, bytes: text.subarray(start, end) });
    start = end + 1;
  }
  return lines;
}

function asUtf8(side: Buffer): Buffer {
  const mark = side.length >= 2 ? side.readUInt16BE(0) : 0;
  if (mark !== 0xfffe && mark !== 0xfeff) return side;
  const paired = Buffer.from(side.subarray(0, side.length - (side.length % 2)));
  return Buffer.from((mark === 0xfffe ? paired : paired.swap16()).toString('utf16le'));
}
