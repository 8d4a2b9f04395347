/* Finds tests whose expectation the change altered. */
import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { Executed } from '../../core/interfaces/rule.ts';
import { isCollected, isData } from '../../readers/source/test-paths.ts';
import { type Asserting, assertingStatements, compareAssertions } from '../test-cases/assertions.ts';
import { executedLoss } from './tell-losses.ts';

/** A changed file of tests, as it was and as it is; absent where it is not. */
export interface TestText {
  readonly path: string;
  readonly base?: string;
  readonly candidate?: string;
}

/** How a suite ended at the base, and in the candidate with the base's versions of changed test files. */
export interface Expectations {
  readonly base: Executed;
  readonly laid: Executed;
  readonly texts: readonly TestText[];
  /**
   * A rewritten red test blocks a session's goal, and the session prompts its user; for the run it is then only a
   * warning.
   */
  readonly isForGoal?: boolean;
  /** Data that says less still judges: the base's product fails with it. */
  readonly isDataKept?: boolean;
  /** Whether the spec lets tests of a file go. */
  mayGo(path: string, name?: string): boolean;
}

/**
 * What a change expects otherwise than the base (rule `tests-kept`): tests that fail on the candidate as the base has
 * them, while the candidate's own versions pass. A warning names them. It is an error if the case, or what it calls,
 * asserts less than before, since a break may hide there. Tests that failed at the base have a finding of their own
 * (`redAtBase`), an error: the change made them pass by rewriting them. Pure.
 */
export function compareExpectations({
  base,
  laid,
  texts,
  mayGo,
  isForGoal = false,
  isDataKept = false,
}: Expectations): readonly Finding[] {
  const failedBefore = new Set(failedIn(base));
  const idle = new Set(base.executed?.skipped);
  const ranWell = (name: string): boolean =>
    (base.executed?.names.has(name) ?? false) && !failedBefore.has(name) && !idle.has(name);
  const failed = [...new Set(failedIn(laid))].sort();
  const wasRed = (name: string): boolean => failedBefore.has(name);
  const changed = failed.filter((name) => ranWell(name) || wasRed(name));
  // More tests failed than the report names; the others are unknown.
  const isCut = (laid.executed?.counts.failed ?? 0) > failedIn(laid).length;
  const missing = [...(base.executed?.names ?? [])].filter(
    (name) => ranWell(name) && !laid.executed?.names.has(name),
  );
  const around = aroundThem(texts, mayGo, isDataKept);
  const lost = changed.filter((name) => (isCut && around()) || isLost(name, texts, mayGo, around));
  const kept = changed.filter((name) => !lost.includes(name));
  const ofRed = {
    redAtBase: true,
    paths: texts.filter(({ base: text }) => text !== undefined).map(({ path }) => path),
  };
  const [red, green] = [kept.filter(wasRed), kept.filter((name) => !wasRed(name))];
  const unknownRed = redNotRun(base, laid);
  const findings: Finding[] = [];
  const add = (
    code: string,
    severity: Severity,
    tests: readonly string[],
    message: string,
    asks = '',
    more: Readonly<Record<string, unknown>> = {},
  ): void => {
    if (tests.length > 0) findings.push(executedLoss(code, severity, message, tests, asks, more));
  };
  const ofRewriting = 'let an objective that speaks of their rewriting name them or their file';
  add(
    'EXPECTATION_LOST',
    'error',
    lost,
    `${count(lost.length, 'test')} of the base ${lost.length === 1 ? 'fails' : 'fail'} on the candidate and ${lost.length === 1 ? 'asserts' : 'assert'} less than before`,
    `; keep what they assert, or ${ofRewriting}`,
  );
  add(
    'EXPECTATION_CHANGED',
    'warning',
    green,
    `${count(green.length, 'test')} of the base ${green.length === 1 ? 'fails' : 'fail'} on the candidate: the change expects something else`,
  );
  add(
    'EXPECTATION_CHANGED',
    isForGoal ? 'warning' : red.every((name) => mayBeRewritten(name, texts, mayGo)) ? 'note' : 'error',
    red,
    `${count(red.length, 'test')} that failed at the base ${red.length === 1 ? 'passes' : 'pass'} because the change rewrote ${red.length === 1 ? 'it' : 'them'}`,
    `; as the base has them, they still fail: keep them, or ${ofRewriting}`,
    ofRed,
  );
  add(
    'BASE_TESTS_NOT_RUN',
    'note',
    unknownRed,
    `${count(unknownRed.length, 'test')} that failed at the base cannot run on the candidate as the base has ${unknownRed.length === 1 ? 'it' : 'them'}`,
    '',
    ofRed,
  );
  if (laid.executed === undefined || missing.length > 0)
    findings.push(
      executedLoss(
        'BASE_TESTS_NOT_RUN',
        laid.executed === undefined ? 'warning' : 'note',
        `test files of the base do not run over the candidate${laid.executed === undefined ? '' : `, of ${count(missing.length, 'test')} nothing is known`}`,
        missing.sort(),
      ),
    );
  return findings;
}

