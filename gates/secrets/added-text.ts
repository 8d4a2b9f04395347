/* Added lines with context, and the values that were allowed at the base. */
import { scryptSync } from 'node:crypto';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { hunkLines } from '../../readers/diff/read-sections.ts';
import { findSecrets } from '../../readers/sensitive/secrets/find-secrets.ts';
import { addedBinaryLines } from '../source/changed-source.ts';

/** One line of the joined text: where it begins there, and its number in the candidate. */
export interface AddedLine {
  readonly at: number;
  readonly line: number;
  /** False for a line of context, which may hold the name of an added value. */
  readonly isAdded: boolean;
}

export interface AddedText {
  /** Latin1: offsets are bytes. */
  readonly text: string;
  readonly lines: readonly AddedLine[];
}

/**
 * Returns added lines with the context around them, so that multi-line keys and a name above its value are complete.
 * A NUL separates lines that are not adjacent. `undefined` for a binary file if the diff does not contain its
 * content.
 */
export function addedText({ patch }: Pick<RuleInput, 'patch'>, file: PatchFile): AddedText | undefined {
  const parts: string[] = [];
  const lines: AddedLine[] = [];
  let length = 0;
  let previous = 0;
  const add = (line: number, text: string, isAdded = true): void => {
    if (line !== previous + 1) {
      parts.push('\0\n');
      length += 2;
    }
    lines.push({ at: length, line, isAdded });
    parts.push(text, '\n');
    length += text.length + 1;
    previous = line;
  };
  if (file.binary) {
    const added = addedBinaryLines(patch.diff, file);
    if (added === undefined) return undefined;
    // A NUL within a word is not part of it: it may only serve to make the file binary.
    for (const { line, bytes } of added) add(line, bytes.toString('latin1').replaceAll('\0', ''));
  } else {
    const diff = Buffer.from(patch.diff.buffer, patch.diff.byteOffset, patch.diff.byteLength);
    for (const { kind, line, start, end } of hunkLines(patch.diff, file))
      if (kind !== 'removed') add(line, diff.toString('latin1', start, end), kind === 'added');
  }
  return { text: parts.join(''), lines };
}

/** What `[rules.secrets]` of the config at the policy commit allows. */
export interface Allowance {
  /** Why a finding on this value is suppressed; `undefined` if it is not. */
  reasonFor(digest: string, markedLine: boolean): 'config' | 'marker' | undefined;
  digestOf(value: string): string;
  /** What is wrong with the options; each fails the rule. */
  readonly problems: readonly string[];
}

/** On a line, or the line above, at base: the value there is meant to be seen. */
export const marker = 'writ:allow-secret';

const digestForm = /^scrypt:[0-9a-f]{32}$/;
const known = new Set(['allow', 'inline', 'digest_key']);

/**
 * Reads the options `allow` (digests, as findings show them), `inline` (whether `writ:allow-secret` at base counts,
 * default true) and `digest_key`. Digests are stretched and salted with that key: a weak password is not to be guessed
 * from a report.
 */
