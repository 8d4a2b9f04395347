/* Matches differences with section `differential` of `fixtures/compatibility/changes.json`. */
import { readFileSync } from 'node:fs';
import type { Difference } from './differences.ts';
import { isRecord, type Json } from './json.ts';

/** A difference of a case. */
export interface Found extends Difference {
  readonly corpus: string;
  readonly case: string;
}

/**
 * A difference that is wanted. In `case` and `path`, and in `old` and `new` where they are text, `*` stands for any
 * text. A side that is left out means that there is no such member.
 */
export interface Change {
  readonly corpus: string;
  readonly case: string;
  readonly path: string;
  readonly old?: Json;
  readonly new?: Json;
  readonly reason: string;
}

export interface Explained {
  /** Differences that no entry explains. */
  readonly unexplained: readonly Found[];
  readonly explained: number;
  /** Entries that no difference needed. */
  readonly unneeded: readonly Change[];
}

/** Reads the section from the text of `changes.json`. Throws an Error that names the first malformed entry. */
export function parseChanges(text: string): readonly Change[] {
  const { differential = [] } = JSON.parse(text) as { readonly differential?: Json };
  if (!Array.isArray(differential)) throw new Error('changes.json: `differential` is not a list');
  return differential.map((entry: Json, index) => {
    const fault = faultOf(entry);
    if (fault !== undefined) throw new Error(`changes.json: entry ${index} of \`differential\` ${fault}`);
    return entry as unknown as Change;
  });
}

/** The section as it is in the repository. */
export function readChanges(): readonly Change[] {
  return parseChanges(
    readFileSync(new URL('../../fixtures/compatibility/changes.json', import.meta.url), 'utf8'),
  );
}

/** Divides differences into explained and unexplained ones. Entries of a corpus that was not run are left alone. */
export function explain(
  found: readonly Found[],
  changes: readonly Change[],
  corpora: readonly string[],
): Explained {
  const matchers = changes.map((change) => ({ change, matches: matcherOf(change), isNeeded: false }));
  const unexplained = found.filter((one) => {
    const fitting = matchers.filter(({ matches }) => matches(one));
    for (const matcher of fitting) matcher.isNeeded = true;
    return fitting.length === 0;
  });
  return {
    unexplained,
    explained: found.length - unexplained.length,
    unneeded: matchers.flatMap(({ change, isNeeded }) =>
      isNeeded || !corpora.includes(change.corpus) ? [] : [change],
    ),
  };
}

const members = ['corpus', 'case', 'path', 'old', 'new', 'reason'];

function faultOf(entry: Json): string | undefined {
  if (!isRecord(entry)) return 'is not an object';
  for (const name of ['corpus', 'case', 'path', 'reason'])
    if (typeof entry[name] !== 'string' || entry[name] === '') return `has no text \`${name}\``;
  const unknown = Object.keys(entry).find((name) => !members.includes(name));
  if (unknown !== undefined) return `has an unknown member \`${unknown}\``;
  if (entry.old === undefined && entry.new === undefined) return 'has neither `old` nor `new`';
  // Such an entry would explain every later difference, too.
  if (entry.old === '*' && entry.new === '*') return 'allows any change: say `old` or `new`';
  return undefined;
}

function matcherOf(change: Change): (found: Found) => boolean {
  const isCase = pattern(change.case);
  const isPath = pattern(change.path);
  const [isOld, isNew] = [side(change.old), side(change.new)];
  return (found) =>
    found.corpus === change.corpus &&
    isCase(found.case) &&
    isPath(found.path) &&
    isOld(found.old) &&
    isNew(found.new);
}

function side(wanted: Json | undefined): (value: Json | undefined) => boolean {
  if (typeof wanted !== 'string') {
    const text = JSON.stringify(wanted);
    return (value) => JSON.stringify(value) === text;
  }
  const matches = pattern(wanted);
  return (value) => value !== undefined && matches(typeof value === 'string' ? value : JSON.stringify(value));
}

function pattern(text: string): (value: string) => boolean {
  const parts = text.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const compiled = new RegExp(`^${parts.join('.*')}$`, 's');
  return (value) => compiled.test(value);
}
