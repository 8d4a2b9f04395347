import type { ScanIgnore } from '../../core/contract/scanner.ts';
import { baselineProperty } from '../formats/cyclonedx.ts';
import { isObject, type JsonObject, objectsOf } from '../formats/read-json.ts';

/** Indexes count results over all runs of a document. */
export interface ScanMarks {
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
 * A VDR with the property `writ:baseline-state` of each vulnerability, in place of its own: `unchanged` if the base has
 * it in all the packages that it affects, else `new`.
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
