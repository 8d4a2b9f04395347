/* The rule `tests-kept`. */
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
import { readTests, type TestCase, type TestFile } from '../test-cases/read-tests.ts';
import { isTestFile } from '../test-cases/test-text.ts';
import { rowsIn } from '../tests-kept/expectations.ts';
import { isSetUp, mayStub, stubsIn } from '../tests-kept/stubs.ts';
import {
  type LossCode,
  leftToSuite,
  nameOf,
  type ReportedLoss,
  reportLosses,
} from '../tests-kept/tell-losses.ts';

/** A changed file of tests, as it was and as it is. */
interface TestChange {
  readonly file: PatchFile;
  readonly base?: TestFile;
  readonly candidate?: TestFile;
}

/** Whether the spec lets tests go from a path. */
type MayGo = (path: string, name?: string) => boolean;

/** A case of the base and what became of it. */
interface MatchedCase {
  readonly base: TestCase;
  /** Absent where it is gone. */
  readonly candidate?: TestCase;
}

/**
 * Compares the test cases of the changed test files as written, base to candidate. Errors, unless the spec allows
 * tests to go: a case that is removed, skipped, emptied, cut short or without effect; a mark that focuses other cases;
 * a stub of assertions. A change that may assert as much as before is only reported. A case moved to another file is
 * not a loss.
 *
 * If the fast stage has a test suite, the suite run decides about most losses (`executed.ts`), and here they are
 * warnings. With `--as-written` they are errors.
 */
export const judge: RuleFunction = (input) => {
  const mayGo = testsMayGo(input.spec, input.patch.files, isNamedAsTest);
  const changes = input.patch.files.flatMap((file) => testChange(input, file) ?? []);
  const findings = reportLosses([
    ...lostCases(changes, mayGo),
    ...changes.flatMap((change) => newMarks(change, mayGo)),
    ...input.patch.files.flatMap((file) => stubsIn(input, file)),
  ]);
  return input.args.includes('--as-written') ? findings : leftToSuite(findings, input.spec);
};

/** If no test file changes and no text can affect assertions, the rule parses no file. */
export const isLinear = (input: RuleInput): boolean =>
  input.patch.files.every((file) => {
    const language = languageOfChange(input, file);
    const source = language && isRegularCandidate(file) && candidateSource(input, file, language);
    const isRead = [file.oldPath ?? file.path, file.path].some(
      (path) => isTest(path, languageOf(path) ?? language) || isOfHelpers(path) || isSetUp.test(path),
    );
    return !isRead && (!source || !mayStub(source.text, source.language));
  });

function isTest(path: string, language: Language | undefined): boolean {
  return language !== undefined && isTestFile(path, language);
}

function isNamedAsTest({ path }: PatchFile): boolean {
  const language = languageOf(path);
  return language !== 'rust' && isTest(path, language);
}

function testChange(input: RuleInput, file: PatchFile): TestChange | undefined {
  const { oldPath = file.path, path } = file;
  const before = isNewFile(file) ? undefined : languageOf(oldPath);
  const after = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
  const isCounted = [isTest(oldPath, before), isTest(path, after)] as const;
  const base = before && (isCounted[0] || isOfHelpers(oldPath)) && baseSource(input, file, before);
  const candidate = after && (isCounted[1] || isOfHelpers(path)) && candidateSource(input, file, after);
  const read = (source: Exclude<typeof base, '' | false | undefined>, hasCases: boolean): TestFile => {
    const all = readTests(source, source.language);
    return hasCases ? all : { ...all, cases: [], skips: [], focuses: [] };
  };
  if (!base && !candidate) return undefined;
  return {
    file,
    ...(base ? { base: read({ ...base, path: oldPath }, isCounted[0]) } : {}),
    ...(candidate ? { candidate: read(candidate, isCounted[1]) } : {}),
  };
}

