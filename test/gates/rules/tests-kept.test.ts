import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { parseCases } from '../../../bench/parse-cases.ts';
import { judge } from '../../../gates/rules/tests-kept.ts';
import { type CaseFile, type GateCase, gateTester, toRuleInput } from '../../../testing.ts';
import { long } from '../../rooms/long.ts';
import { parseChanges } from '../tests-kept/parse-changes.ts';
import { parseEdits } from '../tests-kept/parse-edits.ts';
import { findRule } from './find-rule.ts';

const spec = { intent: { changeType: 'refactor' as const, objectives: ['The code is simpler'] } };
const change = (
  name: string,
  files: Readonly<Record<string, CaseFile>>,
  intent: GateCase['spec'] = spec,
): GateCase => ({ name, spec: intent, files });
const sides = (base: string, candidate: string): CaseFile => ({
  ...(base === '' ? {} : { base }),
  ...(candidate === '' ? {} : { candidate }),
});
const ask = (files: Readonly<Record<string, CaseFile>>, intent: GateCase['spec'] = spec) =>
  judge(toRuleInput(change('x', files, intent)));

const head = "import test from 'node:test';\nimport assert from 'node:assert';\n";
const first = "test('adds', () => {\n  assert.equal(add(1, 2), 3);\n});\n";
const second = "test('refuses', () => {\n  assert.throws(() => add('a'), TypeError);\n});\n";
const both = head + first + second;
const objectives = (...said: string[]): GateCase['spec'] => ({
  intent: { changeType: 'refactor', objectives: said },
});
const ofType = (changeType: 'docs' | 'chore'): GateCase['spec'] => ({ intent: { changeType } });
const gone = { 'test/a.test.js': { base: both, candidate: head + first } };

await gateTester(t, findRule('tests-kept'), {
  valid: [
    change('a case that moves to another file', {
      'test/a.test.js': { base: both, candidate: head + first },
      'test/b.test.js': { candidate: head + second },
    }),
    change('a file that moves', {
      'test/unit/a.test.js': { base: both, candidate: both, oldPath: 'test/a.test.js' },
    }),
    change('a file that moves, written as one gone and one new', {
      'test/a.test.js': { base: both },
      'test/unit/a.test.js': { candidate: both },
    }),
    change('two files that become one', {
      'test/a.test.js': { base: head + first },
      'test/b.test.js': { base: head + second },
      'test/c.test.js': { candidate: both },
    }),
    change('a case that moves and changes', {
      'test/a.test.js': { base: both, candidate: head + first },
      'test/b.test.js': { candidate: head + second.replace('TypeError', 'RangeError') },
    }),
    change('only the product', { 'src/a.js': { base: 'a\n', candidate: 'b\n' } }),
  ],
  invalid: [
    change('a case that goes', gone),
    change('a directory of tests that goes', {
      'test/a.test.js': { base: head + first },
      'test/b.test.js': { base: head + second },
    }),
    change('a file that is no test any more', {
      'old/a.txt': { base: both, candidate: both, oldPath: 'test/a.test.js' },
    }),
    change('a file that is no test to its name any more', {
      'src/a.js': { base: both, candidate: both, oldPath: 'src/a.test.js' },
    }),
    change('a case in a file that no runner reads', {
      'test/a.test.js': { base: both, candidate: head + first },
      'src/b.js': { candidate: head + second },
    }),
    change('a case that moves and is skipped', {
      'test/a.test.js': { base: both, candidate: head + first },
      'test/b.test.js': { candidate: head + second.replace('test(', 'test.skip(') },
    }),
    change('two cases of one name of which one moves', {
      'test/a.test.js': { base: head + first + first.replace('3', '4'), candidate: head },
      'test/b.test.js': { candidate: head + first },
    }),
  ],
});

long('finds every labelled loss in every language and ignores ordinary work', async (t) => {
  const cases = ['tests-kept.cases', 'tests-kept-words.cases'].flatMap((file) =>
    parseChanges(readFileSync(new URL(`../../../fixtures/scan/${file}`, import.meta.url), 'utf8')),
  );
  const wrong: string[] = [];
  const count = { found: 0, missed: 0, extra: 0, left: 0 };
  for (const { name, path, base, candidate, loss, places } of cases) {
    const findings = await ask({ [path]: sides(base, candidate) });
    const codes = findings.map(({ detail }) => detail?.code).filter((code) => code !== 'NEW_TEST_IDLE');
    const isRight = loss === undefined ? codes.length === 0 : codes.includes(loss);
    count[loss === undefined ? (isRight ? 'left' : 'extra') : isRight ? 'found' : 'missed'] += 1;
    if (!isRight) wrong.push(`${path}: ${name}: expected ${loss ?? 'nothing'}, found ${codes.join(', ')}`);
    const lost = findings.filter(({ detail }) => detail?.code === loss);
    const told = lost.reduce((sum, { detail }) => sum + Number(detail?.count), 0);
    if (places !== undefined && told !== places)
      wrong.push(`${path}: ${name}: ${told} cases, expected ${places}`);
    const errors = findings.filter(({ severity }) => severity === 'error');
    if (loss !== undefined && errors.length === 0 && loss !== 'TEST_RENAMED')
      wrong.push(`${path}: ${name}: no error`);
  }
  t.same(wrong, []);
  t.comment(JSON.stringify(count));
  t.ok(count.found >= 180 && count.left >= 70, `${cases.length} cases`);
});

