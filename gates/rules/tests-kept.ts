/* The rule `tests-kept`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { type Language, languageOf } from '../../readers/source/language.ts';
import { isNewFile, isOfHelpers } from '../../readers/source/test-paths.ts';
import { testsMayGo } from '../../spec/tests-may-go.ts';
import { newRows } from '../new-tests/new-cases.ts';
import {
  baseSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { coverOf, type Span } from '../test-cases/blocks.ts';
import {
  type InventoryCase,
  type TestInventory,
  testInventory,
  withoutCases,
} from '../test-cases/test-inventory.ts';
import { isTestFile } from '../test-cases/test-text.ts';
import { idleNews, newMarks } from '../tests-kept/asserts-less.ts';
import { rowsIn } from '../tests-kept/expectations.ts';
import {
  emptiedHelpers,
  type KnownHelpers,
  knownHelpers,
  type MayGo,
  type TestChange,
} from '../tests-kept/known-helpers.ts';
import { isSetUp, mayStub, stubsIn } from '../tests-kept/stubs.ts';
import {
  type CaseLoss,
  leftToSuite,
  nameOf,
  type ReportedLoss,
  reportLosses,
} from '../tests-kept/tell-losses.ts';

/** What became of the cases that ran at the base. */
function lostCases(changes: readonly TestChange[], mayGo: MayGo): readonly ReportedLoss[] {
  const newPaths = new Map(changes.map(({ file }) => [file.oldPath ?? file.path, file.path]));
  const base = changes.flatMap(({ base }) =>
    (base?.cases ?? []).map((one) => ({ ...one, path: base?.path ?? one.path })),
  );
  const candidate = changes.flatMap((change) => change.candidate?.cases ?? []);
  const ran = base.filter((one) => !one.isIdle && one.saysAnything());
  const ways = matchCases(ran, candidate, newPaths);
  const helpers = knownHelpers(changes);
  const merged = mergedCases(ways, changes);
  return ways.flatMap((matched): ReportedLoss[] => {
    const found = judgeCase(matched, helpers);
    const code = found === 'TEST_GONE' && merged.has(matched.base) ? 'TEST_MERGED' : found;
    if (code === undefined) return [];
    const { base: was, candidate: is } = matched;
    const name = nameOf(was);
    return [
      {
        code,
        severity: toldLosses.has(code) || mayGo(was.path, name) ? 'note' : 'error',
        path: is?.path ?? was.path,
        ...(is ? is.source.positionOf(is.start) : {}),
        name,
        ...(is && code === 'TEST_RENAMED' ? { now: nameOf(is) } : {}),
      },
    ];
  });
}

/** Losses that are only reported: the remaining tests may assert as much. */
const toldLosses: ReadonlySet<CaseLoss> = new Set([
  'TEST_RENAMED',
  'TEST_SKIPPED_ELSEWHERE',
  'TEST_ASSERTS_LESS',
  'TEST_MERGED',
  'TEST_JUDGED_ELSEWHERE',
]);

/** The loss of one case of the base; `undefined` if it still runs and asserts. */
function judgeCase({ base, candidate, isRenamed }: MatchedCase, helpers: KnownHelpers): CaseLoss | undefined {
  if (!candidate) return 'TEST_GONE';
  if (candidate.isIdle)
    return candidate.skips > base.skips || isNamedSkip(candidate) ? 'TEST_SKIPPED' : 'TEST_EMPTIED';
  if (
    candidate.needs !== undefined &&
    base.needs === undefined &&
    !helpers.isNamed(candidate.needs, candidate.path)
  )
    return 'TEST_SKIPPED';
  const isHeardLess = candidate.swallowed > base.swallowed || candidate.inverted > base.inverted;
  if (base.assertions > 0 && candidate.assertions === 0 && !helpers.judges(candidate)) {
    if (isHeardLess) return 'TEST_SWALLOWED';
    return helpers.mayJudge(candidate, base) ? 'TEST_JUDGED_ELSEWHERE' : 'TEST_EMPTIED';
  }
  if (!candidate.saysAnything()) return 'TEST_EMPTIED';
  if (isHeardLess) return 'TEST_SWALLOWED';
  if (candidate.unreached > base.unreached) return 'TEST_CUT_SHORT';
  if (candidate.skips > base.skips) return 'TEST_MAY_BE_SKIPPED';
  if (candidate.elsewhere > base.elsewhere) return 'TEST_SKIPPED_ELSEWHERE';
  if (isRenamed) return 'TEST_RENAMED';
  return candidate.judging < base.judging && !helpers.judges(candidate) ? 'TEST_ASSERTS_LESS' : undefined;
}

/** A body is left, so it is a mark that keeps it from running. */
function isNamedSkip({ assertions }: InventoryCase): boolean {
  return assertions > 0;
}

/** Part of the words of a case that have to be found again. */
const least = 0.8;
const maxWords = 200_000;

/**
 * Removed cases with words that recur in text the patch adds to tests: as rows of a table, in a loop, in several
 * cases. At most as many as the additions have assertions and rows.
 */
