import { firstIndex } from '../../readers/source/first-index.ts';
import type { Language } from '../../readers/source/language.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { assertionsIn, withoutTrivial } from './assertions.ts';
import { coverOf, isOutline, type Outline, type Span } from './blocks.ts';
import { conditionsAround, leavesOutElsewhere } from './conditions.ts';
import { deadSpans } from './dead-spans.ts';
import { type HelperFunction, helperFunctions } from './helper-functions.ts';
import { judgingCalls } from './library-bindings.ts';
import { expectsFailure, focusMarks, skipMarks } from './skip-marks.ts';
import { swallowedSpans } from './swallowed-spans.ts';
import { readTests, type TestCase } from './test-cases.ts';

/** A declared case with what can be seen of whether it judges anything. */
export interface InventoryCase extends TestCase {
  readonly path: string;
  readonly language: Language;
  /** Assertions that are reached and heard; those that never run; those whose failure nobody hears. */
  readonly assertions: number;
  readonly unreached: number;
  readonly swallowed: number;
  /**
   * Marks on it or in it, and conditions around it, by which it may be left out; `elsewhere`: on other platforms alone.
   */
  readonly skips: number;
  readonly elsewhere: number;
  /** Marks by which it is expected to fail. */
  readonly inverted: number;
  /** Statements that hold such assertions. */
  readonly judging: number;
  /** The abstract class or exported function in which it stands: only where somebody else names it is it run. */
  readonly needs: string | undefined;
  /** Names of functions that it calls. */
  called(): ReadonlySet<string>;
  /** Something is left of its body without what is never reached and assertions that can never fail. */
  saysAnything(): boolean;
  readonly source: ChangedSource;
}

/** What one side of a test file holds. */
export interface TestInventory {
  readonly path: string;
  readonly source: ChangedSource;
  readonly code: string;
  readonly outline: Outline | undefined;
  readonly cases: readonly InventoryCase[];
  /** Offsets of assertions that run and are heard. */
  readonly heard: readonly number[];
  /** Offsets of marks that stand on no case: they may leave out a group, or the whole file. */
  readonly skips: readonly number[];
  readonly focuses: readonly number[];
  /** Functions that are no cases. */
  helpers(): readonly HelperFunction[];
}

const maxHeadBytes = 600;
const maxBodyBytes = 20_000;

/** Reads one side of a test file. */
export function testInventory(source: ChangedSource, language: Language): TestInventory {
  const { cases: declared, code, shape } = readTests(source, language);
  const outline = isOutline(shape) ? shape : undefined;
  const dying = deadSpans(code, language, shape);
  const isDead = coverOf(dying);
  const isSwallowed = coverOf(swallowedSpans(code, language, shape));
  let known: string | undefined;
  const living = (): string => {
    known ??= withoutTrivial(blanked(code, dying));
    return known;
  };
  const taken = language === 'javascript' ? judgingCalls(source.text, code) : [];
  const asserted = [...new Set([...assertionsIn(code, language), ...taken])].sort((a, b) => a - b);
  const dead = asserted.filter(isDead);
  const reached = asserted.filter((at) => !isDead(at));
  const muted = reached.filter(isSwallowed);
  const heard = reached.filter((at) => !isSwallowed(at));
  const marks = skipMarks(code, source.text, language);
  const soft = marks.filter((at) => leavesOutElsewhere(source.text, at, language, outline));
  const isSoft = new Set(soft);
  const hard = marks.filter((at) => !isSoft.has(at));
  const inverting = expectsFailure(code, source.text, language);
  const statements = heard.map((at) => outline?.startOf(at) ?? code.lastIndexOf('\n', at));
  const onCases = new Set<number>();
  let before = 0;
  const cases = declared.map((one): InventoryCase => {
    const { end } = one;
    const head = headOf(code, one.start, before, language);
    before = Math.max(before, language === 'shell' ? one.start : end);
    for (const at of marks) if (at >= head && at < end) onCases.add(at);
    const around = conditionsAround(code, source.text, one.start, language, shape);
    return {
      ...one,
      isIdle: one.isIdle || isDead(one.start),
      needs: holderOf(one.start, outline),
      end,
      path: source.path,
      language,
      assertions: within(heard, one.start, end),
      judging: new Set(statements.slice(firstFrom(heard, one.start), firstFrom(heard, end))).size,
      unreached: within(dead, one.start, end),
      swallowed: within(muted, one.start, end),
      skips: within(hard, head, end) + around.skips,
      elsewhere: within(soft, head, end) + around.elsewhere,
      inverted: within(inverting, head, end),
      saysAnything() {
        const from = one.inside;
        if (from === undefined) return true;
        return /\b(?!(?:end|done|return|pass|void|None)\b)\w/.test(
          living().slice(from, Math.min(end, from + maxBodyBytes)),
        );
      },
      called() {
        return calledIn(living().slice(one.start, Math.min(end, one.start + maxBodyBytes)));
      },
      source,
    };
  });
  return {
    path: source.path,
    source,
    code,
    outline,
    heard,
    cases,
    skips: marks.filter(
      (at) =>
        !onCases.has(at) &&
        (language !== 'rust' || isOnTestModule(code, at) || source.text.startsWith('#!', at)),
    ),
    focuses: focusMarks(code, language),
    helpers: () => {
      const names = new Set(declared.map(({ name }) => name));
      return helperFunctions(code, language, shape, heard, names);
    },
  };
}

