import t from 'tap';
import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import type { Rerun } from '../../../core/interfaces/rule.ts';
import { executed, executedLosses } from '../../../gates/tests-kept/executed.ts';
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
  for (const objective of [
    'Rename the parameter n of fee and keep test/a.test.js green',
    'Replace the loop in src/a.js, so that test/a.test.js passes faster',
    'Remove the cache; test/a.test.js stays',
  ])
    t.same(
      codes(outcome(['a']), outcome(['a', 'b']), changeOf(files, [objective])),
      ['error TESTS_NOT_RUN'],
      objective,
    );
});

t.test('a finding lists the first 20 lost tests and counts the rest', async (t) => {
  const all = Array.from({ length: 158 }, (_, at) => `case ${at}`);
  const [few, many] = [outcome(['a']).executed, outcome(['a', ...all]).executed];
  const [finding] = few ? executedLosses(changeOf(), few, many) : [];
  t.match(
    finding?.message,
    /^159 tests ran at the base, and 1 of the candidate: `case 0`, .*`case 19`, and 138 more; to remove tests on purpose, an objective /,
  );
  t.match(finding?.detail, { base: 159, candidate: 1, count: 158 });
});

t.test(
  'each suite is compared with its base, and with the tests of the base if one of them changes',
  async (t) => {
    const trees = async (changed: AskedCheck['files']): Promise<readonly string[]> => {
      const both = outcome(['a', 'b']);
      const reruns = { base: both, 'candidate+base': both };
      const { check, asked } = executedCheck({ files: changed, ran: both, reruns });
      t.same((await executed.judgeCheck(check)).findings, []);
      return asked.map(({ tree }) => tree);
    };
    t.same(await trees({ 'src/a.js': { base: 'a', candidate: 'b' } }), ['base']);
    t.same(await trees({ 'test/b.test.js': { candidate: 'a\n' } }), ['base']);
    t.same(await trees(files), ['base', 'candidate']);
    const added = { 'test/a.test.js': { base: 'a\n', candidate: 'a\nb\n' } };
    t.same(await trees(added), ['base', 'candidate'], 'an added line may end a case');
  },
);

t.test('a product that makes tests vanish or skip is refused, although no test changed', async (t) => {
  const product = { 'src/a.js': { base: 'a\n', candidate: 'b\n' } };
  const judged = async (names: readonly string[], skipped: readonly string[], objectives?: string[]) => {
    const { check } = executedCheck({
      files: product,
      ran: outcome(names, { skipped }),
      reruns: { base: outcome(['group > a', 'group > b']) },
      ...(objectives ? { objectives } : {}),
    });
    const { findings = [] } = await executed.judgeCheck(check);
    return findings.map(({ severity, detail }) => `${severity} ${detail?.code}`);
  };
  t.same(await judged(['group > a', 'group > b'], []), []);
  t.same(await judged(['group > a'], []), ['error TESTS_NOT_RUN']);
  t.same(await judged(['group > a', 'group > b'], ['group > b']), [
    'error TESTS_NOT_RUN',
    'error TESTS_NOW_SKIPPED',
  ]);
  t.same(await judged(['group > a'], [], ['Remove the case `group > b`']), ['note TESTS_NOT_RUN']);
});

t.test(
  'two tests that become one are fewer tests and no loss, if the text finds their words again',
  async (t) => {
    const judged = async (merged: readonly string[], failed: readonly string[] = []) => {
      const { check } = executedCheck({
        files,
        ran: outcome(['a and b', 'c']),
        reruns: { base: outcome(['a', 'b', 'c']), 'candidate+base': outcome(['a', 'b', 'c'], { failed }) },
        says: merged.map((name) => ({
          rule: 'tests-kept',
          severity: 'note',
          message: '',
          detail: { code: 'TEST_MERGED', tests: [name] },
        })),
      });
      const { findings = [] } = await executed.judgeCheck(check);
      return findings.map(({ severity, detail }) => `${severity} ${detail?.code}`);
    };
    t.same(await judged(['b']), ['note TESTS_RENAMED']);
    t.same(await judged([]), ['error TESTS_NOT_RUN']);
    const broken = await judged(['b'], ['b']);
    t.ok(broken.includes('error TESTS_NOT_RUN'), `${broken}: the candidate fails what it merged`);
  },
);

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
  const laid = { tree: 'candidate', tests: [], verificationInputs: ['data/cases.json'] };
  const over = { tree: 'base', tests: ['data/cases.json'] };
  t.same(read.asked, [{ tree: 'base' }, laid, over], 'whether shorter data still judges');
  t.same(read.codes, ['error EXPECTATION_LOST']);
  const named = await ask(['data/cases.json'], ['Remove the rows of data/cases.json']);
  t.same(named.codes, ['warning EXPECTATION_CHANGED'], 'the contract lets its rows go');
  t.same((await ask(['src/a.js'])).asked, [{ tree: 'base' }], 'no test reads it');
  t.same((await ask(undefined)).asked, [{ tree: 'base' }, laid, over], 'what was read is not known');
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
    const all = outcome(['a', 'b']);
    const less = { 'base without test/a.test.js': outcome(['b']) };
    const noteOf = async (says: readonly ReturnType<typeof lost>[], asked: Partial<AskedCheck> = {}) => {
      const reruns = { base: all, 'candidate+base': all, ...less };
      const { check } = executedCheck({ files, ran: all, reruns, says, ...asked });
      return (await executed.judgeCheck(check)).note;
    };
    t.same(await noteOf([lost(['a'])]), ['TEST_EMPTIED test/a.test.js']);
    t.same(await noteOf([lost(['c'])]), [], 'no suite ran the case');
    const beside = { ...files, 'spec/fee.js': { base: 'a\n', candidate: 'b\n' } };
    const rerun = async ({ tree, tests = [], without }: Rerun) => {
      if (without) return less['base without test/a.test.js'];
      const isWhole = tree === 'base' || tests.includes('spec/fee.js');
      return isWhole ? all : outcome(['a', 'b'], { failed: ['a'] });
    };
    t.same(
      await noteOf([lost(['a'])], { files: beside, more: { rerun } }),
      undefined,
      'product in a directory of tests: the base’s case fails over it',
    );
    const elsewhere = { base: all, 'candidate+base': all, 'base without test/a.test.js': all };
    t.same(await noteOf([lost(['a'])], { reruns: elsewhere }), [], 'another file has a case of that name');
    t.same(
      await noteOf(['a', 'b', 'c', 'd'].map((name) => lost(['a'], 'TEST_EMPTIED', `test/${name}.test.js`))),
      [],
      'losses in more files than are looked at',
    );
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
