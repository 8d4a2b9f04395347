import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { type Json, makeSample, type Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

const audit =
  "import { readFileSync } from 'node:fs';\nprocess.exit(readFileSync('src/price.js', 'utf8').includes('+ 1') ? 1 : 0);\n";
const tests = [
  "import assert from 'node:assert/strict';",
  "import test from 'node:test';",
  "import { price } from '../src/price.js';",
  '',
  "test('two are twice as much', () => {",
  '  assert.equal(price(2, 100) - price(0, 100), 200);',
  '});',
  '',
].join('\n');
const unit = {
  id: 'unit',
  kind: 'testSuite',
  command: 'node --test --test-reporter=tap',
  timeoutSeconds: 60,
  required: true,
  artifactsProduced: ['test-log'],
};
const script = (command: string): Json => ({
  id: 'audit',
  kind: 'command',
  command,
  timeoutSeconds: 60,
  required: true,
});
const contract = (checks: readonly Json[], more: Record<string, Json> = {}): Json => ({
  intent: {
    changeType: 'refactor',
    inScope: ['src/', 'test/', 'scripts/', 'package.json', 'node_modules/', 'Makefile', '.env'],
  },
  acceptance: { verificationPlan: { fastChecks: checks, ...more } },
});

/** A repository with an audit that its price does not pass, and a test more. */
function prepared(t: { teardown(end: () => void): void }): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  write(sample, { 'scripts/audit.js': audit, 'test/more.test.js': tests });
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'An audit');
  return sample;
}

function write(sample: Sample, files: Readonly<Record<string, string | null>>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(sample.root, path);
    if (text === null) rmSync(file);
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
}

/** Runs a change of these files under a contract. */
async function attempt(
  sample: Sample,
  files: Readonly<Record<string, string | null>>,
  spec: Json,
): Promise<RunView> {
  write(sample, files);
  sample.git('add', '--all', '--force');
  const bytes = Buffer.from(`${sample.git('diff', '--cached', '--binary', 'HEAD')}\n`);
  sample.git('reset', '--quiet', '--hard');
  return sample.run({ source: { kind: 'patch', bytes } }, spec);
}

const errors = ({ findings }: RunView): readonly string[] =>
  findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
/** What rule `tests-kept` says of the patch, its checks and its stages, notes left aside. */
const lossesOf = ({ findings, stages }: RunView): readonly string[] =>
  [
    ...findings,
    ...stages.flatMap((stage) => [...stage.checks.flatMap((one) => one.findings), ...stage.findings]),
  ]
    .filter(
      ({ rule, severity, detail }) =>
        rule === 'tests-kept' && severity !== 'note' && detail?.code !== 'REPORT_NOT_JUDGED',
    )
    .map(({ severity, detail }) => `${severity} ${detail?.code}`);
/** What the rule says of the patch, and then of its checks. */
const ofJudge = ({ findings, stages }: RunView): readonly string[] =>
  [...findings, ...stages.flatMap(({ checks }) => checks.flatMap((check) => check.findings))]
    .filter(({ rule }) => rule === 'judge-changed')
    .map(({ severity, detail }) => `${severity} ${detail?.code}`);
const product = { 'src/price.js': 'export const price = (count, cents) => count * cents + 1 + 0;\n' };

long('a patch cannot silence a check by changing the script that the check runs', async (t) => {
  const sample = prepared(t);
  const spec = contract([unit, script('node scripts/audit.js')]);
  const plain = await attempt(sample, product, spec);
  t.equal(plain.decision?.type, 'abandon', 'the audit finds it');
  const before = sample.git('rev-parse', 'main');
  const view = await attempt(sample, { ...product, 'scripts/audit.js': 'process.exit(0);\n' }, spec);
  t.equal(view.decision?.type, 'abandon');
  t.same(ofJudge(view), ['warning JUDGE_CHANGED', 'error POLICY_JUDGE_FAILS']);
  t.equal(sample.git('rev-parse', 'main'), before);
});