function mergedCases(
  ways: readonly MatchedCase[],
  changes: readonly TestChange[],
): ReadonlySet<InventoryCase> {
  const gone = ways.filter(({ candidate }) => candidate === undefined).map(({ base }) => base);
  const merged = new Set<InventoryCase>();
  if (gone.length === 0) return merged;
  const matched = new Set(ways.flatMap(({ candidate }) => candidate ?? []));
  const words = new Set<string>();
  let room = 0;
  // An existing case that asserts more than before.
  for (const { base, candidate } of ways) {
    const more = (candidate?.judging ?? 0) - base.judging;
    // A shell case ends where the next one begins, so it also absorbs a case that lost its mark.
    if (!candidate || more <= 0 || candidate.language === 'shell') continue;
    room += more;
    for (const word of wordsOf(candidate.body)) if (words.size < maxWords) words.add(word);
  }
  for (const { candidate } of changes) {
    if (!candidate) continue;
    const added = addedText(candidate);
    const { source } = candidate;
    const rows = Math.max(newRows(source, source.language, '', []).length, rowsIn(added));
    room += rows + assertionsAdded(candidate, matched);
    if (added === '') continue;
    const cases = rows > 0 ? candidate.cases.filter(({ isIdle }) => !isIdle).map(({ body }) => body) : [];
    for (const text of [added, ...cases])
      for (const word of wordsOf(text)) if (words.size < maxWords) words.add(word);
  }
  for (const one of gone) {
    const own = [...wordsOf(one.body)];
    const found = own.filter((word) => words.has(word)).length;
    if (merged.size >= room || own.length === 0 || found < least * own.length) continue;
    merged.add(one);
  }
  return merged;
}

function addedText({ source }: TestInventory): string {
  const lines: string[] = [];
  for (let start = 0; start < source.text.length; ) {
    const feed = source.text.indexOf('\n', start);
    const end = feed === -1 ? source.text.length : feed;
    if (source.isAdded(start)) lines.push(source.text.slice(start, end));
    start = end + 1;
  }
  return lines.join('\n');
}

/**
 * Number of added lines with assertions in a new case, or outside every function. Lines in an existing case do not
 * count.
 */
function assertionsAdded(candidate: TestInventory, matched: ReadonlySet<InventoryCase>): number {
  const { source, heard, cases } = candidate;
  const span = (from: number, to: number): Span => [from, to];
  const isFresh = coverOf(
    cases.filter((one) => !matched.has(one) && !one.isIdle).map(({ start, end }) => span(start, end)),
  );
  const isElse = coverOf([
    ...cases.map(({ start, end }) => span(start, end)),
    ...candidate.helpers().map(({ at, end }) => span(at, end)),
  ]);
  const lines = new Set<number>();
  for (const at of heard)
    if ((isFresh(at) || !isElse(at)) && source.isAdded(at)) lines.add(source.positionOf(at).line);
  return lines.size;
}

/** Without the words by which xUnit frameworks assert: another framework has others. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = text.slice(0, 200_000).match(/\w+/g) ?? [];
  return new Set(words.filter((word) => word !== 'self' && !/^assert\w+$/i.test(word)));
}

/** A case of the base and what became of it. */
interface MatchedCase {
  readonly base: InventoryCase;
  /** Absent where it is gone. */
  readonly candidate?: InventoryCase;
  /** It has another name, found by its body. */
  readonly isRenamed?: true;
}

/** Part of the words of a body that two versions of one case share. */
const alike = 0.6;
/** Bodies of more pairs than this are not compared. */
const maxCompared = 20_000;

/**
 * Matches each case of the base with one of the candidate: by name in its file, by name or body elsewhere, by its
 * body under another name, by a similar body in its file. `newPaths` maps a file of the base to its new path.
 */
function matchCases(
  base: readonly InventoryCase[],
  candidate: readonly InventoryCase[],
  newPaths: ReadonlyMap<string, string>,
): readonly MatchedCase[] {
  const taken = new Set<InventoryCase>();
  const found = new Map<InventoryCase, MatchedCase>();
  const pass = (
    keyOf: (one: InventoryCase, path: string) => string | undefined,
    isRenamed: boolean,
  ): void => {
    const free = new Map<string, InventoryCase[]>();
    for (const one of candidate) {
      const key = taken.has(one) ? undefined : keyOf(one, one.path);
      if (key === undefined) continue;
      const others = free.get(key);
      if (others) others.push(one);
      else free.set(key, [one]);
    }
    for (const queue of free.values()) queue.reverse();
    for (const one of base) {
      if (found.has(one)) continue;
      const key = keyOf(one, newPaths.get(one.path) ?? one.path);
      const now = key === undefined ? undefined : free.get(key)?.pop();
      if (!now) continue;
      taken.add(now);
      found.set(one, {
        base: one,
        candidate: now,
        ...(isRenamed && one.name !== now.name ? { isRenamed } : {}),
      });
    }
  };
  const named = ({ name }: InventoryCase): string | undefined => (name === '' ? undefined : name);
  const key = (...parts: readonly (string | undefined)[]): string | undefined =>
    parts.includes(undefined) ? undefined : parts.join('\0');
  pass((one, path) => key(path, one.name, one.body), false);
  pass((one, path) => key(path, named(one)), false);
  pass((one) => key(named(one), one.body), false);
  pass((one, path) => (saysMuch(one) ? key(path, one.body) : undefined), true);
  pass((one) => (saysMuch(one) ? one.body : undefined), true);
  pass((one) => key(named(one)), false);
  const others = matchAlike(
    base.filter((one) => !found.has(one)),
    new Set(candidate.filter((one) => !taken.has(one))),
    ({ path }) => newPaths.get(path) ?? path,
  );
  return base.map((one) => {
    const now = others.get(one);
    return found.get(one) ?? (now ? { base: one, candidate: now, isRenamed: true } : { base: one });
  });
}

