import t from 'tap';
import type { CheckOutcome } from '../../../../core/contract/check-runner.ts';
import {
  compareExecuted,
  executedLosses,
  mayLoseTests,
} from '../../../../engine/run/judge/compare-executed.ts';
import type { Attempt, RunMeans } from '../../../../engine/run/state/attempt.ts';
import { type CaseFile, toRuleInput } from '../../../../testing.ts';

const files = { 'test/a.test.js': { base: 'a\nb\n', candidate: 'a\n' } };
const attemptOf = (
  changed: Readonly<Record<string, CaseFile>> = files,
  objectives: readonly string[] = ['It is simpler'],
  more: Partial<RunMeans> = {},
): Attempt => {
  const { spec, patch } = toRuleInput({
    name: 'x',
    files: changed,
    spec: { intent: { changeType: 'refactor', objectives } },
  });
  const parts = {
    identity: { contract: { effective: spec } },
    patch: { ...patch, baseCommit: 'a'.repeat(40) },
    ground: { config: { redaction: {} } },
    means: { secrets: { values: [] }, settings: {}, wallClockExceeded: () => false, ...more },
  };
  return parts as unknown as Attempt;
};
const outcome = (names: readonly string[], skipped: readonly string[] = [], failed = 0): CheckOutcome => ({
  findings: [],
  reports: [],
  tests: { passed: names.length - skipped.length - failed, failed, skipped: skipped.length },
  executed: { names: new Set(names), skipped },
});
const codes = (candidate: CheckOutcome, base: CheckOutcome, attempt = attemptOf()) =>
  executedLosses(attempt, candidate, base).map(({ severity, detail }) => `${severity} ${detail?.code}`);

t.test('fewer tests than at the base, or newly skipped tests, are reported as losses', async (t) => {
  t.same(codes(outcome(['a']), outcome(['a', 'b'])), ['error TESTS_NOT_RUN']);
  t.same(codes(outcome(['a', 'c'], ['c']), outcome(['a', 'b'])), ['error TESTS_NOT_RUN']);
  t.same(codes(outcome(['a', 'b'], ['b']), outcome(['a', 'b'])), [
    'error TESTS_NOT_RUN',
    'error TESTS_NOW_SKIPPED',
  ]);
  t.same(codes(outcome(['a', 'b', 'c'], ['b']), outcome(['a', 'b'])), ['error TESTS_NOW_SKIPPED']);
  t.same(
    codes(outcome(['a']), outcome(['a', 'b'], [], 1)),
    ['error TESTS_NOT_RUN'],
    'one that failed there ran',
  );
  t.same(codes(outcome(['a', 'c']), outcome(['a', 'b'])), ['note TESTS_RENAMED']);
  t.same(codes(outcome(['a']), { findings: [], reports: [] }), ['note TESTS_NOT_COMPARED']);
  t.same(codes(outcome(['a', 'b', 'c']), outcome(['a', 'b'])), []);
  t.same(codes(outcome(['a']), outcome(['a', 'b'], ['b'])), [], 'one that was skipped is no loss');
  const named = attemptOf(files, ['Remove test/a.test.js']);
  t.same(codes(outcome(['a']), outcome(['a', 'b']), named), ['note TESTS_NOT_RUN']);
});

t.test('a finding lists the first 20 lost tests and counts the rest', async (t) => {
  const all = Array.from({ length: 158 }, (_, at) => `case ${at}`);
  const [finding] = executedLosses(attemptOf(), outcome(['a']), outcome(['a', ...all]));
  t.match(
    finding?.message,
    /^159 tests ran at the base, and 1 of the candidate: `case 0`, .*`case 19`, and 138 more$/,
  );
  t.match(finding?.detail, { base: 159, candidate: 1, count: 158 });
});

t.test('the base runs once, and only if the change can lose tests', async (t) => {
  let runs = 0;
  const atBase = async (): Promise<CheckOutcome> => {
    runs += 1;
    return outcome(['a', 'b']);
  };
  const ask = (attempt: Attempt, ran = outcome(['a']), kind: 'command' | 'testSuite' = 'testSuite') =>
    compareExecuted(attempt, kind, ran, atBase, async () => ({ texts: [], renamed: [] }));
  t.match((await ask(attemptOf())).findings, [{ detail: { code: 'TESTS_NOT_RUN' } }]);
  t.equal(runs, 1);
  const failed: CheckOutcome = {
    ...outcome(['a']),
    findings: [{ rule: 'x', severity: 'error', message: 'm' }],
  };
  for (const asked of [
    ask(attemptOf(), outcome(['a']), 'command'),
    ask(attemptOf(), failed),
    ask(attemptOf({ 'src/a.js': { base: 'a', candidate: 'b' } })),
    ask(attemptOf({ 'test/a.test.js': { base: 'a\n', candidate: 'a\nb\n' } })),
    ask(attemptOf({ 'test/b.test.js': { candidate: 'a\n' } })),
    ask(attemptOf(files, [], { wallClockExceeded: () => true })),
  ])
    t.same((await asked).findings, []);
  t.equal(runs, 1);
  const added = { 'test/a.test.js': { base: 'a\n', candidate: 'a\nb\n' } };
  await ask(attemptOf(added, [], { settings: { comparesAddedLines: true } as Attempt['means']['settings'] }));
  t.equal(runs, 2, 'for a goal, an added line counts');
});

