import { readTests, type TestCase } from '../new-tests/test-cases.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import type { Language } from '../source/language.ts';
import { assertionsIn, withoutTrivial } from './assertions.ts';
import { earlyReturn } from './early-return.ts';
import { helpersThatAssert } from './helpers-that-assert.ts';
import { focusMarks, skipMarks } from './skip-marks.ts';

/** A declared case with what can be seen of whether it judges anything. */
export interface InventoryCase extends TestCase {
  readonly path: string;
  readonly language: Language;
  /** Assertions that are reached, and those behind a return that always happens. */
  readonly assertions: number;
  readonly unreached: number;
  /** Marks on it or in it by which it may be left out. */
  readonly skips: number;
  /** Other code is called that may assert: its file shows it. */
  callsHelper(): boolean;
  /** Something is left of its body without what is never reached and assertions that can never fail. */
  saysAnything(): boolean;
  readonly source: ChangedSource;
}

/** What one side of a test file holds. */
export interface TestInventory {
  readonly path: string;
  readonly source: ChangedSource;
  readonly code: string;
  readonly cases: readonly InventoryCase[];
  /** Offsets of marks that stand on no case: they may leave out a group, or the whole file. */
  readonly skips: readonly number[];
  readonly focuses: readonly number[];
}

const indented: ReadonlySet<Language> = new Set(['python', 'ruby', 'elixir']);
const maxHeadBytes = 600;
const maxBodyBytes = 20_000;
const maxFollowedBytes = 3_000_000;

/** Reads one side of a test file. */
export function testInventory(source: ChangedSource, language: Language): TestInventory {
  const { cases: declared, code } = readTests(source, language);
  const asserted = assertionsIn(code, language);
  const marks = skipMarks(code, source.text, language);
  let helpers: ReadonlySet<string> | undefined;
  const onCases = new Set<number>();
  let before = 0;
  // Cases may stand in cases, thousands deep.
  let left = maxFollowedBytes;
  const cases = declared.map((one): InventoryCase => {
    const end = one.inside === undefined && indented.has(language) ? endByIndent(code, one) : one.end;
    const head = headOf(code, one.start, before, language);
    before = Math.max(before, language === 'shell' ? one.start : end);
    const cut = (left > 0 ? earlyReturn(code, { ...one, end }, language) : undefined) ?? end;
    left -= end - one.start;
    for (const at of marks) if (at >= head && at < end) onCases.add(at);
    return {
      ...one,
      end,
      path: source.path,
      language,
      assertions: within(asserted, one.start, cut),
      unreached: within(asserted, cut, end),
      skips: within(marks, head, end),
      saysAnything() {
        if (one.inside === undefined && !indented.has(language)) return true;
        const from = one.inside ?? lineEnd(code, one.start);
        const to = Math.min(cut, from + maxBodyBytes);
        // A body on the line of its name cannot be told from it.
        return from >= to || /\w/.test(withoutTrivial(code.slice(from, to)).replace(/\b(?:end|done)\b/g, ''));
      },
      callsHelper() {
        helpers ??= helpersThatAssert(code, asserted, new Set(declared.map(({ name }) => name)));
        return calls(code.slice(one.start, Math.min(cut, one.start + maxBodyBytes)), helpers);
      },
      source,
    };
  });
  return {
    path: source.path,
    source,
    code,
    cases,
    skips: marks.filter((at) => !onCases.has(at) && (language !== 'rust' || isOnTestModule(code, at))),
    focuses: focusMarks(code, language),
  };
}

/** Where the lines begin that say something of a case before it is named. */
function headOf(code: string, start: number, before: number, language: Language): number {
  let head = code.lastIndexOf('\n', start - 1) + 1;
  const least = Math.max(before, start - maxHeadBytes, 0);
  if (language !== 'rust') return Math.min(start, Math.max(least, 0));
  while (head > least) {
    const above = code.lastIndexOf('\n', head - 2) + 1;
    if (!/^[ \t]*(?:#!?\[|$)/.test(code.slice(above, Math.min(head, above + 200)))) break;
    head = above;
    if (above === 0) break;
  }
  return Math.max(head, least);
}

/** Behind the last line that is indented more than the one on which a case begins. */
function endByIndent(code: string, { start, end }: TestCase): number {
  const first = code.lastIndexOf('\n', start - 1) + 1;
  const indent = /^[ \t]*/.exec(code.slice(first, first + 200))?.[0].length ?? 0;
  let at = code.indexOf('\n', start);
  while (at !== -1 && at < end) {
    const line = code.slice(at + 1, at + 201);
    const text = /^[ \t]*(?=[^\s)\]}])/.exec(
      line.slice(0, line.indexOf('\n') === -1 ? undefined : line.indexOf('\n')),
    );
    if (text && text[0].length <= indent) return at;
    at = code.indexOf('\n', at + 1);
  }
  return end;
}

function lineEnd(code: string, start: number): number {
  const end = code.indexOf('\n', start);
  return end === -1 ? code.length : end;
}

function isOnTestModule(code: string, at: number): boolean {
  return /^#!?\[[^\n]{0,200}\]\s*(?:pub\s+)?mod\s+\w{0,40}tests?\b/.test(code.slice(at, at + 400));
}

function calls(body: string, helpers: ReadonlySet<string>): boolean {
  for (const [, name = ''] of body.matchAll(/\b(\w{1,80})[!?]?\s*[( ]/g)) if (helpers.has(name)) return true;
  return false;
}

/** How many of the sorted offsets lie within. */
function within(offsets: readonly number[], from: number, to: number): number {
  return Math.max(0, firstFrom(offsets, to) - firstFrom(offsets, from));
}

function firstFrom(offsets: readonly number[], least: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
