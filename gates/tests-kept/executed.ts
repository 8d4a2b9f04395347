/* Compares the executed tests of base and candidate. */
import { posix } from 'node:path';
import type { CheckOutcome, ExecutedTests } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Executed, ExecutedAnswer, ExecutedCheck, ExecutedRule } from '../../core/interfaces/rule.ts';
import { isCode } from '../../readers/source/language.ts';
import {
  isData,
  isNewFile,
  isOfHelpers,
  isOfRunners,
  isOfTestRunners,
  isOfTests,
  isSurelyOfTests,
  runsTests,
} from '../../readers/source/test-paths.ts';
import { testsMayGo } from '../../spec/tests-may-go.ts';
import { declaresTests, usesTestLibrary } from '../test-cases/test-text.ts';
import {
  baseCases,
  baseTests,
  changedData,
  newTestFiles,
  rerunBaseTests,
  sureTests,
  type TestsOfChange,
} from './base-tests.ts';
import {
  assertsNothing,
  compareExpectations,
  failedIn,
  isWrittenIn,
  losesData,
  type TestText,
} from './expectations.ts';
import {
  executedLoss,
  hasFastSuite,
  isLeftToSuite,
  isOfSuite,
  keyOf,
  leftOut,
  mergedAmong,
  ranAt,
  ranIn,
  requestsRemoval,
  type TestsAsWritten,
  testsAsWritten,
} from './tell-losses.ts';

const rule = 'tests-kept';
const maxNamed = 20;

type ComparedCheck = ExecutedCheck & TestsOfChange;

/** What the base ran and the candidate does not. Pure. */
export function executedLosses(
  { spec, patch }: Pick<ExecutedCheck, 'spec' | 'patch'>,
  candidate: ExecutedTests,
  base: ExecutedTests | undefined,
  written: TestsAsWritten = { texts: [], renamed: [], merged: [] },
): readonly Finding[] {
  if (!base) {
    const message =
      'executed tests were not compared with the base: the check leaves no report there that can be read';
    return [{ rule, severity: 'note', message, detail: { code: 'TESTS_NOT_COMPARED' } }];
  }
  const [was, is] = [ranIn(base), ranIn(candidate)];
  const idle = new Set(base.skipped);
  const gone = namesGone(candidate, base);
  const fresh = [...candidate.names].filter((name) => !base.names.has(name));
  const merged = mergedAmong(gone, written);
  const missed = leftOut(gone, fresh, written);
  const left = candidate.skipped.filter((name) => base.names.has(name) && !idle.has(name));
  const emptied = emptiedFiles(patch, candidate, base, gone);
  const mayGo = testsMayGo(spec, patch.files, ({ path }) => isOfTests(path));
  const changed = patch.files.map(({ path, oldPath }) => oldPath ?? path).filter(isOfTests);
  const isNamed = (name: string): boolean => name.split(/ > | \u203a |::/).some((part) => mayGo('', part));
  const isAllowed = changed.some((path) => mayGo(path)) || (gone.length > 0 && gone.every(isNamed));
  const severity = isAllowed ? 'note' : 'error';
  const findings: Finding[] = [];
  const tell = (code: string, told: Finding['severity'], message: string, tests: readonly string[]): void => {
    const asks = told === 'error' ? requestsRemoval : '';
    findings.push(executedLoss(code, told, message, tests, asks, { base: was, candidate: is }));
  };
  if (emptied.length > 0)
    tell('TEST_FILE_NOT_RUN', severity, 'files run no test any more, and did at the base', emptied);
  if (is < was - merged.length)
    tell('TESTS_NOT_RUN', severity, `${was} tests ran at the base, and ${is} of the candidate`, gone);
  else if (missed.length > 0)
    tell('TESTS_NOT_RUN', severity, `${missed.length} tests of the base are written and run no more`, missed);
  else if (gone.length > 0)
    tell(
      'TESTS_RENAMED',
      'note',
      `names of ${gone.length} tests of the base are not reported any more`,
      gone,
    );
  if (left.length > 0)
    tell('TESTS_NOW_SKIPPED', severity, `${left.length} tests that the base runs are skipped`, left);
  return findings;
}