/** What became of the cases that ran at the base. */
function lostCases(changes: readonly TestChange[], mayGo: MayGo): readonly ReportedLoss[] {
  const ran = changes.flatMap(({ base }) =>
    (base?.cases ?? []).filter((one) => !one.isIdle && one.saysAnything()),
  );
  const ways = matchCases(ran, changes);
  const helpers = new Set(changes.flatMap(({ candidate }) => [...(candidate?.helpers() ?? [])]));
  const merged = mergedCases(ways, changes);
  return ways.flatMap(({ base, candidate }): ReportedLoss[] => {
    const found = lossOf(base, candidate, helpers);
    const code = found === 'TEST_GONE' && merged.has(base) ? 'TEST_MERGED' : found;
    if (code === undefined) return [];
    const name = nameOf(base);
    const { path } = base.source;
    return [
      {
        code,
        severity: reportedOnly.has(code) || mayGo(path, name) ? 'note' : 'error',
        path: candidate?.source.path ?? path,
        ...candidate?.source.positionOf(candidate.start),
        name,
        ...(candidate && code === 'TEST_RENAMED' ? { now: nameOf(candidate) } : {}),
      },
    ];
  });
}

/** Losses that are only reported: the remaining tests may assert as much. */
const reportedOnly: ReadonlySet<LossCode> = new Set(['TEST_RENAMED', 'TEST_MERGED', 'TEST_JUDGED_ELSEWHERE']);

/** The loss of one case of the base; `undefined` if it still runs and asserts. */
function lossOf(
  base: TestCase,
  candidate: TestCase | undefined,
  helpers: ReadonlySet<string>,
): LossCode | undefined {
  if (!candidate) return 'TEST_GONE';
  if (candidate.isIdle) return 'TEST_SKIPPED';
  const isSwallowed = candidate.swallowed > base.swallowed;
  const called = [...candidate.called()];
  if (base.assertions > 0 && candidate.assertions === 0 && !called.some((name) => helpers.has(name))) {
    if (isSwallowed) return 'TEST_SWALLOWED';
    const was = base.called();
    const isElsewhere = called.some((name) => !was.has(name) && isFromHelpers(name, candidate));
    return isElsewhere ? 'TEST_JUDGED_ELSEWHERE' : 'TEST_EMPTIED';
  }
  if (!candidate.saysAnything()) return 'TEST_EMPTIED';
  if (isSwallowed) return 'TEST_SWALLOWED';
  if (candidate.unreached > base.unreached) return 'TEST_CUT_SHORT';
  if (candidate.skips > base.skips) return 'TEST_MAY_BE_SKIPPED';
  return candidate.name === base.name ? undefined : 'TEST_RENAMED';
}

/** Whether a name comes from a file of helpers, which the change does not show. */
function isFromHelpers(name: string, { source: { text } }: TestCase): boolean {
  const form = String.raw`\b${name}\b[^;"'\n]{0,300}\bfrom\s*["']([^"'\n]+)["']|\bfrom[ \t]+([\w.]+)[ \t]+import\b[^\n]*\b${name}\b|\b(${name})\(t,`;
  const [, module, python, go] = new RegExp(form).exec(text) ?? [];
  const path = module ?? python?.replaceAll('.', '/');
  return (
    go !== undefined ||
    (path !== undefined && /^\/|\b(?:__tests__|tests?|specs?|conftest|e2e)\b/i.test(path)) ||
    isOfHelpers(`${path}.x`)
  );
}

/**
 * Removed cases with words that recur in text the patch adds to tests: as rows of a table, in a loop, in several
 * cases. At most as many as the additions have assertions and rows.
 */
function mergedCases(ways: readonly MatchedCase[], changes: readonly TestChange[]): ReadonlySet<TestCase> {
  const gone = ways.filter(({ candidate }) => candidate === undefined).map(({ base }) => base);
  if (gone.length === 0) return new Set();
  const matched = new Map(ways.flatMap(({ base, candidate }) => (candidate ? [[candidate, base]] : [])));
  let [room, text] = [0, ''];
  for (const { candidate } of changes) {
    if (!candidate) continue;
    const { source, cases } = candidate;
    const added = addedText(source);
    const rows = Math.max(newRows(source, source.language, '', []).length, rowsIn(added));
    room += rows;
    for (const one of cases.filter(({ isIdle }) => !isIdle)) {
      const more = Math.max(0, one.assertions - (matched.get(one)?.assertions ?? 0));
      room += more;
      if (more > 0) text += ` ${one.body}`;
    }
    text += ` ${added}`;
    if (rows > 0) text += cases.flatMap(({ isIdle, body }) => (isIdle ? [] : body)).join(' ');
  }
  const words = wordsOf(text);
  const found = gone.filter(({ body }) => {
    const own = [...wordsOf(body)];
    return own.length > 0 && own.filter((word) => words.has(word)).length >= 0.8 * own.length;
  });
  return new Set(found.slice(0, room));
}