long('a patch cannot silence a check by changing a loaded script or adding configuration', async (t) => {
  const sample = prepared(t);
  write(sample, { 'scripts/audit.js': `import './rules.js';\n${audit}`, 'scripts/rules.js': '// none\n' });
  sample.git('commit', '--quiet', '--all', '-m', 'Rules');
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Rules');
  const spec = contract([unit, script('node scripts/audit.js')]);
  const loaded = await attempt(sample, { ...product, 'scripts/rules.js': 'process.exit(0);\n' }, spec);
  t.equal(loaded.decision?.type, 'abandon');
  t.same(ofJudge(loaded), ['warning JUDGE_CHANGED', 'error POLICY_JUDGE_FAILS']);
  const env = await attempt(sample, { ...product, '.env': 'NODE_OPTIONS=--test-only\n' }, spec);
  t.equal(env.decision?.type, 'abandon', 'the audit finds it');
  t.same(ofJudge(env), ['warning JUDGE_CHANGED', 'note POLICY_JUDGE_PASSES'], 'which the suite does not');
});

long('a refactor that deletes, skips or disarms tests is refused', async (t) => {
  const sample = prepared(t);
  const spec = contract([unit]);
  const worse = { 'src/price.js': 'export const price = (count, cents) => count * cents * 3 + 1;\n' };
  const ways: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
    deleted: { 'test/more.test.js': null },
    skipped: { 'test/more.test.js': tests.replace('test(', 'test.skip(') },
    disarmed: { 'test/more.test.js': tests.replace('test(', 'assert.equal = () => {};\ntest(') },
  };
  for (const [way, files] of Object.entries(ways)) {
    const view = await attempt(sample, { ...worse, ...files }, spec);
    t.equal(view.decision?.type, 'abandon', way);
    t.ok(
      lossesOf(view).some((one) => one.startsWith('error ')),
      `${way}: ${lossesOf(view)}`,
    );
  }
});

long('a loss that only the text shows is an error unless the suite ran the case on both sides', async (t) => {
  const sample = prepared(t);
  const rig = 'export const same = (got, want) => {\n  if (got !== want) throw new Error(got);\n};\n';
  const byRig = tests
    .replace("import assert from 'node:assert/strict';", "import { same } from '../src/rig.js';")
    .replace('assert.equal(', 'same(');
  t.not(byRig, tests);
  const files = { 'src/rig.js': rig, 'test/more.test.js': byRig };
  const elsewhere = { ...unit, command: 'node --test --test-reporter=tap test/price.test.js' };
  const unseen = await attempt(sample, files, contract([elsewhere]));
  t.same(lossesOf(unseen), ['warning TEST_EMPTIED', 'error TEST_EMPTIED'], 'no suite ran it');
  t.equal(unseen.decision?.type, 'abandon');
  const command = script('node --test --test-reporter=tap');
  const byText = await attempt(sample, files, contract([command]));
  t.match(lossesOf(byText), ['error TEST_EMPTIED'], 'nothing says which tests ran');
  const honest = await attempt(sample, files, contract([unit]));
  t.same(lossesOf(honest), ['warning TEST_EMPTIED'], 'the text does not see what the product asserts');
  t.equal(honest.decision?.type, 'commit', honest.decision?.rationale ?? '');
});