/** Names that ran at the base and that the candidate does not report. */
function namesGone(candidate: ExecutedTests, base: ExecutedTests): readonly string[] {
  const idle = new Set(base.skipped);
  return [...base.names].filter((name) => !candidate.names.has(name) && !idle.has(name));
}

/** Files without a test that the patch did not bring. */
function oldEmptyFiles(
  { files }: Pick<PatchSet, 'files'>,
  executed: CheckOutcome['executed'],
): readonly string[] {
  const isNew = new Set(files.filter(isNewFile).map(({ path }) => path));
  const empty = executed?.emptyFiles ?? [];
  return empty.length < maxNamed ? empty.filter((path) => !isNew.has(path)) : empty;
}

/**
 * Of those, the ones that ran tests at the base. A changed file may have given its tests to another, where all names of
 * the base are still reported; so may one that only another configuration collects.
 */
function emptiedFiles(
  patch: Pick<PatchSet, 'files'>,
  candidate: ExecutedTests,
  base: ExecutedTests,
  gone: readonly string[],
): readonly string[] {
  const was = base.emptyFiles ?? [];
  // The lists are cut: which are missing is not known then.
  if (was.length >= maxNamed) return [];
  const changed = new Set(patch.files.map(({ path }) => path));
  const isConfigured = patch.files.some(({ path }) => isOfRunners(path));
  return oldEmptyFiles(patch, candidate).filter(
    (path) => !was.includes(path) && (gone.length > 0 || !(changed.has(path) || isConfigured)),
  );
}

/**
 * Compares the executed tests with the base. A passing check must not run fewer tests than at the base, skip a test
 * that ran there, or leave out a file. The candidate must also pass the base's tests, with their data, unless the
 * spec allows the loss.
 *
 * Each suite is compared, because product code can make tests vanish without a change of any test. The results of a
 * suite at the base are usually cached from the previous change. A loss in the text of the change is an error, unless
 * a suite of the fast stage shows that no test is lost.
 */
export const executed: ExecutedRule = {
  async judgeCheck(one: ExecutedCheck): Promise<ExecutedAnswer> {
    const { findings = [], ...answer } = await compareWithBase(one);
    return { ...answer, findings: [...findings, ...(await stillRewritten(one))] };
  },

  async judgeStage({ stage, spec, patch, checks, notes, ask }) {
    if (stage !== 'fast' || !hasFastSuite(spec) || !patch.files.some(isOfSuite)) return [];
    if (checks.some(({ findings }) => findings.some(isLoss))) return [];
    const kept = new Set([...notes.values()].flatMap((note) => note as readonly string[]));
    return (await ask(['--as-written'])).filter((one) => isLeftToSuite(one) && !kept.has(keyOf(one)));
  },
};

async function compareWithBase(given: ExecutedCheck): Promise<ExecutedAnswer> {
  const { check, ran, patch } = given;
  if (!(await isCompared(given))) return {};
  const one = await withUnnamedTests(given);
  const written = patch.files.some(isOfSuite) ? await one.ask(['--as-written']) : [];
  const doubted = check.kind === 'testSuite' ? written.filter(isLeftToSuite) : [];
  const base = await one.rerun({ tree: 'base' });
  if (base === undefined) return {};
  const findings: Finding[] = [];
  if (check.kind === 'command') {
    if (!base.executed) return { findings: (await compareByExit(one)) ?? (await needNewFiles(one, base)) };
    findings.push(namesSuite(base.executed));
  }
  const gone = ran.executed && base.executed ? namesGone(ran.executed, base.executed) : [];
  const texts = gone.length > 0 ? await testsAsWritten(one, written) : undefined;
  const lossesBy = (written: TestsAsWritten | undefined): readonly Finding[] =>
    executedLosses(one, ran.executed ?? nothing, base.executed, written);
  findings.push(...lossesBy(texts));
  if (!base.executed || findings.some(({ severity }) => severity === 'error')) return { findings };
  const compared = await askBaseTests(one, base);
  findings.push(...(compared ?? []), ...(await needNewFiles(one, base)));
  // What became part of other tests has to pass as the base has it, or it is gone.
  if (texts && texts.merged.length > 0 && compared?.length !== 0)
    findings.push(...lossesBy({ ...texts, merged: [] }).filter(isLoss));
  const isKept = doubted.length > 0 && ran.executed !== undefined && compared && findings.length === 0;
  if (!isKept || !(await passesCases(one, base.executed))) return { findings };
  return { findings, note: await ranAt(one, base.executed, doubted) };
}

