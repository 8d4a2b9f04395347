import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import { hunkLines } from '../../readers/diff/read-sections.ts';
import type { SarifFinding } from '../../readers/documents/sarif/build-sarif.ts';

const reach = 2;
const maxTextBytes = 400;

/** Adds the lines around each finding of these rules, read from the diff in one walk per file that has any. */
export function showAround(
  findings: readonly Finding[],
  diff: Uint8Array,
  files: readonly PatchFile[],
  rules: readonly Pick<Rule, 'id' | 'findsSecrets'>[],
): readonly ScannedFinding[] {
  const ofSecrets = new Set(rules.filter(({ findsSecrets }) => findsSecrets).map(({ id }) => id));
  const hidden = secretColumns(findings.filter(({ rule }) => ofSecrets.has(rule)));
  const byPath = new Map(files.map((file) => [file.path, file]));
  const around = new Map<string, Map<number, NonNullable<ScannedFinding['around']>[number]>>();
  for (const [path, wanted] of wantedLines(findings)) {
    const file = byPath.get(path);
    if (!file) continue;
    const found = new Map<number, NonNullable<ScannedFinding['around']>[number]>();
    for (const { kind, line, start, end } of hunkLines(diff, file)) {
      if (kind === 'removed' || !wanted.has(line)) continue;
      const whole = Buffer.from(diff.buffer, diff.byteOffset).toString(
        'utf8',
        start,
        Math.min(end, start + maxTextBytes),
      );
      const column = hidden.get(path)?.get(line);
      const text = column === undefined ? whole.replace(/\r$/, '') : `${whole.slice(0, column - 1)}[…]`;
      found.set(line, { line, text, added: kind === 'added' });
    }
    around.set(path, found);
  }
  return findings.map((finding) => {
    const found = finding.path === undefined ? undefined : around.get(finding.path);
    if (!found || finding.line === undefined) return finding;
    // What follows a secret may be the rest of it.
    const shown = ofSecrets.has(finding.rule) ? [finding.line] : near(finding.line);
    const lines = shown.flatMap((line) => found.get(line) ?? []);
    return lines.length === 0 ? finding : { ...finding, around: lines };
  });
}

/** First column of each secret that was found, by path and line: no frame shows what a rule refused as one. */
function secretColumns(findings: readonly Finding[]): ReadonlyMap<string, ReadonlyMap<number, number>> {
  const columns = new Map<string, Map<number, number>>();
  for (const { path, line, column = 1 } of findings) {
    if (path === undefined || line === undefined) continue;
    const lines = columns.get(path) ?? new Map<number, number>();
    lines.set(line, Math.min(column, lines.get(line) ?? column));
    columns.set(path, lines);
  }
  return columns;
}

function wantedLines(findings: readonly Finding[]): ReadonlyMap<string, ReadonlySet<number>> {
  const wanted = new Map<string, Set<number>>();
  for (const { path, line } of findings) {
    if (path === undefined || line === undefined) continue;
    const lines = wanted.get(path) ?? new Set();
    for (const one of near(line)) lines.add(one);
    wanted.set(path, lines);
  }
  return wanted;
}

function near(line: number): readonly number[] {
  return Array.from({ length: 2 * reach + 1 }, (_, index) => line - reach + index);
}

/** A finding with the lines around it, for a code frame and for a fingerprint that survives moved lines. */
export interface ScannedFinding extends Finding {
  /** Lines of the candidate around `line`, in order; lines far from any change are not known. */
  readonly around?: readonly { readonly line: number; readonly text: string; readonly added: boolean }[];
}

/** Findings with the text of their own line where it is known, which makes their fingerprints survive moved lines. */
export function withLineText(findings: readonly ScannedFinding[]): readonly SarifFinding[] {
  return findings.map(({ around, ...finding }) => {
    const lineText = around?.find(({ line }) => line === finding.line)?.text;
    return lineText === undefined ? finding : { ...finding, lineText };
  });
}
