/* Matches a scanner's results of candidate and base, and marks the reports. */
import type { ScanIgnore } from '../../core/interfaces/scanner.ts';
import { baselineProperty, isObject, type JsonObject, objectsOf } from '../formats/documents.ts';
import type { ScanResult } from './read-scan.ts';

/** A result, and where its text is. */
export interface PlacedResult extends ScanResult {
  /** The lines that it is about, without blanks; its message if they are not known. */
  readonly text: string;
  /** Names of the enclosing function and classes; empty at the top of a file. */
  readonly within: string;
  /** The next lines above and below that are not blank. */
  readonly before: string;
  readonly after: string;
}

/** Lines of text that a result is compared by; a longer region is cut. */
const maxLines = 20;
const maxLineLength = 2000;

/** Finds the text of a result in the lines of its file. */
export function placeResult(result: ScanResult, lines: readonly string[] | undefined): PlacedResult {
  const { line, endLine = line, snippet, message, symbol } = result;
  if (line === undefined || endLine === undefined || lines === undefined || line > lines.length)
    return { ...result, text: normal(snippet ?? message), within: symbol ?? '', before: '', after: '' };
  const last = Math.max(line, Math.min(endLine, line + maxLines - 1, lines.length));
  return {
    ...result,
    text: lines
      .slice(line - 1, last)
      .map(normal)
      .join('\n'),
    within: symbol ?? enclosing(lines, line),
    before: normal(lines.slice(0, line - 1).findLast(isWritten) ?? ''),
    after: normal(lines.slice(last, last + maxLines).find(isWritten) ?? ''),
  };
}

/**
 * What two results have to share to be the same one, from the strictest comparison to the loosest: enclosing symbol, or
 * outside any symbol one neighbouring line; a function that moved to another file keeps its results.
 */
const comparisons: readonly ((result: PlacedResult) => readonly string[] | undefined)[] = [
  ({ path, within, before, after }) => [path ?? '', within, before, after],
  ({ path, within }) => (within === '' ? undefined : [path ?? '', within]),
  ({ path, within, before }) => (within !== '' || before === '' ? undefined : [path ?? '', before]),
  ({ path, within, after }) => (within !== '' || after === '' ? undefined : [path ?? '', '', after]),
  ({ within }) => (within === '' ? undefined : [within]),
];

/**
 * Matches results of the candidate with those of the base, each at most once. Answers the indexes of results that are
 * new, and of those of the base that are gone.
 */
export function matchScans(
  base: readonly PlacedResult[],
  candidate: readonly PlacedResult[],
): { readonly fresh: ReadonlySet<number>; readonly absent: ReadonlySet<number> } {
  const fresh = new Set(candidate.keys());
  const absent = new Set(base.keys());
  for (const compared of comparisons) {
    const keyOf = (result: PlacedResult | undefined): string | undefined => {
      const parts = result && compared(result);
      return parts && JSON.stringify([result.rule, result.about, result.text, ...parts]);
    };
    const left = Map.groupBy(absent, (index) => keyOf(base[index]));
    for (const index of fresh) {
      const key = keyOf(candidate[index]);
      const same = key === undefined ? undefined : left.get(key)?.shift();
      if (same === undefined) continue;
      fresh.delete(index);
      absent.delete(same);
    }
  }
  return { fresh, absent };
}

const named =
  /\b(?:class|interface|struct|impl|trait|module|namespace|object|enum|def|function|func|fn|fun|sub|proc)\s+(?:\([^()]*\)\s*)?([\p{L}\p{N}_$.:]+)/u;