/**
 * Tests that earlier runs of the session's goal rewrote and that still fail on the candidate as they were before. They
 * count against the goal until they pass.
 */
async function stillRewritten(one: ExecutedCheck): Promise<readonly Finding[]> {
  const { rewritten } = one;
  if (rewritten === undefined) return [];
  const before = (await one.rerun({ tree: 'candidate', asBefore: rewritten.paths })) ?? {};
  const failed = failedIn(before);
  const well = new Set([...(before.executed?.names ?? [])].filter((name) => !failed.includes(name)));
  // Of a long list only the first names are known.
  const isCut = rewritten.tests.length >= maxNamed;
  const still = [
    ...new Set([...rewritten.tests.filter((name) => !well.has(name)), ...(isCut ? failed : [])]),
  ];
  if (still.length === 0) return [];
  const what = `${still.length} test${still.length === 1 ? '' : 's'} that an earlier run of the goal rewrote still fail${still.length === 1 ? 's' : ''} as before the rewriting`;
  const { paths } = rewritten;
  return [executedLoss('EXPECTATION_CHANGED', 'warning', what, still, '', { redAtBase: true, paths })];
}

/** Whether the base's cases alone pass over the candidate, too, if the change edits code beside them. */
async function passesCases(one: ComparedCheck, base: ExecutedTests): Promise<boolean> {
  const [all, cases] = [baseTests(one), baseCases(one)];
  if (cases.length === all.length) return true;
  const laid = await rerunBaseTests(one, cases);
  return (
    laid?.executed !== undefined &&
    laid.executed.counts.failed === 0 &&
    namesGone(laid.executed, base).length === 0
  );
}

function isLoss({ rule, severity }: Finding): boolean {
  return rule === 'tests-kept' && severity === 'error';
}

const nothing = { counts: { passed: 0, failed: 0, skipped: 0 }, names: new Set<string>(), skipped: [] };

async function isCompared(one: ExecutedCheck): Promise<boolean> {
  const { check, ran, patch } = one;
  if (patch.baseCommit === undefined) return false;
  if (ran.executed !== undefined) return true;
  if (check.kind !== 'command') return false;
  // If such a command reports no tests, a product may have ended it.
  return runsTests(check.command ?? '') || (patch.files.some(isOfSuite) && (await one.leadsToTests()));
}

/** A note where the tests were read from what the runner prints: kind `testSuite` needs another reporter then. */
function namesSuite(base: ExecutedTests): Finding {
  const count = ranIn(base);
  const { isPrinted = false } = base;
  return {
    rule: 'tests-kept',
    severity: isPrinted ? 'note' : 'warning',
    message: `its output at the base is a report of ${count} test${count === 1 ? '' : 's'}, and a check of kind \`command\` looks at the exit code alone: use kind \`testSuite\`${isPrinted ? ' and a report that the runner writes' : ''}`,
    detail: { code: 'REPORT_NOT_JUDGED' },
  };
}

/** Whether a check that names no tests passes with the base's tests and data, too, as far as its exit code shows. */
async function compareByExit(one: ComparedCheck): Promise<readonly Finding[] | undefined> {
  const laid = await rerunBaseTests(one);
  if (laid === undefined) return undefined;
  if (laid.failedBy === undefined || laid.executed?.counts.failed === 0) return [];
  const mayGo = testsMayGo(one.spec, one.patch.files, ({ path }) => isOfTests(path));
  const texts = (await textsOf(one)).filter(({ path }) => !mayGo(path));
  const isDataLost = losesData(texts) && !(await isDataKept(one, texts, []));
  const isLost = isDataLost || texts.some(assertsNothing) || one.patch.files.some(isDisabled);
  const [code, severity] = isLost
    ? (['EXPECTATION_LOST', 'error'] as const)
    : (['EXPECTATION_CHANGED', 'warning'] as const);
  const why = isLost ? 'and they say less than before' : 'so the change expects something else';
  return [
    executedLoss(
      code,
      severity,
      `the check fails on the candidate with the base's tests and data, ${why}`,
      [],
      isLost ? requestsRemoval : '',
    ),
  ];
}

