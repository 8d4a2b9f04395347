import { readFileSync } from 'node:fs';
import t from 'tap';
import { parseCases } from '../../../bench/parse-cases.ts';
import { judge } from '../../../gates/rules/new-tests.ts';
import { type CaseFile, type GateCase, gateTester, toRuleInput } from '../../../testing.ts';
import { findRule } from './find-rule.ts';

const spec = { intent: { changeType: 'bugfix' as const } };
const fix = { 'src/a.ts': { base: 'a\n', candidate: 'b\n' } };
const with_ = (name: string, files: Readonly<Record<string, CaseFile>>): GateCase => ({
  name,
  spec,
  files: { ...fix, ...files },
});

const first = "import t from 'tap';\nt.test('adds', async (t) => {\n  t.equal(add(1, 2), 3);\n});\n";
const second = "t.test('refuses nonsense', async (t) => {\n  t.throws(() => add('a'));\n});\n";

const added: readonly (readonly [language: string, path: string, base: string, candidate: string])[] = [
  [
    'node:test',
    'test/a.test.ts',
    "it('a', () => { f(1); });\n",
    "it('a', () => { f(1); });\nit('b', () => { f(2); });\n",
  ],
  ['each', 'a.spec.js', '', "test.each([[1], [2]])('is %i', (n) => { f(n); });\n"],
  ['only', 'a.spec.js', '', "test.only('a', () => { f(1); });\n"],
  [
    'Python',
    'tests/test_a.py',
    'def test_a():\n    f(1)\n',
    'def test_a():\n    f(1)\n\n\ndef test_b():\n    f(2)\n',
  ],
  ['Python, async, in a class', 'a_test.py', '', 'class TestA:\n    async def test_b(self):\n        f(2)\n'],
  ['bats', 'test/a.bats', '', '@test "adds" {\n  run add 1 2\n}\n'],
  ['shell', 'test_a.sh', '', 'test_adds() {\n  add 1 2\n}\n'],
  ['RSpec', 'spec/a_spec.rb', '', "it 'adds' do\n  expect(add(1)).to eq 2\nend\n"],
  ['minitest', 'test/a_test.rb', '', 'def test_adds\n  assert add(1)\nend\n'],
  ['PHPUnit', 'tests/ATest.php', '', '<?php\nclass ATest { public function testAdds() { f(1); } }\n'],
  [
    'PHPUnit by attribute',
    'tests/ATest.php',
    '',
    '<?php\nclass ATest { #[Test] public function adds() { f(1); } }\n',
  ],
  ['Perl', 't/a.t', '', "subtest 'adds' => sub { is(add(1), 2); };\n"],
  ...[
    'isnt',
    'like',
    'unlike',
    'is_deeply',
    'cmp_ok',
    'isa_ok',
    'can_ok',
    'dies_ok',
    'lives_ok',
    'throws_ok',
  ].map(
    (name) =>
      [`Perl, ${name}`, 't/a.t', "ok(1, 'one');\n", `ok(1, 'one');\n${name}(add(1), 2, 'adds');\n`] as const,
  ),
  ['Perl, an assertion beside others', 't/a.t', "ok(1, 'one');\n", "ok(1, 'one');\nok(add(1), 'adds');\n"],
  ['JUnit', 'src/test/java/ATest.java', '', 'class ATest { @Test void adds() { f(1); } }\n'],
  ['Kotlin', 'src/test/ATest.kt', '', 'class ATest { @Test fun adds() { f(1) } }\n'],
  ['Go', 'a_test.go', '', 'package a\n\nfunc TestAdds(t *testing.T) { f(1) }\n'],
  [
    'Go subtest',
    'a_test.go',
    'package a\n\nfunc TestA(t *testing.T) {\n}\n',
    'package a\n\nfunc TestA(t *testing.T) {\n\tt.Run("adds", func(t *testing.T) { f(1) })\n}\n',
  ],
  ['xUnit', 'ATests.cs', '', 'class ATests { [Fact] public void Adds() { F(1); } }\n'],
  [
    'Rust, beside the code',
    'src/a.rs',
    'fn a() {}\n',
    "fn a<'x>() {}\n#[test]\nfn adds() { assert_eq!(a(), 1); }\n",
  ],
  ['GoogleTest', 'test/a_test.cc', '', 'TEST(Add, Adds) { f(1); }\n'],
  ['Swift', 'Tests/ATests.swift', '', 'class A { func testAdds() { f(1) } }\n'],
  [
    'Unity, registered',
    'tests/misc_tests.c',
    'static void a_test(void)\n{\n    TEST_ASSERT_TRUE(1);\n}\nint main(void)\n{\n    RUN_TEST(a_test);\n}\n',
    'static void a_test(void)\n{\n    TEST_ASSERT_TRUE(1);\n}\n\nstatic void two(void)\n{\n    TEST_ASSERT_EQUAL(2, f());\n}\nint main(void)\n{\n    RUN_TEST(a_test);\n    RUN_TEST(two);\n}\n',
  ],
  [
    'a row of a Go table',
    'a_test.go',
    'package a\n\nfunc TestA(t *testing.T) {\n\ttests := []struct{ in, want int }{\n\t\t{1, 2},\n\t}\n\tfor _, tt := range tests {\n\t\tf(tt.in)\n\t}\n}\n',
    'package a\n\nfunc TestA(t *testing.T) {\n\ttests := []struct{ in, want int }{\n\t\t{1, 2},\n\t\t{2, 3},\n\t}\n\tfor _, tt := range tests {\n\t\tf(tt.in)\n\t}\n}\n',
  ],
  [
    'a row of several lines',
    'a_test.go',
    'package a\n\nfunc TestA(t *testing.T) {\n\ttests := []test{{\n\t\tlabel: label + "/One",\n\t\tin:    1,\n\t}}\n\tf(tests)\n}\n',
    'package a\n\nfunc TestA(t *testing.T) {\n\ttests := []test{{\n\t\tlabel: label + "/One",\n\t\tin:    1,\n\t}, {\n\t\tlabel: label + "/Two",\n\t\tin:    2,\n\t}}\n\tf(tests)\n}\n',
  ],
  [
    'a row of `it.each`',
    'a.spec.js',
    "it.each([\n  [1, 2],\n])('is %i', (n, m) => { expect(f(n)).toBe(m); });\n",
    "it.each([\n  [1, 2],\n  [2, 3],\n])('is %i', (n, m) => { expect(f(n)).toBe(m); });\n",
  ],
  [
    'a row of `parametrize`',
    'test_a.py',
    "@pytest.mark.parametrize('n, m', [\n    (1, 2),\n])\ndef test_a(n, m):\n    assert f(n) == m\n",
    "@pytest.mark.parametrize('n, m', [\n    (1, 2),\n    (2, 3),\n])\ndef test_a(n, m):\n    assert f(n) == m\n",
  ],
  [
    'a row of `@CsvSource`',
    'src/test/java/ATest.java',
    'class ATest {\n  @ParameterizedTest\n  @CsvSource({\n    "1, 2",\n  })\n  void adds(int n, int m) { assertEquals(m, f(n)); }\n}\n',
    'class ATest {\n  @ParameterizedTest\n  @CsvSource({\n    "1, 2",\n    "2, 3",\n  })\n  void adds(int n, int m) { assertEquals(m, f(n)); }\n}\n',
  ],
  [
    'a test on one line',
    'test_a.py',
    'def test_a():\n    assert f(1)\n',
    'def test_a():\n    assert f(1)\ndef test_b(): assert f(2)\n',
  ],
  ['ExUnit', 'test/a_test.exs', '', 'test "adds" do\n  f(1)\nend\n'],
];

