import t from 'tap';
import type { CheckOutcome } from '../../../core/contract/check-runner.ts';
import { executed } from '../../../gates/tests-kept/executed.ts';
import { executedLosses, mayLoseTests } from '../../../gates/tests-kept/executed-losses.ts';
import type { CaseFile } from '../../../testing.ts';
import { type AskedCheck, executedCheck, outcome } from '../executed-check.ts';

const files = { 'test/a.test.js': { base: 'a\nb\n', candidate: 'a\n' } };
const changeOf = (
  changed: Readonly<Record<string, CaseFile>> = files,
  objectives: readonly string[] = ['It is simpler'],
) => executedCheck({ files: changed, objectives, ran: outcome([]) }).check;
const codes = (candidate: CheckOutcome, base: CheckOutcome, change = changeOf()) =>
  candidate.executed
    ? executedLosses(change, candidate.executed, base.executed).map(
        ({ severity, detail }) => `${severity} ${detail?.code}`,
      )
    : [];

t.test('fewer tests than at the base, or newly skipped tests, are reported as losses', async (t) => {
  t.same(codes(outcome(['a']), outcome(['a', 'b'])), ['error TESTS_NOT_RUN']);
  t.same(codes(outcome(['a', 'c'], { skipped: ['c'] }), outcome(['a', 'b'])), ['error TESTS_NOT_RUN']);
  t.same(codes(outcome(['a', 'b'], { skipped: ['b'] }), outcome(['a', 'b'])), [
    'error TESTS_NOT_RUN',
    'error TESTS_NOW_SKIPPED',
  ]);
  t.same(codes(outcome(['a', 'b', 'c'], { skipped: ['b'] }), outcome(['a', 'b'])), [
    'error TESTS_NOW_SKIPPED',
  ]);
  t.same(
    codes(outcome(['a']), outcome(['a', 'b'], { failed: ['b'] })),
    ['error TESTS_NOT_RUN'],
    'one that failed there ran',
  );
  t.same(codes(outcome(['a', 'c']), outcome(['a', 'b'])), ['note TESTS_RENAMED']);
  t.same(codes(outcome(['a']), { findings: [], reports: [] }), ['note TESTS_NOT_COMPARED']);
  t.same(codes(outcome(['a', 'b', 'c']), outcome(['a', 'b'])), []);
  t.same(
    codes(outcome(['a']), outcome(['a', 'b'], { skipped: ['b'] })),
    [],
    'one that was skipped is no loss',
  );
  const named = changeOf(files, ['Remove test/a.test.js']);
  t.same(codes(outcome(['a']), outcome(['a', 'b']), named), ['note TESTS_NOT_RUN']);
});

t.test('a finding lists the first 20 lost tests and counts the rest', async (t) => {
  const all = Array.from({ length: 158 }, (_, at) => `case ${at}`);
  const [few, many] = [outcome(['a']).executed, outcome(['a', ...all]).executed];
  const [finding] = few ? executedLosses(changeOf(), few, many) : [];
  t.match(
    finding?.message,
    /^159 tests ran at the base, and 1 of the candidate: `case 0`, .*`case 19`, and 138 more$/,
  );
  t.match(finding?.detail, { base: 159, candidate: 1, count: 158 });
});

t.test('the base runs once, and only if the change can lose tests', async (t) => {
  const runs = async (asked: Partial<AskedCheck> = {}): Promise<number> => {
    const { check, asked: trees } = executedCheck({
      files,
      ran: outcome(['a']),
      reruns: { base: outcome(['a', 'b']) },
      ...asked,
    });
    await executed.judgeCheck(check);
    return trees.length;
  };
  t.equal(await runs(), 1);
  const added = { 'test/a.test.js': { base: 'a\n', candidate: 'a\nb\n' } };
  t.equal(await runs({ files: { 'src/a.js': { base: 'a', candidate: 'b' } } }), 0);
  t.equal(await runs({ files: added }), 0);
  t.equal(await runs({ files: { 'test/b.test.js': { candidate: 'a\n' } } }), 0);
  t.equal(
    await runs({ files: added, more: { comparesAddedLines: true } }),
    1,
    'for a goal, an added line counts',
  );
});