long('reports labelled edits that weaken tests as errors and ignores honest edits', async (t) => {
  const folder = new URL('../../../fixtures/scan/tests-kept/', import.meta.url);
  const wrong: string[] = [];
  const matrix: Record<string, number> = {};
  for (const name of readdirSync(folder))
    for (const edit of parseEdits(readFileSync(new URL(name, folder), 'utf8'))) {
      const findings = (await ask(edit.files)).filter(({ detail }) => detail?.code !== 'NEW_TEST_IDLE');
      const errors = findings.filter(({ severity }) => severity === 'error');
      const isError = errors.length > 0;
      const places = errors.reduce((sum, { detail }) => sum + Number(detail?.count), 0);
      if (edit.places !== undefined && places !== edit.places)
        wrong.push(`${name}: ${edit.name}: ${places} places, expected ${edit.places}`);
      const got = isError ? 'error' : findings.length > 0 ? 'note' : 'nothing';
      const expected = {
        loss: ['error'],
        unseen: ['error', 'note', 'nothing'],
        hint: ['note'],
        told: ['note', 'nothing'],
        kept: ['nothing'],
      };
      matrix[`${edit.label}: ${got}`] = (matrix[`${edit.label}: ${got}`] ?? 0) + 1;
      if (!expected[edit.label].includes(got))
        wrong.push(`${name}: ${edit.label}: ${edit.name}: ${findings.map(({ message }) => message)}`);
    }
  t.same(wrong, []);
  t.comment(JSON.stringify(matrix));
  const unseen = Object.entries(matrix).reduce(
    (sum, [key, many]) => sum + (key.startsWith('unseen') ? many : 0),
    0,
  );
  t.ok(unseen <= 84, `${unseen} losses are left to executions`);
  t.ok((matrix['loss: error'] ?? 0) >= 255 && (matrix['kept: nothing'] ?? 0) >= 60, JSON.stringify(matrix));
});

t.test('reports every deleted test file as lost, but not one that gains blank lines', async (t) => {
  const text = readFileSync(new URL('../../../fixtures/scan/new-tests.cases', import.meta.url), 'utf8');
  const wrong: string[] = [];
  let runs = 0;
  for (const { name, path, code, lines } of parseCases(text, 'javascript')) {
    const codesOf = async (candidate: string): Promise<readonly unknown[]> =>
      (await ask({ [path]: sides(code, candidate) })).map(({ detail }) => detail?.code);
    const touched = await codesOf(`${code}\n\n`);
    if (touched.length > 0) wrong.push(`${path}: ${name}, touched: ${touched.join(', ')}`);
    const deleted = await codesOf('');
    if (lines.length === 0) runs += 1;
    if (deleted.includes('TEST_GONE') !== (lines.length === 0))
      wrong.push(`${path}: ${name}, deleted: ${deleted}`);
  }
  t.same(wrong, []);
  t.ok(runs > 100, `${runs} that run`);
});

t.test('a test loss that the spec allows is a note instead of an error', async (t) => {
  const severities = async (
    intent: GateCase['spec'],
    files: Readonly<Record<string, CaseFile>> = gone,
  ): Promise<readonly string[]> => (await ask(files, intent)).map(({ severity }) => severity);
  const readme = { 'README.md': { base: 'a\n', candidate: 'b\n' } };
  const source = { 'src/a.js': { base: 'a\n', candidate: 'b\n' } };
  for (const said of [
    'Remove the tests in test/a.test.js',
    'a.test.js is deleted',
    'Delete test/ for good',
    'The case `refuses` is removed: numbers come as text now',
  ])
    t.same(await severities(objectives(said)), ['note'], said);
  for (const said of [
    'test/a.test.js passes',
    'Bad tokens are removed; test/a.test.js shows it',
    'Remove data.test.js',
    'Remove test/a.test.js.snap',
    'Drop support for text. Fix test/a.test.js',
    'Remove src/a.js',
  ])
    t.same(await severities(objectives(said)), ['error'], said);
  t.same(await severities(ofType('docs'), { ...gone, ...readme }), ['note'], 'documentation alone');
  t.same(await severities(ofType('docs'), { ...gone, ...source }), ['error'], 'called documentation');
  t.same(
    await severities(ofType('chore'), { ...gone, ...readme }),
    ['error'],
    'a chore that takes tests along',
  );
  t.same(
    await severities(ofType('chore'), { 'docs/a.test.js': { base: both, candidate: head } }),
    ['note'],
    'a chore in the documentation alone',
  );
  const stub = { 'test/a.test.js': { base: both, candidate: `${both}assert.equal = () => {};\n` } };
  t.same(await severities(objectives('Rewrite test/a.test.js')), ['note']);
  t.same(await severities(objectives('Rewrite test/a.test.js'), stub), ['error'], 'a stub never goes');
});

t.test('groups many lost tests into few findings with counts', async (t) => {
  const many = (count: number): string =>
    Array.from({ length: count }, (_, index) => second.replace('refuses', `refuses ${index}`)).join('');
  const [one, ...more] = await ask({ 'test/a.test.js': { base: head + many(158), candidate: head } });
  t.same(more, []);
  t.match(one, { severity: 'error', detail: { code: 'TEST_GONE', count: 158 } });
  t.match(
    one?.message,
    /^158 test cases are gone: `refuses 0`.*and 138 more; to remove tests on purpose, an objective/,
  );
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`test/a${index}.test.js`, { base: head + second }]),
  );
  const all = await ask(files);
  t.equal(all.length, 101);
  t.match(all.at(-1), { severity: 'error', message: '100 of 300 findings are listed' });
});

t.test('reports a renamed test case with its new name as a note', async (t) => {
  const findings = await ask({
    'test/a.test.js': { base: both, candidate: both.replace('refuses', 'refuses täxt') },
  });
  t.match(findings, [
    {
      severity: 'note',
      message: '1 test case has another name: `refuses` is now `refuses täxt`',
      path: 'test/a.test.js',
      line: 6,
      detail: { code: 'TEST_RENAMED', count: 1, tests: [['refuses', 'refuses täxt']] },
    },
  ]);
});