function addedText({ text, isAdded }: TestFile['source']): string {
  let offset = 0;
  const isNew = (line: string): boolean => {
    offset += line.length + 1;
    return isAdded(offset - line.length - 1);
  };
  return text.split('\n').filter(isNew).join('\n');
}

/** Without the words by which xUnit frameworks assert: another framework has others. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = text.slice(0, 400_000).match(/\w+/g) ?? [];
  return new Set(words.filter((word) => word !== 'self' && !/^assert\w+$/i.test(word)));
}

/** Bodies of more pairs than this are not compared. */
const maxCompared = 20_000;

/**
 * Matches each case of the base with one of the candidate: by name in its file, by name or body elsewhere, and what is
 * left with the case of its file whose body shares most words, by Dice's coefficient.
 */
function matchCases(base: readonly TestCase[], changes: readonly TestChange[]): readonly MatchedCase[] {
  const newPaths = new Map(changes.map(({ file: { path, oldPath = path } }) => [oldPath, path]));
  const free = new Set(changes.flatMap(({ candidate }) => candidate?.cases ?? []));
  const found = new Map<TestCase, TestCase>();
  const match = (one: TestCase, now: TestCase | undefined): void => {
    if (now && free.delete(now)) found.set(one, now);
  };
  const pass = (keyOf: (one: TestCase, path: string) => readonly string[]): void => {
    const queues = new Map<string, TestCase[]>();
    const keyed = (one: TestCase, path: string): string | undefined => {
      const parts = keyOf(one, path);
      return parts.includes('') ? undefined : parts.join('\0');
    };
    for (const one of [...free].reverse()) {
      const key = keyed(one, one.source.path);
      if (key !== undefined) queues.set(key, [...(queues.get(key) ?? []), one]);
    }
    for (const one of base) {
      if (found.has(one)) continue;
      const { path } = one.source;
      match(one, queues.get(keyed(one, newPaths.get(path) ?? path) ?? '')?.pop());
    }
  };
  pass(({ name, body }, path) => [path, `${name} `, `${body} `]);
  pass(({ name }, path) => [path, name]);
  pass(({ name, body }) => [name, `${body} `]);
  // Long enough that no two cases share it by chance.
  pass(({ body }) => [body.length >= 24 ? body : '']);
  pass(({ name }) => [name]);
  const left = [...free].map((one) => ({ one, words: wordsOf(one.body) }));
  let compared = 0;
  for (const one of base) {
    if (found.has(one)) continue;
    const own = wordsOf(one.body);
    const path = newPaths.get(one.source.path) ?? one.source.path;
    let most = 0.6;
    let best: TestCase | undefined;
    for (const { one: other, words } of left) {
      if (other.source.path !== path || !free.has(other) || compared > maxCompared) continue;
      compared += 1;
      const common = [...own].filter((word) => words.has(word)).length;
      const share = (2 * common) / Math.max(1, own.size + words.size);
      if (share >= most) [best, most] = [other, share];
    }
    match(one, best);
  }
  return base.map((one) => {
    const candidate = found.get(one);
    return candidate ? { base: one, candidate } : { base: one };
  });
}

/** Marks beside the cases: on a group, on the file, in a hook; and marks by which only some run. */
function newMarks({ base, candidate }: TestChange, mayGo: MayGo): readonly ReportedLoss[] {
  if (!candidate) return [];
  const { source, code } = candidate;
  const { path } = source;
  const gained = (code: LossCode, was: readonly number[], is: readonly number[]): readonly ReportedLoss[] =>
    is
      .filter(source.isAdded)
      .slice(0, Math.max(0, is.length - was.length))
      .map((at) => ({ code, severity: mayGo(path) ? 'note' : 'error', path, ...placeOf(at) }));
  const placeOf = (at: number) =>
    source.positionOf(at + Math.max(0, code.slice(at, at + 80).search(/[^\s;{,(]/)));
  return [
    ...(base && base.cases.length > 0 ? gained('TEST_MAY_BE_SKIPPED', base.skips, candidate.skips) : []),
    ...gained('TEST_FOCUSED', base?.focuses ?? [], candidate.focuses),
  ];
}