/**
 * Tests that failed at the base with an unknown result on the candidate, because a base test file did not load or
 * left no report. If no such file failed, their names are gone because a file that failed to load at the base now
 * loads.
 */
function redNotRun(base: Executed, laid: Executed): readonly string[] {
  const names = base.executed?.names ?? new Set();
  const broke = failedIn(laid).some((name) => !names.has(name));
  if (laid.executed !== undefined && !broke) return [];
  return [...new Set(failedIn(base))].filter((name) => !laid.executed?.names.has(name)).sort();
}

/** Whether the spec lets the case go from each base file that contains it. */
function mayBeRewritten(name: string, texts: readonly TestText[], mayGo: Expectations['mayGo']): boolean {
  const places = texts.flatMap(({ path, base = '' }) => {
    const own = namesIn(name).find((one) => base.includes(one));
    return own === undefined ? [] : [mayGo(path, own)];
  });
  return places.length > 0 && places.every((isAllowed) => isAllowed);
}

/** Names of the failed tests, as far as the report lists them. */
export function failedIn({ executed }: Executed): readonly string[] {
  return (executed?.counts.failedTests ?? []).map(({ name }) => name);
}

/** Whether one of the texts of the base names a test. */
export function isWrittenIn(name: string, texts: readonly TestText[]): boolean {
  return nameInTexts(name, texts) !== undefined;
}

function nameInTexts(name: string, texts: readonly TestText[]): string | undefined {
  return namesIn(name).find((one) => texts.some(({ base }) => base?.includes(one)));
}

function isLost(
  name: string,
  texts: readonly TestText[],
  mayGo: Expectations['mayGo'],
  around: () => boolean,
): boolean {
  let isSeen = false;
  const own = nameInTexts(name, texts);
  for (const { path, base = '' } of own === undefined ? [] : texts) {
    const was = caseTexts(base, own ?? '');
    if (was.length === 0) continue;
    if (mayGo(path, own)) return false;
    const is = texts.flatMap(({ candidate = '' }) => caseTexts(candidate, own ?? ''));
    for (const [at, one] of was.entries()) {
      const now = is[at];
      if (now === undefined) continue;
      const { loses, keepsAll, isAlike } = compareAssertions(
        assertingStatements(one),
        assertingStatements(now),
      );
      if (loses || (keepsAll && exitsIn(now) > exitsIn(one)) || cutsIn(now) > cutsIn(one)) return true;
      isSeen ||= !isAlike;
    }
  }
  // A changed assertion in the case explains the failure. Otherwise the cause is a function that it calls, or data
  // that it reads.
  return !isSeen && around();
}

/** Whether all changed test files together assert less, or their data has fewer rows. Computed once. */
function aroundThem(
  texts: readonly TestText[],
  mayGo: Expectations['mayGo'],
  isDataKept: boolean,
): () => boolean {
  let answer: boolean | undefined;
  return () => {
    const kept = texts.filter(({ path }) => !mayGo(path) && !(isDataKept && isData(path)));
    answer ??=
      losesData(kept) ||
      kept.some(({ path, base, candidate }) => !isCollected(path) && exitsIn(candidate) > exitsIn(base)) ||
      kept.some(({ base, candidate }) => losesRows(base, candidate)) ||
      compareAssertions(
        joined(kept.map(({ base = '' }) => base)),
        joined(kept.map(({ candidate = '' }) => candidate)),
      ).loses;
    return answer;
  };
}

/** Rows of tables in a text: lists in lists. */
export function rowsIn(text: string): number {
  return text.replace(quoted, '""').match(row)?.length ?? 0;
}

/** Whether a text has fewer rows of tables, or goes through fewer of them. */
function losesRows(base = '', candidate = ''): boolean {
  return (
    base !== '' && candidate !== '' && (rowsIn(candidate) < rowsIn(base) || cutsIn(candidate) > cutsIn(base))
  );
}

/** Lines that go through a part of some rows. */
function cutsIn(text: string): number {
  const lines = text.split('\n').map((line) => line.slice(0, maxLineLength));
  return lines.filter((line) => goesThrough.test(line) && cutsRows.test(line)).length;
}

/** Lines that end a case, or what it calls, before its assertions: a bare `return`, or an exit under a condition. */
function exitsIn(text = ''): number {
  return text.split('\n').filter((line) => endsEarly.test(line.slice(0, maxLineLength))).length;
}