const side = (base: string, candidate: string): CaseFile =>
  base === '' ? { candidate } : { base, candidate };

await gateTester(t, findRule('new-tests'), {
  valid: [
    ...added.map(([language, path, base, candidate]) =>
      with_(`a case added: ${language}`, { [path]: side(base, candidate) }),
    ),
    {
      ...with_('a case of a harness that the config names', {
        't/t-fetch.sh': {
          base: 'begin_test "fetch"\n(\n  git lfs fetch\n)\nend_test\n',
          candidate:
            'begin_test "fetch"\n(\n  git lfs fetch\n)\nend_test\n\nbegin_test "fetch nothing"\n(\n  git lfs fetch none\n)\nend_test\n',
        },
      }),
      options: { cases: ['begin_test '] },
    },
    with_('a case beside an old one', { 'test/a.test.ts': { base: first, candidate: first + second } }),
    with_('a case in place of another', {
      'test/a.test.ts': { base: first, candidate: `import t from 'tap';\n${second}` },
    }),
    { name: 'another kind of change', files: fix, spec: { intent: { changeType: 'feature' } } },
    {
      name: 'a contract without the requirement',
      files: fix,
      spec: { ...spec, acceptance: { qualityGates: { requireNewTestsWhenBugfix: false } } },
    },
  ],
  invalid: [
    { ...with_('options that are none', {}), options: { case: 'begin_test ' } },
    with_('no test file', {}),
    with_('a test file that is only touched', {
      'test/a.test.ts': { base: first, candidate: first.replace('3', '4') },
    }),
    with_('a test file that is only renamed', {
      'test/b.test.ts': { base: first, candidate: first, oldPath: 'test/a.test.ts' },
    }),
    with_('a case that is only renamed', {
      'test/a.test.ts': { base: first, candidate: first.replace('adds', 'adds numbers') },
    }),
    with_('a case that only moved to another file', {
      'test/a.test.ts': { base: first + second, candidate: first },
      'test/b.test.ts': { candidate: second },
    }),
    with_('a case that is only reformatted', {
      'test/a.test.ts': {
        base: first,
        candidate: first.replace("t.test('adds', async", "t.test(\n  'adds',\n  async"),
      },
    }),
    with_('a case that is copied', { 'test/a.test.ts': { base: first, candidate: first + first } }),
    with_('a case whose head and body are touched', {
      'test/a.test.ts': {
        base: first,
        candidate: first.replace("'adds', ", "'adds', { timeout: 5 }, ").replace('3', '4'),
      },
    }),
    with_('a case in a comment', {
      'test/a.test.ts': { base: first, candidate: `${first}/*\n${second}*/\n` },
    }),
    with_('a case after the end of the code', {
      'a_spec.rb': {
        base: "f\n__END__\nit 'b' do\n  f(1)\nend\n",
        candidate: "f\nit 'b' do\n  f(1)\nend\n",
      },
    }),
    with_('a case in a string', {
      'test/a.test.ts': { base: first, candidate: `${first}const a = \`\n${second}\`;\n` },
    }),
    ...Object.entries({
      'a case in a skipped group': "describe.skip('x', () => { it('b', () => { f(2); }); });\n",
      'a case in a group that is switched off': "xdescribe('x', () => {\n  it('b', () => { f(2); });\n});\n",
      'a case skipped by its last option':
        "it('b', { timeout: 5, concurrency: 1, skip: true }, () => { f(2); });\n",
      'a case that skips itself': "it('b', (t) => { t.skip(); f(2); });\n",
      'a case without a body': "it('b', () => {});\n",
    }).map(([name, candidate]) => with_(name, { 'a.spec.js': { candidate } })),
    with_('a Python case that passes over itself', {
      'test_a.py': { candidate: 'def test_b():\n    pass\n\n\ndef test_c():\n    ...\n' },
    }),
    with_('a Python case that skips itself', {
      'test_a.py': { candidate: "def test_b():\n    pytest.skip('x')\n    f(2)\n" },
    }),
    with_('Go cases that are empty or skip themselves', {
      'a_test.go': {
        candidate:
          'package a\n\nfunc TestB(t *testing.T) {}\n\nfunc TestC(t *testing.T) {\n\tt.Skip("x")\n\tf(2)\n}\n',
      },
    }),
    with_('a Kotlin class that is annotated as a test', {
      'src/test/ATest.kt': { candidate: '@Test class B(val x: Int) { init { f(1) } }\n' },
    }),
    with_('a Go subtest that is empty', {
      'a_test.go': {
        base: 'package a\n\nfunc TestA(t *testing.T) {\n\tf(1)\n}\n',
        candidate:
          'package a\n\nfunc TestA(t *testing.T) {\n\tf(1)\n\tt.Run("adds", func(t *testing.T) {})\n}\n',
      },
    }),
    with_('a PHPUnit case that skips itself', {
      'ATest.php': {
        candidate: '<?php class ATest { public function testB() { $this->markTestSkipped(); f(2); } }\n',
      },
    }),
    with_('a skipped case', {
      'test/a.test.ts': { base: first, candidate: first + second.replace('t.test(', 'test.skip(') },
    }),
    with_('a case skipped by option', {
      'test/a.test.ts': { base: first, candidate: `${first}test('b', { skip: true }, () => { f(); });\n` },
    }),
    with_('a to-do', {
      'test/a.test.ts': { base: first, candidate: `${first}test.todo('b');\ntest('c');\n` },
    }),
    with_('another thing called test', {
      'test/a.test.ts': { base: first, candidate: `${first}if (/b/.test(value)) f('x');\n` },
    }),
    with_('a case outside a test file', { 'src/b.ts': { candidate: second } }),
    with_('a skipped Python case', {
      'test_a.py': { candidate: '@pytest.mark.skip(reason="x")\ndef test_a():\n    f(1)\n' },
    }),
    with_('a Python case in a docstring', {
      'test_a.py': { candidate: '"""\ndef test_a():\n    f(1)\n"""\n' },
    }),
    with_('a disabled JUnit case', {
      'ATest.java': { candidate: 'class ATest { @Test @Disabled void adds() { f(1); } }\n' },
    }),
    with_('an ignored Rust case', { 'src/b.rs': { candidate: '#[test]\n#[ignore]\nfn a() {}\n' } }),
    with_('a skipped xUnit case', {
      'ATests.cs': { candidate: 'class A { [Fact(Skip = "later")] public void Adds() { F(1); } }\n' },
    }),
    with_('a Go file that go test does not run', {
      'test/a.go': { candidate: 'package a\nfunc TestA(t *testing.T) {}\n' },
    }),
    with_('a deleted test file', { 'test/a.test.ts': { base: first } }),
  ],
});

t.test('with only the diff an added test case counts and a changed one does not', async (t) => {
  const ask = (files: Readonly<Record<string, CaseFile>>) =>
    judge({ ...toRuleInput(with_('x', files)), files: {} });
  t.same(await ask({ 'test/a.test.ts': { base: first, candidate: first + second } }), []);
  t.match(await ask({ 'test/a.test.ts': { base: first, candidate: first.replace('3', '4') } }), [
    { severity: 'error', path: 'test/a.test.ts' },
  ]);
});

t.test('in every language a test case counts unless it is skipped or empty', async (t) => {
  const text = readFileSync(new URL('../../../fixtures/scan/new-tests.cases', import.meta.url), 'utf8');
  const cases = parseCases(text, 'javascript');
  const wrong: string[] = [];
  for (const { name, path, code, lines } of cases) {
    const findings = await judge(toRuleInput(with_(name, { [path]: { candidate: code } })));
    if (findings.length > 0 !== lines.length > 0) wrong.push(`${path}: ${name}`);
  }
  t.same(wrong, []);
  const refused = cases.filter(({ lines }) => lines.length > 0).length;
  t.ok(refused >= 100 && cases.length - refused >= 100, `${cases.length} cases, ${refused} refused`);
});
