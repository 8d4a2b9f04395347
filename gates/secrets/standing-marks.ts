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
    for (const value of markedAtBase(diff, file)) if (kept?.has(value) ?? true) values.add(value);
  }
  return values;
}

/** Values of a whole file that a marker stands beside. */
function markedIn(bytes: Uint8Array | undefined): ReadonlySet<string> {
  const values = new Set<string>();
  if (bytes === undefined) return values;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const lines: { readonly at: number; readonly marked: boolean }[] = [];
  let at = 0;
  let above = false;
  for (const line of text.split('\n')) {
    const here = line.includes(marker);
    lines.push({ at, marked: here || above });
    at += line.length + 1;
    above = here;
  }
  let index = 0;
  for (const match of findSecrets(Buffer.from(text, 'latin1'), text)) {
    while ((lines[index + 1]?.at ?? Number.POSITIVE_INFINITY) <= match.start) index += 1;
    if (lines[index]?.marked) values.add(match.value ?? text.slice(match.start, match.end));
  }
  return values;
}

interface BaseLine {
  readonly at: number;
  readonly removed: boolean;
  readonly marked: boolean;
}

function* markedAtBase(diff: Buffer, file: PatchFile): Generator<string> {
  const parts: string[] = [];
  const lines: BaseLine[] = [];
  let length = 0;
  let hunk = 0;
  let above = false;
  for (const line of hunkLines(diff, file)) {
    if (line.kind === 'added') continue;
    if (line.hunk !== hunk) {
      // Lines of different hunks are no neighbours.
      parts.push('\0\n');
      length += 2;
      above = false;
      hunk = line.hunk;
    }
    const text = diff.toString('latin1', line.start, line.end);
    const here = text.includes(marker);
    lines.push({ at: length, removed: line.kind === 'removed', marked: here || above });
    parts.push(text, '\n');
    length += text.length + 1;
    above = here;
  }
  const text = parts.join('');
  let index = 0;
  for (const match of findSecrets(Buffer.from(text, 'latin1'), text)) {
    while ((lines[index + 1]?.at ?? Number.POSITIVE_INFINITY) <= match.start) index += 1;
    const line = lines[index];
    if (line?.removed && line.marked) yield match.value ?? text.slice(match.start, match.end);
  }
}