t.test('a command whose output is a report at the base is compared by test ids', async (t) => {
  const command = { id: 'unit', kind: 'command', command: 'npm test' } as const;
  const product = { 'src/a.js': { base: 'a\n', candidate: 'b\n' } };
  const silent = {
    findings: [],
    reports: [],
    result: { combined: { totalBytes: 0 } },
  } as unknown as CheckOutcome;
  const told = async (ran: CheckOutcome, base: CheckOutcome) => {
    const { check } = executedCheck({
      files: product,
      ran,
      reruns: { base },
      more: { check: command as never },
    });
    const { findings = [] } = await executed.judgeCheck(check);
    return findings.map(({ severity, detail }) => `${severity} ${detail?.code}`);
  };
  const warns = 'warning REPORT_NOT_JUDGED';
  t.same(await told(outcome(['a', 'b']), outcome(['a', 'b'])), [warns]);
  t.same(await told(outcome(['a']), outcome(['a', 'b'])), [warns, 'error TESTS_NOT_RUN']);
  t.same(
    await told(silent, outcome(['a', 'b'])),
    [warns, 'error TESTS_NOT_RUN'],
    'the product ended its runner',
  );
  t.same(await told(silent, silent), []);
});

t.test('data that the tests read is part of the tests of the base', async (t) => {
  const data = { 'data/cases.json': { base: '[[1, 2], [3, 4]]\n', candidate: '[]\n' } };
  const ask = async (reads: readonly string[] | undefined, objectives = ['It is simpler']) => {
    const { check, asked } = executedCheck({
      objectives,
      files: { 'src/a.js': { base: 'a\n', candidate: 'b\n' }, ...data },
      ran: outcome(['cases']),
      reruns: { base: outcome(['cases']), 'candidate+base': outcome(['cases'], { failed: ['cases'] }) },
      more: reads ? { reads } : {},
    });
    const { findings = [] } = await executed.judgeCheck(check);
    return { asked, codes: findings.map(({ severity, detail }) => `${severity} ${detail?.code}`) };
  };
  const read = await ask(['data/cases.json', 'src/a.js']);
  t.same(read.asked.at(-1), { tree: 'candidate', tests: [], verificationInputs: ['data/cases.json'] });
  t.same(read.codes, ['error EXPECTATION_LOST']);
  const named = await ask(['data/cases.json'], ['Remove the rows of data/cases.json']);
  t.same(named.codes, ['warning EXPECTATION_CHANGED'], 'the contract lets its rows go');
  t.same((await ask(['src/a.js'])).asked, [], 'no test reads it');
  t.same((await ask(undefined)).asked, []);
});

t.test('a change can lose tests by editing tests or the configuration of a test runner', async (t) => {
  const may = (changed: Readonly<Record<string, CaseFile>>): boolean => mayLoseTests(changeOf(changed).patch);
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
  const product = changeOf({
    'src/a.js': { base: 'a\n', candidate: 'b\n' },
    'test/new.js': { candidate: 'a\n' },
  });
  const without = (names: readonly string[], emptyFiles: readonly string[]) => outcome(names, { emptyFiles });
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
  const named = changeOf(files, ['Remove test/a.test.js']);
  t.same(codes(lost, outcome(['a']), named), ['note TEST_FILE_NOT_RUN', 'note TESTS_RENAMED']);

  const told = async (ran: CheckOutcome) => {
    const { check } = executedCheck({
      files: { 'src/a.js': { base: 'a\n', candidate: 'b\n' }, 'test/new.js': { candidate: 'a\n' } },
      ran,
      reruns: { base: outcome(['a']) },
    });
    return (await executed.judgeCheck(check)).findings ?? [];
  };
  t.same(await told(without(['a'], ['test/new.js'])), []);
  t.match(await told(lost), [{ severity: 'error', detail: { tests: ['test/a.test.js'] } }, {}]);
});

