import { followChecks } from '../../../engine/evaluate/second-run/verification-inputs.ts';
import { parseReport } from '../../../gates/reports/parse-report.ts';
import { parseTap } from '../../../gates/reports/tap.ts';
import { judge as judgeChanged } from '../../../gates/rules/judge-changed.ts';
import { judge as newTests } from '../../../gates/rules/new-tests.ts';
import { judge as secrets } from '../../../gates/rules/secrets.ts';
import { judge as suppressions } from '../../../gates/rules/suppressions.ts';
import { judge as testsKept } from '../../../gates/rules/tests-kept.ts';
import { type CaseFile, toRuleInput } from '../../../testing.ts';
import type { Job, Jobs } from '../count-work.ts';
import { ofPieces, repeated } from '../of-pieces.ts';

type Files = Readonly<Record<string, CaseFile>>;
type Rule = (input: ReturnType<typeof toRuleInput>) => unknown;

/** Files of a size, given to a rule. */
function judged(rule: Rule, filesOf: (size: number) => Files, more: Partial<Job> = {}, spec = {}): Job {
  return {
    prepare: (size) => {
      const input = toRuleInput({ name: 'x', spec, files: filesOf(size) });
      return () => rule(input);
    },
    ...more,
  };
}

/** A job for each piece, which stands as often as it fits in a file. */
function pieces(
  name: string,
  rule: Rule,
  path: string,
  all: readonly string[],
  more: Partial<Job> = {},
): Jobs {
  return Object.fromEntries(
    all.map((piece) => [
      `${name}: ${JSON.stringify(piece.slice(0, 40))}`,
      judged(rule, (size) => ({ [path]: { candidate: `${repeated(piece, size)}\n` } }), more),
    ]),
  );
}

const header = Buffer.from(`-----BEGIN PRIVATE ${'KEY'}-----AAAA`).toString('base64');
/** Files of tests, by their path, of about so many signs. */
const testFiles: Readonly<Record<string, (size: number) => string>> = {
  'a.spec.js': (size) => repeated("it('a', () => {", size),
  'b.spec.js': (size) => repeated("it('a', () => { expect(", size),
  'c.spec.js': (size) => `it('a', () => { expect${'('.repeat(size)}`,
  'd.spec.js': (size) => `it('a', () => { assert.equal(${'a '.repeat(size / 2)} }`,
  'test_a.py': (size) => repeated('def test_a():\n return\n', size),
  'a_spec.rb': (size) => repeated("it 'b' do\n skip if a\n", size),
  'test_lines.py': (size) => '\n'.repeat(size),
  'LinesTest.php': (size) => '\n'.repeat(size),
  'ATest.java': (size) => repeated('@Test void a() { if (a) return; ', size),
  'e_test.go': (size) => `package a\n${repeated('func TestMain(m *testing.M) {\n', size)}`,
  'f.spec.js': (size) =>
    Array.from({ length: size / 30 }, (_, at) => `it('${at}', () => { f(${at}); });\n`).join(''),
};
const refactor = { intent: { changeType: 'refactor' as const, objectives: ['The code is simpler'] } };

/** Blocks that never close are distinguished by their depth: a small part of the work grows with the square. */
const nested: Partial<Job> = { size: 500, slack: 1.4 };
/** Go's blocks are searched for from each function, up to a bound that is beyond these sizes. */
const ofTests = (path: string): Partial<Job> => (path === 'e_test.go' ? { ...nested, slack: 2 } : nested);

const newTestFiles: Readonly<Record<string, (size: number) => string>> = {
  'a.spec.js': (size) => `${repeated("describe('a', () => {", size)}it('b', () => { f(); });`,
  'a_spec.rb': (size) => `${repeated("describe 'a' do\n", size)}it 'b' do\n f\nend\n`,
  'ATest.java': (size) => `${repeated('java class A {', size)}@Test void b() { f(); }`,
  'BTests.cs': (size) => repeated('[Fact] ', size),
  'test_b.py': (size) => `class A:\n${repeated(' def test_a(): pass\n', size)}`,
  'c.spec.js': (size) => repeated('function a() { it(a, () => {}) }\n', size),
  't/a.t': (size) => repeated('ok(1);\n', size),
  'test_a.py': (size) => repeated('def test_a():\n pass\n', size),
};
const bugfix = { intent: { changeType: 'bugfix' as const } };

const commands = [
  ...['(', 'a ', '"', 'cd a && ', 'node *', "sh -c '", 'files: [', "'a' / ", '{a}/', 'exclude: a\n   b\n'],
  'plugins=[',
];