t.test('a change can lose tests by editing tests or the configuration of a test runner', async (t) => {
  const may = (changed: Readonly<Record<string, CaseFile>>): boolean =>
    mayLoseTests(attemptOf(changed).patch);
  for (const path of [
    'test/a.js',
    'a.spec.ts',
    'tests/test_a.py',
    'a_test.go',
    'spec/a_spec.rb',
    'ATest.java',
    'x/a.bats',
  ]) {
    t.ok(may({ [path]: { base: 'a\n', candidate: 'b\n' } }), path);
    t.ok(may({ [path]: { base: 'a\n' } }), `${path}, deleted`);
    t.notOk(may({ [path]: { candidate: 'a\n' } }), `${path}, new`);
  }
  for (const path of ['package.json', 'jest.config.js', 'pytest.ini', 'test/setup.js', 'Makefile'])
    t.ok(may({ [path]: { candidate: 'a\n' } }), path);
  t.notOk(may({ 'src/a.js': { base: 'a\n', candidate: 'b\n' }, 'README.md': { base: 'a\n' } }));
});

t.test('a test file that no longer runs any test is an error', async (t) => {
  const product = attemptOf({
    'src/a.js': { base: 'a\n', candidate: 'b\n' },
    'test/new.js': { candidate: 'a\n' },
  });
  const without = (names: readonly string[], emptyFiles: readonly string[]): CheckOutcome => {
    const { executed, ...rest } = outcome(names);
    return { ...rest, executed: { names: new Set(names), skipped: [], ...executed, emptyFiles } };
  };
  const lost = without(['b'], ['test/a.test.js']);
  t.same(codes(lost, outcome(['a']), product), ['error TEST_FILE_NOT_RUN', 'note TESTS_RENAMED']);
  t.same(
    codes(without(['a'], ['test/a.test.js']), outcome(['a']), product),
    ['error TEST_FILE_NOT_RUN'],
    'same name',
  );
  t.same(codes(lost, without(['b'], ['test/a.test.js']), product), [], 'it was empty');
  t.same(codes(without(['a'], ['test/new.js']), outcome(['a']), product), [], 'it is new');
  t.same(codes(without(['a'], ['test/a.test.js']), outcome(['a'])), [], 'its tests are elsewhere now');
  const named = attemptOf(files, ['Remove test/a.test.js']);
  t.same(codes(lost, outcome(['a']), named), ['note TEST_FILE_NOT_RUN', 'note TESTS_RENAMED']);

  let runs = 0;
  const ask = (ran: CheckOutcome) =>
    compareExecuted(
      product,
      'testSuite',
      ran,
      async () => {
        runs += 1;
        return outcome(['a']);
      },
      async () => ({ texts: [], renamed: [] }),
    );
  t.same((await ask(without(['a'], ['test/new.js']))).findings, []);
  t.equal(runs, 0);
  t.match((await ask(lost)).findings, [{ severity: 'error', detail: { tests: ['test/a.test.js'] } }, {}]);
  t.equal(runs, 1);
});

t.test('a test that is still written but no longer runs is an error', async (t) => {
  const ask = async (
    base: readonly string[],
    now: readonly string[],
    texts: string[],
    renamed: [string, string][] = [],
  ) => {
    const read = async () => ({ texts, renamed });
    const { findings } = await compareExecuted(
      attemptOf(),
      'testSuite',
      outcome(now),
      async () => outcome(base),
      read,
    );
    return findings.map(({ severity, detail }) => `${severity} ${detail?.code}`);
  };
  const lost = ['error TESTS_NOT_RUN'];
  const note = ['note TESTS_RENAMED'];
  t.same(await ask(['two cents'], ['a'], ["test('two cents', …"]), lost);
  t.same(await ask(['group > two cents'], ['a'], ['it("two cents", …']), lost);
  t.same(await ask(['tests/test_a.py::test_two'], ['test_b'], ['def test_two():']), lost);
  t.same(
    await ask(['two cents'], ['a'], ["test('2 cents', …"], [['two cents', '2 cents']]),
    lost,
    'nor its new name',
  );
  t.same(
    await ask(['two cents'], ['2 cents'], ["// 'two cents'"], [['two cents', '2 cents']]),
    note,
    'renamed',
  );
  t.same(
    await ask(['test_a'], ['test_b[1]'], ['def test_b(x):'], [['test_a', 'test_b']]),
    note,
    'a table now',
  );
  t.same(await ask(['two'], ['4 cents'], ['it "#{n} cents"'], [['two', '#{n} cents']]), note, 'worked out');
  t.same(await ask(['group > two cents'], ['other > two cents'], ["it('two cents'"]), note, 'another group');
  t.same(await ask(['row 3'], ['row 4'], ['it "row #{n}"']), note, 'another row');
});