t.test('a test that is still written but no longer runs is an error', async (t) => {
  const ask = async (
    base: readonly string[],
    now: readonly string[],
    texts: string[],
    renamed: [string, string][] = [],
  ) => {
    const says = renamed.map((tests) => ({
      rule: 'tests-kept',
      severity: 'note' as const,
      message: '',
      detail: { code: 'TEST_RENAMED', tests: [tests] },
    }));
    const { check } = executedCheck({
      files,
      ran: outcome(now),
      reruns: { base: outcome(base) },
      says,
      more: { readTexts: async () => new Map(texts.map((text, at) => [`test/${at}`, text])) },
    });
    const { findings = [] } = await executed.judgeCheck(check);
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

t.test(
  'a suite lets a loss of the text go only if it ran the cases and passes with the tests of the base',
  async (t) => {
    const lost = (tests: readonly string[], code = 'TEST_EMPTIED', path = 'test/a.test.js') => ({
      rule: 'tests-kept',
      severity: 'error' as const,
      message: 'a loss',
      path,
      detail: { code, count: tests.length, tests },
    });
    const named = (names: readonly string[], where = 'test/a.test.js') => ({
      ...outcome(names),
      reports: [{ name: 'tests.xml', bytes: Buffer.from(`<testcase file="/w/${where}:3"/>`) }],
    });
    const all = named(['a', 'b']);
    const noteOf = async (says: readonly ReturnType<typeof lost>[], asked: Partial<AskedCheck> = {}) => {
      const reruns = { base: all, 'candidate+base': all };
      const { check } = executedCheck({ files, ran: all, reruns, says, ...asked });
      return (await executed.judgeCheck(check)).note;
    };
    t.same(await noteOf([lost(['a'])]), ['TEST_EMPTIED test/a.test.js']);
    t.same(await noteOf([lost(['c'])]), [], 'no suite ran the case');
    for (const where of ['test/b.test.js', 'test/a.test.jsx', 'my-test/a.test.js'])
      t.same(
        await noteOf([lost(['a'])], { ran: named(['a', 'b'], where) }),
        [],
        `${where} has one of that name`,
      );
    const module = { ran: named(['a', 'b'], 'tests.unit.test_a') };
    t.same(await noteOf([lost(['a'], 'TEST_EMPTIED', 'tests/unit/test_a.py')], module), [
      'TEST_EMPTIED tests/unit/test_a.py',
    ]);
    t.same(await noteOf([lost(['a'], 'ASSERTIONS_STUBBED')]), undefined, 'the base tests are silenced, too');
    t.same(
      await noteOf([lost(['a'], 'TEST_EMPTIED', 'src/a.rs')]),
      undefined,
      'the base tests are beside the product',
    );
    const broken = { base: all, 'candidate+base': outcome(['a', 'b'], { failed: ['b'] }) };
    t.same(await noteOf([lost(['a'])], { reruns: broken }), undefined, 'a test of the base fails');
    t.same(await noteOf([lost(['a'])], { reruns: { base: all } }), undefined, 'the base tests did not run');
    t.same(
      await noteOf([lost(['a'])], { ran: outcome(['a', 'c']) }),
      undefined,
      'a name of the base is gone',
    );
  },
);

t.test('a product that makes a test skip is compared with the base, although no test changed', async (t) => {
  const files = { 'src/a.js': { base: 'a\n', candidate: 'b\n' } };
  const judged = async (skipped: readonly string[]) => {
    const ran = outcome(['a', 'b'], { skipped });
    const { check, asked } = executedCheck({ files, ran, reruns: { base: outcome(['a', 'b']) } });
    const { findings = [] } = await executed.judgeCheck(check);
    return [findings.map(({ severity, detail }) => `${severity} ${detail?.code}`), asked.length];
  };
  t.same(await judged([]), [[], 0], 'no further run');
  t.same(await judged(['b']), [['error TESTS_NOT_RUN', 'error TESTS_NOW_SKIPPED'], 1]);
});