export function readAllowance(options: Readonly<Record<string, unknown>>): Allowance {
  const { allow = [], inline = true, digest_key: key = '' } = options;
  const problems = Object.keys(options)
    .filter((name) => !known.has(name))
    .map((name) => `\`${name}\` is no option; known are ${[...known].map((one) => `\`${one}\``).join(', ')}`);
  const digests = Array.isArray(allow) ? allow : [];
  if (!Array.isArray(allow) || digests.some((one) => typeof one !== 'string' || !digestForm.test(one)))
    problems.push('`allow` is expected to be a list of `scrypt:` digests as findings show them');
  if (typeof inline !== 'boolean') problems.push('`inline` is expected to be true or false');
  if (typeof key !== 'string') problems.push('`digest_key` is expected to be text');
  const allowed = new Set(digests);
  const made = new Map<string, string>();
  return {
    problems,
    reasonFor(digest, markedLine) {
      if (allowed.has(digest)) return 'config';
      return markedLine && inline === true ? 'marker' : undefined;
    },
    digestOf(value) {
      const before = made.get(value);
      if (before !== undefined) return before;
      const salt = `writ secret finding 1\0${key}`;
      const hex = scryptSync(Buffer.from(value, 'latin1'), salt, 16, { N: 1024, r: 8, p: 1 }).toString('hex');
      const digest = `scrypt:${hex}`;
      made.set(value, digest);
      return digest;
    },
  };
}

const markerBytes = Buffer.from(marker);

/** Values that had a marker at base. */
export interface BaseMarks {
  /** Whether a line that the patch removes held this value, with the marker on it or directly above it. */
  covers(value: string): boolean;
}

/**
 * Finds the marked values that a patch moves, re-indents or renames with their file. It reads only the base side of
 * the diff, never added lines.
 *
 * If the policy commit is not the base, `standing` holds its version of these files, and the value must be marked
 * there too. A value is compared in full, so that an old marker never covers a new secret, wherever lines move. It is
 * read on first use.
 */
export function baseMarks(
  { diff, files }: Pick<PatchSet, 'diff' | 'files'>,
  standing?: RuleInput['standing'],
): BaseMarks {
  let values: ReadonlySet<string> | undefined;
  return {
    covers(value) {
      values ??= readValues(Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength), files, standing);
      return values.has(value);
    },
  };
}

function readValues(
  diff: Buffer,
  files: readonly PatchFile[],
  standing: RuleInput['standing'],
): ReadonlySet<string> {
  const values = new Set<string>();
  for (const file of files) {
    const found = diff.indexOf(markerBytes, file.start);
    if (found === -1) break;
    if (file.binary || found >= file.end) continue;
    const kept = standing && markedIn(standing[file.oldPath ?? file.path]);
    for (const value of markedValues(linesAtBase(diff, file)))
      if (kept?.has(value) ?? true) values.add(value);
  }
  return values;
}

/** Values of a whole file that a marker is beside. */
function markedIn(bytes: Uint8Array | undefined): ReadonlySet<string> {
  if (bytes === undefined) return new Set();
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return markedValues(text.split('\n').map((line) => ({ text: line, hunk: 0, counts: true })));
}

/** What a diff has of a file at base: only values on lines that the patch removes count. */
function* linesAtBase(diff: Buffer, file: PatchFile): Generator<BaseLine> {
  for (const { kind, hunk, start, end } of hunkLines(diff, file))
    if (kind !== 'added')
      yield { text: diff.toString('latin1', start, end), hunk, counts: kind === 'removed' };
}

interface BaseLine {
  readonly text: string;
  /** Lines of different hunks are not adjacent. */
  readonly hunk: number;
  /** A value on it counts, and not only a marker. */
  readonly counts: boolean;
}

function markedValues(base: Iterable<BaseLine>): ReadonlySet<string> {
  const parts: string[] = [];
  const lines: { readonly at: number; readonly marked: boolean }[] = [];
  let length = 0;
  let previous = 0;
  let above = false;
  for (const { text, hunk, counts } of base) {
    if (hunk !== previous) {
      parts.push('\0\n');
      length += 2;
      above = false;
      previous = hunk;
    }
    const here = text.includes(marker);
    lines.push({ at: length, marked: counts && (here || above) });
    parts.push(text, '\n');
    length += text.length + 1;
    above = here;
  }
  const text = parts.join('');
  const values = new Set<string>();
  let index = 0;
  for (const match of findSecrets(Buffer.from(text, 'latin1'), text)) {
    while ((lines[index + 1]?.at ?? Number.POSITIVE_INFINITY) <= match.start) index += 1;
    if (lines[index]?.marked) values.add(match.value ?? text.slice(match.start, match.end));
  }
  return values;
}
