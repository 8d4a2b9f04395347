import t from 'tap';
import type { CheckOutcome, ExecutedTests } from '../../../core/interfaces/check.ts';
import type { Executed } from '../../../core/interfaces/rule.ts';
import { assertingStatements } from '../../../gates/test-cases/assertions.ts';
import { compareExpectations, type Expectations } from '../../../gates/tests-kept/expectations.ts';
import { outcome as suiteOutcome } from '../executed-check.ts';
import { gutted, honest, type Rewritten } from './gutted.ts';

const outcome = (
  names: readonly string[],
  failed: readonly string[] = [],
  skipped: readonly string[] = [],
): CheckOutcome => suiteOutcome(names, { failed, skipped });
const compare = (more: Partial<Expectations>): readonly string[] =>
  compareExpectations({
    base: outcome(['a', 'b']),
    laid: outcome(['a', 'b']),
    texts: [],
    mayGo: () => false,
    ...more,
  }).map(({ severity, detail }) => `${severity} ${detail?.code} ${String(detail?.tests)}`);
const rewritten = ({ test, base, candidate }: Rewritten, mayGo = (): boolean => false): readonly string[] =>
  compare({
    base: outcome([test, 'other']),
    laid: outcome([test, 'other'], [test]),
    texts: [{ path: 'test/price', base, candidate }],
    mayGo,
  });

t.test(
  'a base test that fails on the candidate and asserts less is EXPECTATION_LOST in any language',
  async (t) => {
    for (const one of gutted) {
      t.same(rewritten(one), [`error EXPECTATION_LOST ${one.test}`], one.language);
      t.same(
        rewritten(one, () => true),
        [`warning EXPECTATION_CHANGED ${one.test}`],
        `${one.language}, named`,
      );
    }
  },
);

t.test('a changed expectation is a warning, not an error', async (t) => {
  for (const one of honest) t.same(rewritten(one), [`warning EXPECTATION_CHANGED ${one.test}`], one.language);
});

t.test('a test that failed at the base and passes only as rewritten is EXPECTATION_CHANGED', async (t) => {
  const base = outcome(['a', 'b'], ['a']);
  const found = (laid: Executed): readonly unknown[] =>
    compareExpectations({ base, laid, texts: [], mayGo: () => false }).map(({ severity, detail }) => [
      severity,
      detail?.code,
      detail?.tests,
      detail?.redAtBase,
    ]);
  t.same(found(outcome(['a', 'b'], ['a'])), [['error', 'EXPECTATION_CHANGED', ['a'], true]]);
  t.same(found(outcome(['a', 'b'], ['a', 'b'])), [
    ['warning', 'EXPECTATION_CHANGED', ['b'], undefined],
    ['error', 'EXPECTATION_CHANGED', ['a'], true],
  ]);
  t.same(found(outcome(['a', 'b'])), [], 'the product was repaired');
  t.same(found(outcome(['b'])), [], 'a file that did not load at the base loads');
  t.same(found(outcome(['b', 'test/a.js'], ['test/a.js'])), [['note', 'BASE_TESTS_NOT_RUN', ['a'], true]]);
  t.same(found({}).at(0), ['note', 'BASE_TESTS_NOT_RUN', ['a'], true]);
});

t.test('only tests that ran at the base and fail with the base test files are reported', async (t) => {
  t.same(compare({}), []);
  t.same(compare({ base: outcome(['a', 'b'], [], ['a']), laid: outcome(['a', 'b'], ['a']) }), []);
  t.same(compare({ laid: outcome(['a', 'b', 'new'], ['new']) }), [], 'a test that the change brings');
  t.same(compare({ laid: outcome(['b', 'test/a.test.js'], ['test/a.test.js']) }), [
    'note BASE_TESTS_NOT_RUN a',
  ]);
  t.same(compare({ laid: {} }), ['warning BASE_TESTS_NOT_RUN a,b']);
});

t.test('a test moved to a new file loses no expectation unless an assertion is dropped', async (t) => {
  const base = "test('a', () => {\n  assert.equal(price(2), 200);\n  assert.equal(name(), 'x');\n});\n";
  const moved = base.replace('200', '210');
  const to = (candidate: string): readonly string[] =>
    compare({
      laid: outcome(['a', 'b'], ['a']),
      texts: [
        { path: 'test/old.js', base },
        { path: 'test/new.js', candidate },
      ],
    });
  t.same(to(moved), ['warning EXPECTATION_CHANGED a']);
  t.same(to(moved.replace(/.*price.*\n/, '')), ['error EXPECTATION_LOST a']);
});