export const jobs: Jobs = {
  ...pieces(
    'secrets',
    secrets,
    'a.txt',
    [
      ...[
        'password=',
        'sk-',
        'ghp_',
        '-----BEGIN PRIVATE KEY-----',
        'Z2hwX',
        '67687',
        '%67%68%70%5f',
        `"a"+`,
      ],
      ...[`"gh" + "p_" `, header, 'machine a login b ', ' -u a:b'],
    ],
    { size: 600 },
  ),
  ...pieces('suppressions', suppressions, 'a.js', ['nose ']),
  ...Object.fromEntries(
    Object.entries(testFiles).flatMap(([path, make]) => [
      [
        `tests that are kept: ${path}`,
        judged(
          testsKept,
          (size) => ({ [path]: { base: make(size), candidate: `${make(size)}\n` } }),
          ofTests(path),
          refactor,
        ),
      ],
      [
        `tests turned round: ${path}`,
        judged(
          testsKept,
          (size) => ({ [path]: { base: make(size), candidate: [...make(size)].reverse().join('') } }),
          ofTests(path),
          refactor,
        ),
      ],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(newTestFiles).map(([path, make]) => [
      `new tests: ${path}`,
      judged(
        newTests,
        (size) => ({ 'src/a.ts': { base: 'a\n', candidate: 'b\n' }, [path]: { candidate: make(size) } }),
        nested,
        bugfix,
      ),
    ]),
  ),
  ...Object.fromEntries(
    commands.flatMap((piece) =>
      [
        [`a command of ${JSON.stringify(piece)}`, followed((text) => [text, { 'a/b.js': 'x' }])],
        [
          `scripts of ${JSON.stringify(piece)}`,
          followed((text) => [
            'bash ci/a.sh; make; npm test',
            {
              'ci/a.sh': text,
              Makefile: `a:\n\t${text}\n`,
              'package.json': JSON.stringify({ name: 'a', scripts: { test: text } }),
            },
          ]),
        ],
        [
          `configurations of ${JSON.stringify(piece)}`,
          followed((text) => [
            'pytest; mocha --config a.config.js',
            { 'a.config.js': text, 'pytest.ini': text, '.mocharc.yml': text, 'tsconfig.json': text },
          ]),
        ],
      ].map(([name, of]) => [name, (of as (piece: string) => Job)(piece)]),
    ),
  ),
  ...ofPieces(
    'a report',
    [
      (size) => `<testsuite><testcase name="${repeated(' # SKIP ', size)}"/></testsuite>`,
      (size) => `<testsuite><testcase name="a" time="${repeated('1,', size)}"/></testsuite>`,
      (size) => `1..1\nok 1 ${repeated(' #', size)}\n`,
      (size) => `1..1\nok 1 ${repeated('\\#', size)}\n`,
      (size) =>
        `{"Action":"output","Package":"p","Output":"${' '.repeat(size)}"}\n{"Action":"pass","Package":"p"}\n`,
    ],
    (text) => parseReport('a.json', Buffer.from(text)),
  ),
  ...ofPieces(
    'a stream of TAP',
    [
      (size) => `1..1\nok 1 ${repeated('# ', size)}\n`,
      (size) => `1..1\nok 1${' '.repeat(size)}x\n`,
      (size) => `1..${size / 4}\n${repeated('ok\n', size)}`,
    ],
    (text) => parseTap(Buffer.from(text)),
  ),
};

/** What checks execute is followed from a command through files, and compared with a change beside it. */
function followed(of: (text: string) => readonly [command: string, base: Readonly<Record<string, string>>]) {
  return (piece: string): Job => ({
    prepare: (size) => {
      const [command, base] = of(repeated(piece, size));
      const input = toRuleInput({
        name: 'x',
        files: { 'b.js': { candidate: 'y' } },
        spec: { risk: { humanInLoop: { required: false, minApprovers: 0 } } },
      });
      return async () => {
        const reach = await followChecks(
          [{ id: 'check-0', command }],
          Object.entries(base).map(([path, text]) => ({ path, sizeBytes: text.length, mode: '100644' })),
          async (wanted) => new Map(wanted.map((path) => [path, Buffer.from(base[path] ?? '')])),
        );
        return judgeChanged({ ...input, judge: reach, options: { review: 'required' } });
      };
    },
    // Shorter texts of these are read in another way.
    size: piece === 'files: [' ? 2_000 : 500,
  });
}
