import type { PatchFile, PatchSet } from '../../core/contract/patch-set.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import { hunkLines } from '../../readers/diff/hunk-lines.ts';
import { findSecrets } from '../../readers/sensitive/secrets/find-secrets.ts';
import { marker } from './allowance.ts';

const markerBytes = Buffer.from(marker);

/** Values that stood marked where a patch took them from. */
export interface StandingMarks {
  /** Whether a line that the patch takes away held this value, with the marker on it or right above it. */
  covers(value: string): boolean;
}

/**
 * Which marked values a patch moves, re-indents or renames with their file: what the sides of the diff that stand at
 * base say, and nothing that the patch adds. Where the policy commit is not the base, `standing` holds what it has of
 * these files, and a value counts that is marked there too. A value is known by all of its octets, so that no old
 * marker ever covers a new secret, wherever lines are shifted to. Read when first asked.
 */
export function standingMarks(
  { diff, files }: Pick<PatchSet, 'diff' | 'files'>,
  standing?: RuleInput['standing'],
): StandingMarks {
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
  /** Lines of different hunks are no neighbours. */
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