const assigned =
  /^\s*(?:export\s+)?(?:(?:const|let|var|static)\s+)?([\p{L}\p{N}_$.]+)\s*[:=]\s*(?:async\s*)?(?:function\b|\(|[\p{L}_$]+\s*=>)/u;
const method = /^\s*(?:[\p{L}\p{N}_$<>,[\]?*&]+\s+)*([\p{L}\p{N}_$]+)\s*\([^;]*$/u;
const branches =
  /^\s*(?:\}\s*)?(?:if|else|elif|for|foreach|while|until|switch|match|case|catch|try|with|do|return|unless|when)\b/;
const maxHeadLength = 300;

/** Names of functions and classes around a line, outermost first, by indentation: it needs no grammar. */
function enclosing(lines: readonly string[], line: number): string {
  const names: string[] = [];
  let indent = indentOf(lines[line - 1] ?? '');
  for (let at = line - 2; at >= 0 && indent > 0; at -= 1) {
    const text = lines[at] ?? '';
    if (!isWritten(text) || indentOf(text) >= indent) continue;
    indent = indentOf(text);
    const name = nameIn(text.slice(0, maxHeadLength));
    if (name !== undefined) names.unshift(name);
  }
  return names.join('.');
}

function nameIn(head: string): string | undefined {
  if (branches.test(head)) return undefined;
  return (named.exec(head) ?? assigned.exec(head) ?? method.exec(head))?.[1];
}

function indentOf(text: string): number {
  return text.replaceAll('\t', '        ').search(/\S/);
}

function isWritten(text: string): boolean {
  return /\S/.test(text);
}

function normal(text: string): string {
  return text.slice(0, maxLineLength).replace(/\s+/g, ' ').trim();
}

/** Indexes count results over all runs of a document. */
interface ScanMarks {
  readonly fresh: ReadonlySet<number>;
  readonly ignored: ReadonlyMap<number, ScanIgnore>;
  /** Of the base. */
  readonly absent: ReadonlySet<number>;
  readonly base: JsonObject | undefined;
}

/**
 * The report with `baselineState` of each result (SARIF 3.27.24), the suppressions of the policy commit in place of its
 * own (3.35), and in its first run the results of the base that are gone.
 */
export function markSarif(document: JsonObject, { fresh, ignored, absent, base }: ScanMarks): Uint8Array {
  let next = 0;
  const runs = objectsOf(document.runs).map((run) => {
    const results = objectsOf(run.results).map(({ suppressions: _own, ...result }) => {
      const index = next++;
      const entry = ignored.get(index);
      const baselineState = fresh.has(index) ? 'new' : 'unchanged';
      return { ...result, baselineState, ...(entry ? { suppressions: [toSuppression(entry)] } : {}) };
    });
    return { ...run, results };
  });
  const gone = objectsOf(base?.runs)
    .flatMap((run) => objectsOf(run.results))
    .filter((_, index) => absent.has(index))
    // Indexes mean the rules and files of another run.
    .map(({ rule, locations, ruleId, level, kind, message }) => ({
      ruleId: ruleId ?? (isObject(rule) ? rule.id : undefined),
      level,
      kind,
      message,
      locations: withoutIndexes(locations),
      baselineState: 'absent',
    }));
  const [first, ...others] = runs;
  const marked = first === undefined ? [] : [{ ...first, results: [...first.results, ...gone] }, ...others];
  return Buffer.from(`${JSON.stringify({ ...document, runs: marked }, undefined, 2)}\n`);
}

/**
 * Sets the property `writ:baseline-state` of each vulnerability in a VDR and replaces the document's own value. It is
 * `unchanged` if the base has the vulnerability in all affected packages, otherwise `new`.
 */
export function markVdr(document: JsonObject, fresh: ScanMarks['fresh']): Uint8Array {
  let next = 0;
  const vulnerabilities = objectsOf(document.vulnerabilities).map((one) => {
    const results = Math.max(1, objectsOf(one.affects).length);
    const isNew = Array.from({ length: results }, () => next++).some((index) => fresh.has(index));
    const others = objectsOf(one.properties).filter(({ name }) => name !== baselineProperty);
    const state = { name: baselineProperty, value: isNew ? 'new' : 'unchanged' };
    return { ...one, properties: [...others, state] };
  });
  return Buffer.from(`${JSON.stringify({ ...document, vulnerabilities }, undefined, 2)}\n`);
}

function toSuppression({ owner, until, reason }: ScanIgnore): object {
  return { kind: 'external', status: 'accepted', justification: `${reason} (${owner}, until ${until})` };
}

function withoutIndexes(locations: unknown): unknown {
  const text = JSON.stringify(locations ?? [], (key, value) => (key === 'index' ? undefined : value));
  return JSON.parse(text);
}