/** Whether a test file of which something is left asserts nothing any more. */
export function assertsNothing({ base = '', candidate }: TestText): boolean {
  const left = (text: string): number => assertingStatements(text).statements.length;
  return candidate !== undefined && left(base) > 0 && left(candidate) === 0;
}

/** Whether a changed data file lost content: rows are gone. */
export function losesData(texts: readonly TestText[]): boolean {
  const words = (text = ''): number => text.match(/[^\s,;:[\]{}()<>"']+/g)?.length ?? 0;
  return texts.some(({ path, base, candidate }) => isData(path) && words(candidate) < words(base));
}

function joined(texts: readonly string[]): Asserting {
  const all = texts.map(assertingStatements);
  return {
    statements: all.flatMap(({ statements }) => statements),
    swallows: all.reduce((sum, { swallows }) => sum + swallows, 0),
  };
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

/** An innermost list, tuple or object, first in a list, behind another one or a quoted name: one row of a table. */
const row = /(?<=(?:\[|[\])}],|"":)\s{0,200})[[({][^[\](){}]{0,500}[\])}]/g;
const quoted = /(["'`])(?:\\.|(?!\1)[^\\\n]){0,500}\1/g;
const goesThrough = /\b(?:for|each|forEach|map|parametrize|in)\b/;
const cutsRows = /\.(?:slice|filter|take|first|head)\s*\(|\bislice\s*\(|\w\[\s*-?\d*\s*:\s*-?\d*\s*\]/;
const maxLineLength = 500;
const endsEarly =
  /^\s*return\s*;?\s*$|\bif\b.*\b(?:return|throw|raise|exit)\b|\b(?:skip|skipTest|xfail)\s*\(/;
const maxCases = 20;
const maxCaseLines = 2_000;

/** Only what closes or opens a body. */
const brackets = /^[\s(){}[\];,:<>]*(?:end|done|fi|esac)?[\s(){}[\];,:]*$/;

/**
 * Returns the texts of the cases with a name: the line with the name, without it, and the lines below with more
 * indentation. In nearly every language these are the body.
 */
function caseTexts(text: string, own: string): readonly string[] {
  if (!text.includes(own)) return [];
  const lines = text.split('\n');
  const found: string[] = [];
  for (let at = 0; at < lines.length && found.length < maxCases; at += 1) {
    const line = lines[at] ?? '';
    if (!standsIn(line, own)) continue;
    const indent = indentOf(isAlone(line, own) ? (lines[at - 1] ?? '') : line);
    const body = [line.replace(own, '')];
    for (let next = at + 1; next < lines.length && body.length < maxCaseLines; next += 1) {
      const below = lines[next] ?? '';
      if (!brackets.test(below) && indentOf(below) <= indent) break;
      body.push(below);
    }
    found.push(body.join('\n'));
  }
  return found;
}

/**
 * Possible names in the source for a test from a report, the likeliest first. Reports add groups, files and
 * parameters to the name.
 */
function namesIn(reported: string): readonly string[] {
  const tails = [' > ', ' › ', '::', '/'].map((sign) => lastOf(reported, sign));
  const method = /[.#](\w+)(?:[[(].*)?$/s.exec(reported)?.[1] ?? '';
  // Group names precede the test name without a separator.
  const words = reported.split(' ');
  const ends = words.slice(1, 7).map((_, at) => words.slice(at + 1).join(' '));
  const all = [reported, ...tails, method, ...ends.filter((end) => end.includes(' '))];
  const heads = all.flatMap((name) => [name.replace(/[[(].*$/s, ''), name.split('/')[0] ?? '']);
  return [...new Set([...all, ...heads].map((name) => name.trim()))].filter(({ length }) => length >= 3);
}

function lastOf(name: string, sign: string): string {
  return name.slice(name.lastIndexOf(sign) + (name.includes(sign) ? sign.length : 0));
}

/** A name matches only as a whole word: `test_a` does not match in `test_ab`. */
function standsIn(line: string, name: string): boolean {
  const at = line.indexOf(name);
  return at >= 0 && !(/\w/.test(line[at - 1] ?? ' ') && /\w/.test(name[0] ?? '')) && !isWord(line, at, name);
}

function isWord(line: string, at: number, name: string): boolean {
  return /\w/.test(line[at + name.length] ?? ' ') && /\w/.test(name.at(-1) ?? '');
}

/** A name alone on a line belongs to the call above it. */
function isAlone(line: string, name: string): boolean {
  return /^\s*["'`]?["'`]?,?\s*$/.test(line.replace(name, ''));
}

function indentOf(line: string): number {
  return line.search(/\S|$/);
}