/**
 * Whether shorter data still judges: with it, these tests fail over the product of the base. Expected output gets
 * shorter with the output of the product; cases that are gone judge nothing.
 */
async function isDataKept(
  one: ComparedCheck,
  texts: readonly TestText[],
  tests: readonly unknown[],
): Promise<boolean> {
  const data = texts.map(({ path }) => path).filter(isData);
  const over = data.length === 0 ? undefined : await one.rerun({ tree: 'base', tests: data });
  if (over?.failedBy === undefined) return false;
  const failed = new Set<unknown>(failedIn(over));
  return tests.every((name) => failed.has(name));
}

/** A test file that a runner may pass over, because it is not executable any more. */
function isDisabled({ path, oldPath = path, oldMode, newMode }: PatchFile): boolean {
  return oldMode === '100755' && newMode === '100644' && isOfTests(oldPath);
}

/**
 * Tests of the base that pass only with the test files that the change adds. Runners that load all files in one process
 * let one of them replace the product for the others. If the change edits tests as well, those in edited files may need
 * the new files: only failures of other tests count then.
 */
async function needNewFiles(one: ComparedCheck, base: Executed): Promise<readonly Finding[]> {
  const paths = newTestFiles(one);
  const was = base.executed ?? nothing;
  if (paths.length === 0 || (base.executed && ranIn(was) === 0)) return [];
  const others = baseTests(one).length === 0 ? undefined : await failedElsewhere(one, was);
  if (others?.length === 0) return [];
  const failing = (left: Executed | undefined): readonly string[] | undefined =>
    failingOf(left, base, others);
  const tests = failing(await one.rerun({ tree: 'candidate', tests: paths }));
  if (tests === undefined) return [];
  // The change may have set the runner up to load a new file.
  const settings = one.patch.files
    .filter((file) => !isNewFile(file))
    .map(({ path, oldPath = path }) => oldPath)
    .filter(isOfTestRunners);
  if (settings.length > 0) {
    const bare = await one.rerun({ tree: 'candidate', tests: [...paths, ...settings] });
    if (bare !== undefined && failing(bare) === undefined) return [];
  }
  const message = `tests of the base fail on the candidate without the test files that the change adds (${paths
    .slice(0, maxNamed)
    .map((path) => `\`${path}\``)
    .join(', ')})`;
  const mayGo = testsMayGo(one.spec, one.patch.files, ({ path }) => isOfTests(path));
  const isAllowed = tests.length > 0 && tests.every((name) => mayGo('', name));
  const asks = isAllowed
    ? ''
    : '; add them in a change of their own, or let an objective that speaks of their rewriting name these tests';
  return [executedLoss('TESTS_NEED_NEW_FILES', isAllowed ? 'note' : 'error', message, tests, asks)];
}

/**
 * The tests of the base that a run does not pass; `undefined` if it passes all of them. It may also end with an error
 * because fewer tests cover the product. `others`: only these count, and only if they fail.
 */
function failingOf(
  left: Executed | undefined,
  base: Executed,
  others: readonly string[] | undefined,
): readonly string[] | undefined {
  if (left === undefined) return undefined;
  const was = base.executed ?? nothing;
  const { executed, failedBy } = left;
  const failed = executed ? failedIn(left) : failedBy ? [...was.names] : [];
  if (others) return listed(others.filter((name) => failed.includes(name)));
  if (was.names.size > 0)
    return listed([...failed, ...namesGone(executed ?? nothing, was)].filter((name) => was.names.has(name)));
  const isWell = executed ? executed.counts.failed === 0 && ranIn(executed) >= ranIn(was) : !failedBy;
  return isWell ? undefined : [];
}

function listed(names: readonly string[]): readonly string[] | undefined {
  return names.length === 0 ? undefined : [...new Set(names)].sort();
}

/** Tests that fail on the candidate with the base's tests, and that no edited file names. */
async function failedElsewhere(one: ComparedCheck, base: ExecutedTests): Promise<readonly string[]> {
  const laid = await rerunBaseTests(one);
  const red = failedIn({ executed: base });
  // Without a report, the product has ended or broken the runner.
  const all = laid?.failedBy && !laid.executed ? [...base.names] : failedIn(laid ?? {});
  const failed = all.filter((name) => base.names.has(name) && !red.includes(name));
  if (failed.length === 0) return [];
  const texts = await textsOf(one);
  return failed.filter((name) => !isWrittenIn(name, texts));
}

/**
 * Runs the check once more on the candidate with the base's versions of changed test files, and of data that they read:
 * what fails there is what the change expects otherwise. `undefined` if that was not compared.
 */
async function askBaseTests(one: ComparedCheck, base: Executed): Promise<readonly Finding[] | undefined> {
  const { spec, patch, isForGoal } = one;
  if (base.executed?.names.size === 0) return compareByExit(one);
  const laid = await rerunBaseTests(one);
  if (laid === undefined) return undefined;
  const mayGo = testsMayGo(spec, patch.files, ({ path }) => isOfTests(path));
  const asked = { base, texts: await textsOf(one), mayGo, isForGoal };
  const findings = compareExpectations({ ...asked, laid });
  const lost = findings.find(({ detail }) => detail?.code === 'EXPECTATION_LOST')?.detail?.tests;
  if (Array.isArray(lost) && (await isDataKept(one, asked.texts, lost)))
    return compareExpectations({ ...asked, laid, isDataKept: true });
  const [all, sure] = [baseTests(one), sureTests(one)];
  if (findings.length > 0 || sure.length === all.length) return findings;
  // The other files may be product: then the base's tests have judged the base's product.
  const other = await rerunBaseTests(one, sure);
  return other ? compareExpectations({ ...asked, laid: other }) : findings;
}

/**
 * Files whose names leave open whether they are tests count as such if they declare tests, and helpers of tests if they
 * take their assertions from a test library. A new file in a directory of tests counts if no changed product names it.
 */
async function withUnnamedTests(one: ExecutedCheck): Promise<ComparedCheck> {
  const files = one.patch.files.filter(({ path, oldPath = path }) => isCode(oldPath) && isCode(path));
  const isOpen = (path: string): boolean => !isSurelyOfTests(path);
  const changed = files.filter((file) => !isNewFile(file));
  const old = changed.map(({ path, oldPath = path }) => oldPath).filter(isOpen);
  const fresh = files
    .filter(isNewFile)
    .map(({ path }) => path)
    .filter(isOpen);
  const base = await one.readTexts('base', old);
  const candidate =
    fresh.length > 0
      ? await one.readTexts(
          'candidate',
          files.map(({ path }) => path),
        )
      : base;
  const isTest = (path: string, text = ''): boolean =>
    declaresTests(text) || usesTestLibrary(text, isOfHelpers(path));
  const product = [...candidate].flatMap(([path, text]) => (isOfTests(path) ? [] : [text])).join('\n');
  const isUnnamed = (path: string): boolean => isOfTests(path) && !product.includes(posix.parse(path).name);
  return {
    ...one,
    tests: [...(await one.testsByUse()), ...old.filter((path) => isTest(path, base.get(path)))],
    added: fresh.filter((path) => declaresTests(candidate.get(path) ?? '') || isUnnamed(path)),
  };
}

/** All changed test files, new ones too: a case may have moved to one. */
async function textsOf(one: ComparedCheck): Promise<readonly TestText[]> {
  const also = [...changedData(one), ...(one.tests ?? [])];
  const isWanted = (path: string): boolean => isOfTests(path) || also.includes(path);
  const files = one.patch.files.filter(
    ({ path, oldPath = path, binary }) => !binary && (isWanted(path) || isWanted(oldPath)),
  );
  const old = files.filter((file) => !isNewFile(file));
  const base = await one.readTexts(
    'base',
    old.map(({ path, oldPath = path }) => oldPath),
  );
  const candidate = await one.readTexts(
    'candidate',
    files.map(({ path }) => path),
  );
  return files.map((file) => {
    const { path, oldPath = path } = file;
    const before = isNewFile(file) ? undefined : base.get(oldPath);
    const after = candidate.get(path);
    return {
      path: oldPath,
      ...(before === undefined ? {} : { base: before }),
      ...(after === undefined ? {} : { candidate: after }),
    };
  });
}
