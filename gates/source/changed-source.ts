import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import { hunkLines } from '../../readers/diff/hunk-lines.ts';
import { type Language, languageOf } from '../../readers/source/language.ts';

/** Larger files are read through the diff alone. */
const maxWholeBytes = 2 * 1024 * 1024;

export interface Position {
  readonly line: number;
  /** UTF-16 columns from 1. */
  readonly column: number;
}

/** One side of a changed file as text in which an index is a byte offset (latin1). */
export interface ChangedSource {
  readonly path: string;
  readonly language: Language;
  readonly text: string;
  /** False where only the lines of the diff are known, so that nothing tells whether a hunk starts inside a comment. */
  readonly whole: boolean;
  /** Whether the patch added the line on which an offset stands. */
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
  const named = languageOf(file.path);
  if (named !== undefined) return named;
  const content = input.files[file.path]?.candidate;
  if (content)
    return languageOf(file.path, asBuffer(content).toString('latin1', 0, Math.min(content.length, 200)));
  const diff = asBuffer(input.patch.diff);
  for (const line of hunkLines(input.patch.diff, file)) {
    if (line.kind === 'removed') continue;
    if (line.line > 1) break;
    return languageOf(file.path, diff.toString('latin1', line.start, Math.min(line.end, line.start + 200)));
  }
  return undefined;
}

/**
 * Whether a file that was no source of this language is it now: by a new name, by a first line that names an
 * interpreter, or because a script that only its first line makes one can be executed.
 */
export function becomesCode(input: RuleInput, file: PatchFile, language: Language): boolean {
  if (file.changeType === 'add') return false;
  const before = file.oldPath ?? file.path;
  const named = languageOf(before);
  if (named !== undefined) return named !== language;
  if (languageOf(file.path) !== undefined) return true;
  const isMadeExecutable = isExecutable(file.newMode) && !isExecutable(file.oldMode);
  return isMadeExecutable || languageOf(before, baseLine(input, file)) !== language;
}

function isExecutable(mode: string | undefined): boolean {
  return mode === '100755';
}

/** The first line of the base as the content or the hunks show it; empty when neither does. */
function baseLine(input: RuleInput, file: PatchFile): string {
  const content = input.files[file.path]?.base;
  if (content) return asBuffer(content).toString('latin1', 0, Math.min(content.length, 200));
  const diff = asBuffer(input.patch.diff);
  for (const line of hunkLines(input.patch.diff, file)) {
    if (line.line > 1) break;
    if (line.kind !== 'added')
      return diff.toString('latin1', line.start, Math.min(line.end, line.start + 200));
  }
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
  if (content && content.length <= maxWholeBytes) {
    const added = becomesCode(input, file, language) ? 'all' : addedLines(input, file);
    return wholeSource(file.path, language, asBuffer(content).toString('latin1'), added);
  }
  if (file.binary) return undefined;
  return hunkSource(input, file, language, 'added');
}

/** The base side, under the same rules; lines that the patch removed count as `added`. */
export function baseSource(input: RuleInput, file: PatchFile, language: Language): ChangedSource | undefined {
  const content = input.files[file.path]?.base;
  if (content && content.length <= maxWholeBytes)
    return wholeSource(file.path, language, asBuffer(content).toString('latin1'), new Set());
  if (file.changeType === 'add' || file.binary) return undefined;
  return hunkSource(input, file, language, 'removed');
}

function addedLines(input: RuleInput, file: PatchFile): ReadonlySet<number> | 'all' {
  if (file.binary) return 'all';
  const added = new Set<number>();
  for (const line of hunkLines(input.patch.diff, file)) if (line.kind === 'added') added.add(line.line);
  return added;
}

function wholeSource(
  path: string,
  language: Language,
  text: string,
  added: ReadonlySet<number> | 'all',
): ChangedSource {
  const starts = lineStarts(text);
  return {
    path,
    language,
    text,
    whole: true,
    isAdded: (offset) => added === 'all' || added.has(lineIndex(starts, offset) + 1),
    positionOf(offset) {
      const index = lineIndex(starts, offset);
      return toPosition(text, starts[index] ?? 0, offset, index + 1);
    },
  };
}

function hunkSource(
  input: RuleInput,
  file: PatchFile,
  language: Language,
  changed: 'added' | 'removed',
): ChangedSource {
  const diff = asBuffer(input.patch.diff);
  const parts: string[] = [];
  const numbers: number[] = [];
  const marks: boolean[] = [];
  let hunk = 0;
  // A diff that adds or deletes a file holds all of it.
  const whole = file.changeType === (changed === 'added' ? 'add' : 'delete');
  for (const line of hunkLines(input.patch.diff, file)) {
    if (line.kind !== 'context' && line.kind !== changed) continue;
    if (line.hunk !== hunk && !whole) {
      // An empty line keeps what is not adjacent apart.
      parts.push('');
      numbers.push(line.line);
      marks.push(false);
      hunk = line.hunk;
    }
    parts.push(diff.toString('latin1', line.start, line.end));
    numbers.push(line.line);
    marks.push(line.kind === changed);
  }
  const text = parts.join('\n');
  const isAll = changed === 'added' && becomesCode(input, file, language);
  const starts = lineStarts(text);
  return {
    path: file.path,
    language,
    text,
    whole,
    isAdded: (offset) => isAll || (marks[lineIndex(starts, offset)] ?? false),
    positionOf(offset) {
      const index = lineIndex(starts, offset);
      return toPosition(text, starts[index] ?? 0, offset, numbers[index] ?? 1);
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
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function toPosition(text: string, lineStart: number, offset: number, line: number): Position {
  const column = Buffer.from(text.slice(lineStart, offset), 'latin1').toString('utf8').length + 1;
  return { line, column };
}