/** The same of a file that runs no tests: only what others call. */
export function withoutCases(inventory: TestInventory): TestInventory {
  return { ...inventory, cases: [], skips: [], focuses: [] };
}

/** The class or function around a case that nothing runs by itself. */
function holderOf(start: number, outline: Outline | undefined): string | undefined {
  for (let at = outline?.around(start) ?? -1, depth = 0; outline && at >= 0 && depth < 60; depth += 1) {
    const bracket = outline.brackets[at];
    if (!bracket) break;
    const header = bracket.mark === '{' ? outline.header(bracket) : '';
    const found =
      /\babstract\s+(?:\w+\s+)*class\s+(\w{1,80})/.exec(header) ??
      /\b(?:export\s+(?:default\s+)?(?:async\s+)?function|export\s+(?:const|let)|exports\.)\s*(\w{1,80})/.exec(
        header,
      );
    if (found) return found[1];
    at = bracket.parent;
  }
  return undefined;
}

/** Where the lines begin that say something of a case before it is named. */
function headOf(code: string, start: number, before: number, language: Language): number {
  if (language === 'perl') return start;
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

function isOnTestModule(code: string, at: number): boolean {
  return /^#!?\[[^\n]{0,200}\]\s*(?:pub\s+)?mod\s+\w{0,40}tests?\b/.test(code.slice(at, at + 400));
}

/** Code without what never runs; every offset stays. */
function blanked(code: string, spans: readonly Span[]): string {
  if (spans.length === 0) return code;
  let from = 0;
  return [...spans]
    .sort((a, b) => a[0] - b[0])
    .flatMap(([start, end]) => {
      const parts = [
        code.slice(from, Math.max(from, start)),
        ' '.repeat(Math.max(0, end - Math.max(from, start))),
      ];
      from = Math.max(from, end);
      return parts;
    })
    .concat(code.slice(from))
    .join('');
}

/** Names that stand before a bracket, a blank or the end of an argument: what is called, or handed on to be. */
function calledIn(body: string): ReadonlySet<string> {
  return new Set([...body.matchAll(/\b([A-Za-z_]\w{0,79})[!?]?\s*[( ,)]/g)].map(([, name = '']) => name));
}

/** How many of the sorted offsets lie within. */
function within(offsets: readonly number[], from: number, to: number): number {
  return Math.max(0, firstFrom(offsets, to) - firstFrom(offsets, from));
}

function firstFrom(offsets: readonly number[], least: number): number {
  return firstIndex(offsets.length, (at) => (offsets[at] ?? 0) < least);
}