/** With other counts. */
const outcomeWith = (laid: CheckOutcome, counts: ExecutedTests['counts']): CheckOutcome =>
  laid.executed ? { ...laid, executed: { ...laid.executed, counts } } : laid;

t.test('assertions are counted over all files if more tests failed than are named', async (t) => {
  const own = 'def test_two():\n    assert price(2) == ';
  const texts = [
    { path: 'test/a.py', base: `${own}200\n`, candidate: `${own}210\n` },
    { path: 'test/b.py', base: 'assert one\nassert two\n', candidate: 'assert one\n' },
  ];
  const base = outcome(['test_two', 'b']);
  const laid = outcome(['test_two', 'b'], ['test_two']);
  t.same(compare({ base, laid, texts }), ['warning EXPECTATION_CHANGED test_two']);
  const more = { passed: 0, failed: 300, skipped: 0, failedTests: [{ name: 'test_two' }] };
  t.same(compare({ base, laid: outcomeWith(laid, more), texts }), ['error EXPECTATION_LOST test_two']);
});

t.test('removing one of two identical assertions is EXPECTATION_LOST', async (t) => {
  const base = 'def test_two():\n    assert pop(q)\n    assert pop(q)\n    assert size(q) == 0\n';
  const is = (candidate: string): readonly string[] =>
    rewritten({ language: 'python', test: 'test_two', base, candidate });
  t.same(is(base.replace('    assert pop(q)\n', '')), ['error EXPECTATION_LOST test_two']);
  t.same(is(base.replace('== 0', '== 1')), ['warning EXPECTATION_CHANGED test_two']);
});

t.test('comments, imports and constant assertions are not counted', async (t) => {
  const none = [
    '// assert.equal(a, b)',
    '# assert a',
    "import assert from 'assert';",
    'assert.ok(true);',
    'expect(true).toBe(true)',
    "const x = 'assert this';",
  ];
  t.same(assertingStatements(none.join('\n')).statements, []);
  t.same(assertingStatements('/* one\nassert a\n*/\n').statements, []);
});

t.test(
  'a case with the same assertions that ends earlier, or goes through fewer rows, is EXPECTATION_LOST',
  async (t) => {
    const kept =
      "test('two cost 200', () => {\n  for (const [n, cents] of rows) {\n    assert.equal(price(n), cents);\n  }\n});\n";
    const rows = 'const rows = [\n  [1, 100],\n  [2, 200],\n];\n';
    const base = rows + kept;
    const code = (candidate: string, path = 'test/price.test.js') =>
      compare({
        base: outcome(['two cost 200']),
        laid: outcome(['two cost 200'], ['two cost 200']),
        texts: [{ path, base, candidate }],
      })[0]?.split(' ')[1];
    const lost: Readonly<Record<string, string>> = {
      'an exit under a condition': base.replace('  for', '  if (price(1) === 0) return;\n  for'),
      'a bare return': base.replace('  for', '  return;\n  for'),
      'no row': base.replace('of rows', 'of rows.filter(() => false)'),
      'fewer rows': base.replace('  [1, 100],\n', ''),
    };
    for (const [name, candidate] of Object.entries(lost)) t.equal(code(candidate), 'EXPECTATION_LOST', name);
    const given = base.replace('for', "  run(input, ['--file=a.txt']);\n  for");
    t.equal(
      compare({
        base: outcome(['two cost 200']),
        laid: outcome(['two cost 200'], ['two cost 200']),
        texts: [
          { path: 'a.test.js', base: given, candidate: given.replace("'--file=a.txt'", 'f"--file={a}"') },
        ],
      })[0]?.split(' ')[1],
      'EXPECTATION_CHANGED',
      'arguments of a call are no rows',
    );
    for (const candidate of [base.replace('100', '120'), base.replace('[2, 200],', '[2, 200],\n  [3, 250],')])
      t.equal(code(candidate), 'EXPECTATION_CHANGED', candidate);
    t.equal(code(`${base}export const f = () => {\n  return;\n};\n`, 'test/helper.js'), 'EXPECTATION_LOST');
  },
);