/** A body that no two cases share by chance. */
function saysMuch({ body }: InventoryCase): boolean {
  return body.length >= 24;
}

/** Matches what is left with the case of its file whose body shares most words, by Dice's coefficient. */
function matchAlike(
  base: readonly InventoryCase[],
  free: ReadonlySet<InventoryCase>,
  pathOf: (one: InventoryCase) => string,
): ReadonlyMap<InventoryCase, InventoryCase> {
  const found = new Map<InventoryCase, InventoryCase>();
  const left = [...free].map((one) => ({ one, words: wordsOf(one.body) }));
  let compared = 0;
  for (const one of base) {
    const own = wordsOf(one.body);
    let best = -1;
    let most = alike;
    for (const [at, { one: other, words }] of left.entries()) {
      if (other.path !== pathOf(one)) continue;
      compared += 1;
      if (compared > maxCompared) return found;
      const common = [...own].filter((word) => words.has(word)).length;
      const share = (2 * common) / Math.max(1, own.size + words.size);
      if (share >= most) [best, most] = [at, share];
    }
    for (const { one: other } of best < 0 ? [] : left.splice(best, 1)) found.set(one, other);
  }
  return found;
}

/**
 * Compares the test cases of the changed test files as written, base to candidate. Errors, unless the spec allows
 * tests to go: a case that is removed, skipped, emptied, cut short or without effect; removed helpers; a mark that
 * focuses other cases; a stub of assertions. A change that may assert as much as before is only reported. A case
 * moved to another file is not a loss.
 *
 * If the fast stage has a test suite, the suite run decides about most losses (`executed.ts`), and here they are
 * warnings. With `--as-written` they are errors.
 */
export const judge: RuleFunction = (input) => {
  const findings = asWritten(input);
  return input.args.includes('--as-written') ? findings : leftToSuite(findings, input.spec);
};

function asWritten(input: RuleInput): readonly Finding[] {
  const mayGo = testsMayGo(input.spec, input.patch.files, isNamedAsTest);
  const changes = input.patch.files.flatMap((file) => testChange(input, file) ?? []);
  return reportLosses([
    ...lostCases(changes, mayGo),
    ...emptiedHelpers(changes, mayGo),
    ...changes.flatMap((change) => [...newMarks(change, mayGo), ...idleNews(change, changes)]),
    ...input.patch.files.flatMap((file) => stubsIn(input, file)),
  ]);
}

/** If no test file changes and no text can affect assertions, the rule parses no file. */
export const isLinear = (input: RuleInput): boolean =>
  input.patch.files.every((file) => {
    const language = languageOfChange(input, file);
    const source = language && isRegularCandidate(file) && candidateSource(input, file, language);
    return (
      [file.oldPath ?? file.path, file.path].every(
        (path) => !isReadAsTest(path, languageOf(path) ?? language),
      ) &&
      (!source || !mayStub(source.text, source.language))
    );
  });

function isReadAsTest(path: string, language: Language | undefined): boolean {
  const isTest = language !== undefined && isTestFile(path, language);
  return isTest || isOfHelpers(path) || isSetUp.test(path);
}

function testChange(input: RuleInput, file: PatchFile): TestChange | undefined {
  const oldPath = file.oldPath ?? file.path;
  const before = isNewFile(file) ? undefined : languageOf(oldPath);
  const after = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
  const wasTest = before !== undefined && isTestFile(oldPath, before);
  const isTest = after !== undefined && isTestFile(file.path, after);
  const base = before && (wasTest || isOfHelpers(oldPath)) && baseSource(input, file, before);
  const candidate = after && (isTest || isOfHelpers(file.path)) && candidateSource(input, file, after);
  if (!base && !candidate) return undefined;
  const read = (source: Exclude<typeof base, '' | false | undefined>, isCounted: boolean) =>
    isCounted ? testInventory(source, source.language) : withoutCases(testInventory(source, source.language));
  return {
    file,
    ...(base ? { base: { ...read(base, wasTest), path: oldPath } } : {}),
    ...(candidate ? { candidate: read(candidate, isTest) } : {}),
  };
}

function isNamedAsTest({ path }: PatchFile): boolean {
  const language = languageOf(path);
  return language !== undefined && language !== 'rust' && isTestFile(path, language);
}
