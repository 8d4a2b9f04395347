/* The rule `new-tests`: of the sources of a change, and of its executed tests. */
import type { ExecutedTests } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { ExecutedCheck, ExecutedRule, RuleFunction } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { isCode, languageOf } from '../../readers/source/language.ts';
import { isOfTests, isSurelyOfTests, mayTakeLines, runsTests } from '../../readers/source/test-paths.ts';
import {
  type NewCase,
  newRows,
  noNewCase,
  ranAmong,
  readPatterns,
  requiresNewTests,
} from '../new-tests/new-cases.ts';
import {
  baseSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { readTests, type TestCase } from '../test-cases/read-tests.ts';
import { isTestFile } from '../test-cases/test-text.ts';
import { changedData, rerunBaseTests } from '../tests-kept/base-tests.ts';

const rule = 'new-tests';
const maxNamed = 20;

/** Languages in which test reports use the name of a case as the source spells it. */
const named: ReadonlySet<string> = new Set(['javascript', 'python', 'go', 'rust']);

/**
 * The verdict on the new tests of a suite:
 *
 * - `shown`: a new test, or a new row of one, fails on the base's product.
 * - `extended`: an extended test of the base fails there, and its base version still passes.
 * - `passes-at-base`: the new tests pass there too.
 * - `not-shown`: the new tests pass there too, and what fails there are old tests that the change edited.
 * - `none`: no new test ran.
 * - `unknown`: the suite does not report enough.
 */
interface Shown {
  readonly verdict: 'shown' | 'extended' | 'passes-at-base' | 'not-shown' | 'none' | 'unknown';
  readonly tests?: readonly string[];
}

/**
 * A test of the fast stage proves a fix if it is new, passes on the candidate, and fails with the candidate's tests
 * over the base's product. A test that cannot be loaded there counts as failed. If no suite reports which tests ran,
 * the text of the change decides.
 */
export const executed: ExecutedRule = {
  async judgeCheck(one) {
    if (one.stage !== 'fast') return {};
    if (one.check.kind === 'testSuite') return { note: await showNewTests(one) };
    return isTestCommand(one.check) ? { note: await showByCommand(one) } : {};
  },

  async judgeStage({ stage, checks, notes, ask }) {
    const suites = checks.filter(({ id, kind }) => kind === 'testSuite' || notes.has(id));
    if (stage !== 'fast' || suites.length === 0) return [];
    const shown = suites.map(({ id }) => (notes.get(id) as Shown | undefined) ?? unknown);
    if (shown.some(({ verdict }) => verdict === 'shown')) return [];
    const written = casesIn(await ask(['--cases']));
    for (const [verdict, finding] of weaker) {
      const found = shown.find((one) => one.verdict === verdict);
      if (found) return [finding(found.tests ?? [])];
    }
    if (shown.some(({ verdict }) => verdict === 'unknown')) return written.length > 0 ? [] : [noCase];
    return [written.length > 0 ? notRun(written) : noCase];
  },
};

const unknown: Shown = { verdict: 'unknown' };

/** What counts as a test of a fix, with a warning. */
const weaker = [
  [
    'extended',
    warning('NEW_TEST_EXTENDS', 'the patch shows its fix by more assertions in old test cases and adds none'),
  ],
  [
    'passes-at-base',
    warning('NEW_TEST_PASSES_AT_BASE', 'the test cases that the patch adds pass without its fix, too'),
  ],
  ['not-shown', notShown],
] as const;

async function showNewTests(one: ExecutedCheck): Promise<Shown> {
  const { ran, patch } = one;
  if (!ran.executed || ran.executed.names.size === 0) return unknown;
  const written = casesIn(await one.ask(['--cases']));
  const data = changedData(one);
  const over = await one.rerun({ tree: 'base', tests: testPaths(patch), verificationInputs: data });
  if (over === undefined) return unknown;
  const wellOver = passed(over.executed);
  const failing = [...passed(ran.executed)].filter((name) => !wellOver.has(name));
  const isWritten = (names: readonly string[]): boolean =>
    ranAmong(written, { names: new Set(names), skipped: [] }) === 'ran';
  if (failing.length === 0) {
    const all = [...ran.executed.names];
    if (isWritten(all)) return { verdict: 'passes-at-base', tests: namesOf(written) };
    const says = ranAmong(written, ran.executed);
    return says === 'unknown' && written.length > 0 ? unknown : { verdict: 'none' };
  }
  // A case that is new as it is written needs no look at the base; nor does a row of an old one.
  if (written.length > 0 && (isWritten(failing) || written.some(({ isRow }) => isRow)))
    return { verdict: 'shown' };
  const base = (await one.rerun({ tree: 'base' }))?.executed;
  // A test that did not run at the base, for a mark that the change takes off, is as good as a new one.
  const fresh = failing.filter((name) => !base?.names.has(name) || base.skipped.includes(name));
  // As many names may be gone as are new: then they are the same tests under other names.
  const gone = [...(base?.names ?? [])].filter((name) => !ran.executed?.names.has(name));
  if (fresh.length > gone.length) return { verdict: 'shown' };
  const old = failing.filter((name) => base?.names.has(name));
  const before = old.length > 0 ? await rerunBaseTests(one) : undefined;
  const still = passed(before?.executed);
  const extended = old.filter((name) => still.has(name));
  if (extended.length > 0) return { verdict: 'extended', tests: extended.slice(0, maxNamed) };
  const hasRun = isWritten([...passed(ran.executed)]);
  return hasRun ? { verdict: 'not-shown', tests: namesOf(written) } : { verdict: 'none' };
}

/**
 * A command that names its tests shows a fix as a suite does. If it names none, it shows one if it fails over the
 * base's product with tests that the change only adds. Whatever else it comes to, the text decides.
 */
async function showByCommand(one: ExecutedCheck): Promise<Shown> {
  const { patch, ran } = one;
  if (ran.executed !== undefined && ran.executed.names.size > 0) {
    const shown = await showNewTests(one);
    return shown.verdict === 'none' || shown.verdict === 'not-shown' ? unknown : shown;
  }
  const tests = testPaths(patch);
  const base = await one.rerun({ tree: 'base' });
  const skipped = (tests: ExecutedTests | undefined): number => tests?.counts.skipped ?? 0;
  // Edited tests may only expect something else, unless fewer of them are skipped.
  const isEdited =
    patch.files.some((file) => tests.includes(file.path) && mayTakeLines(file)) &&
    skipped(ran.executed) >= skipped(base?.executed);
  if (tests.length === 0 || isEdited || base?.failedBy) return unknown;
  const over = await one.rerun({ tree: 'base', tests });
  return over?.failedBy === 'outcome' ? { verdict: 'shown' } : unknown;
}

function isTestCommand({ kind, command = '' }: Pick<EffectiveCheck, 'kind' | 'command'>): boolean {
  return kind === 'command' && runsTests(command);
}

/** Changed files of tests, and what is beside them. */
function testPaths({ files }: ExecutedCheck['patch']): readonly string[] {
  const isTest = (path: string): boolean => {
    const language = languageOf(path);
    // Code in `spec/` or `integration/` may be product, and Rust keeps tests beside the code.
    const isSure = isOfTests(path) && (!isCode(path) || isSurelyOfTests(path));
    return isSure || (language !== undefined && language !== 'rust' && isTestFile(path, language));
  };
  return [...new Set(files.flatMap(({ path, oldPath = path }) => [path, oldPath]))].filter(isTest);
}

function passed(tests: ExecutedTests | undefined): ReadonlySet<string> {
  const failed = new Set((tests?.counts.failedTests ?? []).map(({ name }) => name));
  const idle = new Set(tests?.skipped);
  return new Set([...(tests?.names ?? [])].filter((name) => !failed.has(name) && !idle.has(name)));
}

function casesIn([found]: readonly Finding[]): readonly NewCase[] {
  return found?.severity === 'note' ? ((found.detail?.cases ?? []) as readonly NewCase[]) : [];
}

function namesOf(cases: readonly NewCase[]): readonly string[] {
  return cases.slice(0, maxNamed).map(({ name }) => name);
}

const noCase: Finding = {
  rule,
  severity: 'error',
  message: noNewCase,
  detail: { code: 'NEW_TEST_MISSING' },
};

function notRun(cases: readonly NewCase[]): Finding {
  return {
    rule,
    severity: cases.every(({ language }) => named.has(language)) ? 'error' : 'warning',
    message: `the spec is for a bugfix, and no fast check ran a test case that the patch adds: ${list(namesOf(cases))}`,
    detail: { code: 'NEW_TEST_NOT_RUN', tests: namesOf(cases) },
  };
}

function notShown(tests: readonly string[]): Finding {
  return {
    rule,
    severity: 'error',
    message: `the spec is for a bugfix, and only edited tests fail without its fix: the test cases that the patch adds pass without it, too (${list(tests)}); add one that fails without it`,
    detail: { code: 'NEW_TEST_NOT_SHOWN', tests },
  };
}

function warning(code: string, message: string): (tests: readonly string[]) => Finding {
  return (tests) => ({
    rule,
    severity: 'warning',
    message: `the spec is for a bugfix, and ${message}: ${list(tests)}`,
    detail: { code, tests },
  });
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

const maxListed = 200;

/**
 * A bugfix must add at least one test case in a test file.
 *
 * A new case has a name *and* a body that no changed file had at base. Cases that are skipped, commented out, moved,
 * renamed, only touched, or without assertions are not new. A new row of a table of cases counts, and so does a line
 * with a prefix from `[rules.new-tests] cases`.
 *
 * If the fast stage has a test suite, the suite run decides (`executed.ts`). A change of test files without a visible
 * case then gets a note. With `--cases` the rule returns a note that lists the new cases, at most 200.
 */
export const judge: RuleFunction = (input) => {
  if (!requiresNewTests(input.spec)) return [];
  const patterns = readPatterns(input.options);
  if (typeof patterns === 'string') return [{ rule, severity: 'error', message: patterns }];
  const names = new Set<string>();
  const bodies = new Set<string>();
  for (const file of input.patch.files) {
    const path = file.oldPath ?? file.path;
    const language = languageOf(path);
    if (!language || file.changeType === 'add' || !isTestFile(path, language)) continue;
    const source = baseSource(input, file, language);
    for (const one of source ? readTests(source, language).cases : []) {
      if (one.isIdle) continue;
      if (one.name !== '') names.add(one.name);
      bodies.add(one.body);
    }
  }
  const isNew = ({ isIdle, name, body, saysAnything }: TestCase): boolean =>
    !isIdle && !names.has(name) && !bodies.has(body) && saysAnything();
  const changed: string[] = [];
  const isListed = input.args.includes('--cases');
  const fresh: NewCase[] = [];
  for (const file of input.patch.files) {
    const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
    if (!language || !isTestFile(file.path, language)) continue;
    changed.push(file.path);
    const source = candidateSource(input, file, language);
    const cases = source ? readTests(source, language).cases : [];
    for (const one of cases) {
      if (!isNew(one) || !source?.isAdded(one.start)) continue;
      if (!isListed) return [];
      fresh.push({ name: one.name, language });
    }
    const before = file.changeType === 'add' ? undefined : baseSource(input, file, language);
    const isAlive = cases.some(({ isIdle }) => !isIdle) || language === 'c' || patterns.length > 0;
    const rows = source && isAlive ? newRows(source, language, before?.text ?? '', patterns) : [];
    if (rows.length > 0 && !isListed) return [];
    fresh.push(...rows);
  }
  if (fresh.length > 0) {
    const message = `the patch adds ${fresh.length} test cases`;
    return [{ rule, severity: 'note', message, detail: { cases: fresh.slice(0, maxListed) } }];
  }
  const place = placeOf(input, changed);
  const testFiles = changed.slice(0, 50);
  if (changed.length === 0 && !input.patch.files.some(({ path }) => isOfTests(path))) {
    const message = 'the spec is for a bugfix, and the patch changes no test file';
    return [{ rule, severity: 'error', message, ...place, detail: { testFiles } }];
  }
  const { fastChecks } = input.spec.acceptance.verificationPlan;
  if (fastChecks.some((check) => check.kind === 'testSuite' || isTestCommand(check))) {
    const message = 'the text of the change shows no new test case: the tests of the fast stage decide';
    return [{ rule, severity: 'note', message, ...place, detail: { code: 'NEW_TEST_UNSEEN', testFiles } }];
  }
  return [{ rule, severity: 'error', message: noNewCase, ...place, detail: { testFiles } }];
};

/** If no test file changes, the rule parses no file. */
export const isLinear = (input: RuleInput): boolean =>
  input.patch.files.every((file) => {
    const oldPath = file.oldPath ?? file.path;
    const [before, after] = [languageOf(oldPath), languageOfChange(input, file)];
    return !(before && isTestFile(oldPath, before)) && !(after && isTestFile(file.path, after));
  });

function placeOf(input: RuleInput, changed: readonly string[]): { readonly path?: string } {
  const path = changed[0] ?? input.patch.files[0]?.path;
  return path === undefined ? {} : { path };
}