long('a candidate that generates fewer tests at run time than the base is refused', async (t) => {
  const sample = prepared(t);
  const table = (rows: string): string =>
    tests
      .replace("test('two", `for (const row of [${rows}]) test(\`\${row} \` + 'two`)
      .replace('200);\n});', '200);\n});');
  write(sample, { 'test/more.test.js': table('1, 2, 3') });
  sample.git('commit', '--quiet', '--all', '-m', 'A table');
  const spec = contract([unit]);
  const fewer = await attempt(sample, { 'test/more.test.js': table('1') }, spec);
  t.same(errors(fewer), [], 'as it is written nothing is lost');
  t.equal(fewer.decision?.type, 'abandon');
  t.match(fewer.stages[0]?.checks[0]?.findings, [
    {
      rule: 'tests-kept',
      severity: 'error',
      message: /^4 tests ran at the base, and 2 of the candidate: `[23] two.*`, `/,
      detail: { code: 'TESTS_NOT_RUN', base: 4, candidate: 2, count: 2 },
    },
  ]);
  const more = await attempt(sample, { 'test/more.test.js': table('1, 2, 3, 4') }, spec);
  t.equal(more.decision?.type, 'commit', more.decision?.rationale ?? '');
});

long('a product that exits before its test files run a test is refused', async (t) => {
  const sample = prepared(t);
  const files = {
    'src/price.js': 'export const price = () => 77;\nif (process.env.NODE_TEST_CONTEXT) process.exit(0);\n',
    'test/other.test.js': "import test from 'node:test';\ntest('a', () => {});\ntest('b', () => {});\n",
  };
  const view = await attempt(sample, files, contract([unit]));
  t.equal(view.decision?.type, 'abandon');
  const findings = view.stages[0]?.checks[0]?.findings.filter(({ severity }) => severity === 'error');
  t.match(findings, [{ rule: 'tests-kept', detail: { code: 'TEST_FILE_NOT_RUN' } }]);
});

long('a test file moved to a name that the runner does not collect is reported', async (t) => {
  const sample = prepared(t);
  write(sample, { 'src/more.test.js': tests.replace('../src/', './').replaceAll('two', 'both') });
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Beside the code');
  const trivial = "import test from 'node:test';\ntest('a', () => {});\n";
  const text = tests.replace('../src/', './').replaceAll('two', 'both');
  for (const moved of [text, text.replace('both are', 'these are')]) {
    const files = { 'src/more.test.js': null, 'src/more.spec.js': moved, 'src/new.test.js': trivial };
    const view = await attempt(sample, files, contract([unit]));
    const findings = view.stages[0]?.checks[0]?.findings.filter(({ severity }) => severity === 'error');
    t.match(findings, [{ rule: 'tests-kept', detail: { code: 'TESTS_NOT_RUN', count: 1 } }], moved);
  }
  const honest = { 'src/more.test.js': null, 'src/money.test.js': text.replace('both are', 'these are') };
  const view = await attempt(sample, honest, contract([unit]));
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
});

long('a `judge-changed` check makes the run wait for approval of a changed check script', async (t) => {
  const sample = prepared(t);
  const review = {
    id: 'people',
    kind: 'policy',
    command: 'judge-changed',
    timeoutSeconds: 60,
    required: true,
  };
  const spec = contract([unit, script('node scripts/audit.js')], { releaseChecks: [review] });
  const files = { 'scripts/audit.js': 'process.exit(0);\n' };
  const view = await attempt(sample, files, spec);
  t.equal(view.decision?.type, 'checkpoint');
  t.same(errors(view), []);
  t.match(
    view.stages.find(({ stage }) => stage === 'release'),
    { status: 'waiting', checks: [{ id: 'people', status: 'waiting' }] },
  );
  const ordinary = await attempt(
    sample,
    { 'src/price.js': '// Money.\nexport const price = (count, cents) => count * cents;\n' },
    {
      ...(spec as Record<string, Json>),
      metadata: { id: 'ordinary' },
    },
  );
  t.equal(ordinary.decision?.type, 'commit', ordinary.decision?.rationale ?? '');
});

t.test('a script that only the policy commit runs also counts as a check script', async (t) => {
  const sample = prepared(t);
  const manifest = (check: string): string => JSON.stringify({ type: 'module', scripts: { check } });
  const commit = (files: Readonly<Record<string, string>>): string => {
    write(sample, files);
    sample.git('add', '--all', '--force');
    sample.git('commit', '--quiet', '-m', 'Another step');
    return sample.git('rev-parse', 'HEAD');
  };
  const start = commit({ 'package.json': manifest('node --version') });
  sample.git('checkout', '--quiet', '-b', 'feature');
  commit({ ...product, 'scripts/audit.js': 'process.exit(0);\n' });
  sample.git('checkout', '--quiet', 'main');
  const tip = commit({ 'package.json': manifest('node scripts/audit.js') });
  const spec = contract([script('npm run --silent check')]);
  const view = await sample.run({ source: { kind: 'range', range: 'main..feature' }, onto: 'side' }, spec);
  t.same([view.baseCommit, view.policyCommit], [start, tip]);
  t.match(view.findings, [{ rule: 'judge-changed', path: 'scripts/audit.js' }]);
  t.equal(view.decision?.type, 'abandon');
});
