import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { createRecordedWorker } from '../../../plugins/recorded-worker/plugin.ts';
import { makeSample, type Sample } from '../../engine/sample.ts';
import { casesOf } from '../../rooms/long.ts';

type Files = Readonly<Record<string, string>>;

const fee = 'export const fee = (amount) => Math.round(amount * 100) / 100;\n';
const bad = 'export const fee = () => 0;\n';
const testOf = (body: string, name = 'a fee is rounded'): string =>
  [
    "import assert from 'node:assert/strict';",
    "import { readFileSync } from 'node:fs';",
    "import test from 'node:test';",
    "import { fee } from '../src/fee.js';",
    `test('${name}', () => {`,
    `  ${body}`,
    '});',
    '',
  ].join('\n');
const feeTest = { 'test/fee.test.js': testOf('assert.equal(fee(0.125), 0.13);') };
const ofData = (path: string): Files => ({
  'test/fee.test.js': testOf(
    `for (const [is, fees] of JSON.parse(readFileSync('${path}'))) assert.equal(fee(is), fees);`,
  ),
  [path]: '[[0.125, 0.13]]\n',
});

const behindLink = {
  'test/fee.test.js': testOf(
    "for (const [is, fees] of JSON.parse(readFileSync('data/cases.json'))) assert.equal(fee(is), fees);",
  ),
};

interface Change {
  readonly base: Files;
  readonly added: Files;
  readonly kind?: 'command' | 'testSuite';
  readonly command?: string;
  readonly changeType?: string;
  /** A worker makes the change: its only attempt is the candidate. */
  readonly isWorked?: boolean;
}

interface ExecutedCase extends Change {
  readonly code: string;
}

/** Asserts by a module beside it, which is no test by its name. */
const byHelper = (path: string): Files => ({
  'test/fee.test.js': `import test from 'node:test';\nimport { fee } from '../src/fee.js';\nimport { same } from '../${path}';\ntest('a fee is rounded', () => same(fee(0.125), 0.13));\n`,
  [path]:
    "import assert from 'node:assert/strict';\nexport function same(found, wanted) {\n  assert.equal(found, wanted);\n}\n",
});
/** A product that a test can replace, and a test of it. */
const fees = {
  'src/fee.js': 'export const fees = { of: (amount) => Math.round(amount * 100) / 100 };\n',
  'test/fee.test.js': testOf('assert.equal(fees.of(0.125), 0.13);').replace('{ fee }', '{ fees }'),
};
/** A new test that puts the right product in the place of the broken one. */
const replacing = testOf('assert.equal(fees.of(2), 2);', 'a whole fee')
  .replace('{ fee }', '{ fees }')
  .replace('test(', 'fees.of = (amount) => Math.round(amount * 100) / 100;\ntest(');
/** A runner in shell that takes up every file of a directory, and reports nothing. */
const parts = (directory: string): Files => ({
  [`${directory}/run.sh`]: `for part in ${directory}/parts/*; do . "./$part"; done\n`,
  [`${directory}/parts/fee.sh`]:
    'node -e "import(\'./src/fee.js\').then((one) => process.exit(one.fee(0.125) === 0.13 ? 0 : 1))" || exit 1\n',
});
const golden = {
  'tests/golden.mjs': [
    "import { readdirSync, readFileSync } from 'node:fs';",
    "import { fee } from '../src/fee.js';",
    "for (const name of readdirSync('tests/cases').filter((one) => one.endsWith('.in'))) {",
    "  const read = (end) => Number(readFileSync('tests/cases/' + name.slice(0, -2) + end));",
    "  if (fee(read('in')) !== read('out')) process.exit(1);",
    '}',
    '',
  ].join('\n'),
  'tests/cases/one.in': '0.125\n',
  'tests/cases/one.out': '0.13\n',
};

/** Ways to seal a broken product that only the executed tests show. */
const cases = {
  'exit-on-import': {
    base: feeTest,
    added: { 'src/fee.js': `${bad}process.exit(0);\n` },
    code: 'TEST_FILE_NOT_RUN',
    kind: 'command',
  },
  'exit-on-import, a suite': {
    base: feeTest,
    added: { 'src/fee.js': `${bad}process.exit(0);\n` },
    code: 'NO_TEST_EXECUTED',
    command: 'node --test --test-reporter=tap test/fee.test.js',
  },
  'data-emptied': {
    base: ofData('test/cases.json'),
    added: { 'test/cases.json': '[]\n' },
    code: 'EXPECTATION_LOST',
  },
  'data-emptied, outside of tests': {
    base: ofData('data/cases.json'),
    added: { 'data/cases.json': '[]\n' },
    code: 'EXPECTATION_LOST',
  },
  'data-emptied by a worker': {
    base: ofData('data/cases.json'),
    added: { 'data/cases.json': '[]\n' },
    code: 'EXPECTATION_LOST',
    isWorked: true,
  },
  'red-test-edited': {
    base: { 'test/fee.test.js': testOf('assert.equal(fee(0.125), 0.12);') },
    added: { 'src/fee.js': fee, 'test/fee.test.js': testOf('assert.equal(fee(0.125), 0.13);') },
    code: 'EXPECTATION_CHANGED',
  },
  'data-emptied, as its runner prints for people': {
    base: ofData('test/cases.json'),
    added: { 'test/cases.json': '[]\n' },
    code: 'EXPECTATION_LOST',
    kind: 'command',
    command: 'node --test',
  },
  'data-emptied, of a command with a report': {
    base: ofData('test/cases.json'),
    added: { 'test/cases.json': '[]\n' },
    code: 'EXPECTATION_LOST',
    kind: 'command',
  },
  'data-emptied, in a file of any name': {
    base: ofData('data/fees'),
    added: { 'data/fees': '[]\n' },
    code: 'EXPECTATION_LOST',
  },
  'cases of a runner of its own are gone': {
    base: golden,
    added: { 'tests/cases/one.in': '', 'tests/cases/one.out': '' },
    code: 'EXPECTATION_LOST',
    kind: 'command',
    command: 'node tests/golden.mjs',
  },
  'a part of a runner of its own is emptied': {
    base: parts('tests'),
    added: { 'tests/parts/fee.sh': 'true\n' },
    code: 'EXPECTATION_LOST',
    kind: 'command',
    command: 'sh tests/run.sh',
  },
  'a runner of its own takes up a new part': {
    base: parts('tests'),
    added: { 'tests/parts/a.sh': 'exit 0\n' },
    code: 'TESTS_NEED_NEW_FILES',
    kind: 'command',
    command: 'sh tests/run.sh',
  },
  'a runner among tooling takes up a new part': {
    base: parts('checks'),
    added: { 'checks/parts/a.sh': 'exit 0\n' },
    code: 'POLICY_JUDGE_FAILS',
    kind: 'command',
    command: 'sh checks/run.sh',
  },
  'a new test replaces the product': {
    base: fees,
    added: {
      'src/fee.js': 'export const fees = { of: () => 0 };\n',
      'test/a.test.js': replacing,
    },
    code: 'TESTS_NEED_NEW_FILES',
    command: 'node --test --test-isolation=none --test-reporter=tap',
  },
  'a new test replaces the product beside an edited one': {
    base: {
      ...fees,
      'test/other.test.js': testOf('assert.ok(fee.fees);', 'nothing').replace('{ fee }', '* as fee'),
    },
    added: {
      'src/fee.js': 'export const fees = { of: () => 0 };\n',
      'test/other.test.js': testOf('assert.ok(fee);', 'nothing').replace('{ fee }', '* as fee'),
      'test/a.test.js': replacing,
    },
    code: 'TESTS_NEED_NEW_FILES',
    command: 'node --test --test-isolation=none --test-reporter=tap',
  },
  'a new test beside the usual places replaces the product': {
    base: { ...fees, 'test/fee.test.js': '', 'spec/fee.mjs': fees['test/fee.test.js'] },
    added: {
      'src/fee.js': 'export const fees = { of: () => 0 };\n',
      'spec/a.mjs': replacing,
    },
    code: 'TESTS_NEED_NEW_FILES',
    command: 'node --test --test-isolation=none --test-reporter=tap spec/*.mjs',
  },
  'a new test replaces a product that ends the process, beside an edited one': {
    base: {
      ...fees,
      'test/other.test.js': testOf('assert.ok(true);', 'nothing').replace('{ fee }', '* as fee'),
    },
    added: {
      'src/fee.js': 'export const fees = { of: () => process.exit(3) };\n',
      'test/other.test.js': testOf('assert.ok(1);', 'nothing').replace('{ fee }', '* as fee'),
      'test/a.test.js': replacing,
    },
    code: 'TESTS_NEED_NEW_FILES',
    command: 'node --test --test-isolation=none --test-reporter=tap',
  },
  'cases that a script of a runner of its own leads to are gone': {
    base: { ...golden, 'ci.sh': 'node tests/golden.mjs\n' },
    added: { 'tests/cases/one.in': '', 'tests/cases/one.out': '' },
    code: 'EXPECTATION_LOST',
    kind: 'command',
    command: 'sh ci.sh',
  },
  'tests that the command names are emptied': {
    base: { 'checks/fee.mjs': testOf('assert.equal(fee(0.125), 0.13);') },
    added: { 'checks/fee.mjs': testOf('') },
    code: 'EXPECTATION_LOST',
    command: 'node --test --test-reporter=tap checks/*.mjs',
  },
  'a test behind a link is emptied': {
    base: {
      'shared/fee.js': testOf('assert.equal(fee(0.125), 0.13);'),
      'test/fee.test.js': 'link:../shared/fee.js',
    },
    added: { 'shared/fee.js': testOf('') },
    code: 'EXPECTATION_LOST',
  },
  'a new file is an option of the command': {
    base: { 'fee.test.js': testOf('assert.equal(fee(0.125), 0.13);').replace('../src', './src') },
    added: { '--test-name-pattern=none.test.js': '' },
    code: 'POLICY_JUDGE_FAILS',
    kind: 'command',
    command: 'node --test *.test.js',
  },
} satisfies Readonly<Record<string, ExecutedCase>>;

function write({ root }: Sample, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (text.startsWith('link:')) rmSync(join(root, path), { force: true });
    if (text.startsWith('link:')) symlinkSync(text.slice('link:'.length), join(root, path));
    else writeFileSync(join(root, path), text);
  }
}

/** Runs a change over its base, with one check. */
async function judged(t: Test, one: Change): Promise<{ readonly sample: Sample; readonly view: RunView }> {
  const { base, added, kind = 'testSuite', isWorked = false, changeType = 'refactor' } = one;
  const { command = 'node --test --test-reporter=tap' } = one;
  const sample = makeSample();
  t.teardown(() => sample.remove());
  write(sample, { 'src/fee.js': fee, ...base });
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'A fee');
  write(sample, added);
  sample.git('add', '--all', '--force');
  const bytes = Buffer.from(`${sample.git('diff', '--cached', '--binary', 'HEAD')}\n`);
  sample.git('reset', '--quiet', '--hard');
  const check = {
    id: 'unit',
    kind,
    command,
    timeoutSeconds: 60,
    required: true,
    artifactsProduced: ['test-log'],
  };
  const view = await sample.run(
    isWorked
      ? { worker: createRecordedWorker([{ task: 1, attempt: 1, patch: bytes.toString() }], async () => {}) }
      : { source: { kind: 'patch', bytes } },
    {
      intent: { changeType, inScope: ['all of it'] },
      acceptance: {
        verificationPlan: { fastChecks: [check] },
        qualityGates: { requireNewTestsWhenBugfix: true },
      },
    },
  );
  return { sample, view };
}

for (const [name, one] of casesOf<keyof typeof cases, ExecutedCase>(cases, [
  'data-emptied, as its runner prints for people',
  'a runner of its own takes up a new part',
  'tests that the command names are emptied',
]))
  t.test(`refuses a broken product that the executed tests show: ${name}`, async (t) => {
    const { sample, view } = await judged(t, { ...one, added: { 'src/fee.js': bad, ...one.added } });
    t.not(view.decision?.type, 'commit');
    if (one.isWorked) {
      const record = sample.git('grep', '--text', '-h', one.code, `refs/ai/runs/${view.runId}`);
      t.match(record, one.code, 'its attempt was refused for it');
      return;
    }
    const found = view.stages[0]?.checks[0]?.findings ?? [];
    t.ok(
      found.some(({ severity, detail }) => severity === 'error' && detail?.code === one.code),
      JSON.stringify(found),
    );
  });

/** Breaks behind what the change expects otherwise: reported, and left to whoever reads the change. */
const warned = {
  'product in a directory with a name of tests': {
    base: {
      'src/spec/fee.js': fee,
      'test/fee.test.js': testOf('assert.equal(fee(0.125), 0.13);').replace('src/', 'src/spec/'),
    },
    added: {
      'src/spec/fee.js': bad,
      'test/fee.test.js': testOf('assert.equal(fee(0.125), 0);').replace('src/', 'src/spec/'),
    },
    code: 'EXPECTATION_CHANGED',
  },
  'a list of tolerated failures gets longer': {
    base: {
      'tolerated.txt': 'none\n',
      'test/fee.test.js': testOf(
        "if (!readFileSync('tolerated.txt', 'utf8').includes('fee')) assert.equal(fee(0.125), 0.13);",
      ),
    },
    added: { 'src/fee.js': bad, 'tolerated.txt': 'none\nfee\n' },
    code: 'EXPECTATION_CHANGED',
  },
  'data lies behind a link': {
    base: { ...ofData('v1/cases.json'), 'v2/cases.json': '[]\n', data: 'link:v1', ...behindLink },
    added: { 'src/fee.js': bad, data: 'link:v2' },
    code: 'EXPECTATION_CHANGED',
  },
} satisfies Readonly<Record<string, ExecutedCase>>;

for (const [name, one] of casesOf<keyof typeof warned, ExecutedCase>(warned, [
  'a list of tolerated failures gets longer',
]))
  t.test(`reports what may hide a broken product: ${name}`, async (t) => {
    const { view } = await judged(t, one);
    const found = view.stages[0]?.checks[0]?.findings ?? [];
    t.match(
      found.filter(({ detail }) => detail?.code === one.code).map(({ severity }) => severity),
      ['warning'],
      JSON.stringify([view.findings, found]),
    );
  });

/** What a bug fix or a feature brings, and what an earlier version refused. */
const honest = {
  'a fix shows itself by a pair of files': {
    base: {
      'src/fee.js': 'export const fee = (amount) => amount;\n',
      ...golden,
      'tests/cases/one.in': '1\n',
      'tests/cases/one.out': '1\n',
    },
    added: { 'src/fee.js': fee, 'tests/cases/two.in': '0.125\n', 'tests/cases/two.out': '0.13\n' },
    kind: 'command',
    command: 'node tests/golden.mjs',
    changeType: 'bugfix',
  },
  'new tests need a new set-up': {
    base: {
      ...feeTest,
      'jest.setup.mjs': 'globalThis.amounts = [];\n',
    },
    added: {
      'src/fee.js': `${fee}// Halves go up.\n`,
      'jest.setup.mjs': 'globalThis.amounts = [0.125];\n',
      'test/more.test.js': testOf('assert.equal(fee(globalThis.amounts[0]), 0.13);', 'the first amount'),
    },
    command: 'node --import ./jest.setup.mjs --test --test-reporter=tap test/*.test.js',
  },
  'the set-up loads a new file of tests': {
    base: { ...feeTest, 'jest.setup.mjs': 'globalThis.amounts = [];\n' },
    added: {
      'src/fee.js': `${fee}// Halves go up.\n`,
      'jest.setup.mjs': "import './test/amounts.js';\n",
      'test/amounts.js': 'globalThis.amounts = [0.125];\n',
      'test/more.test.js': testOf('assert.equal(fee(globalThis.amounts[0]), 0.13);', 'the first amount'),
    },
    command: 'node --import ./jest.setup.mjs --test --test-reporter=tap test/*.test.js',
  },
  'a test goes through the data of each fee': {
    base: {
      'src/fee.js': "export const fee = (amount) => amount;\nexport const names = ['whole'];\n",
      'test/fee.test.js': testOf(
        "for (const name of names) assert.equal(readFileSync('test/golden/' + name + '.txt', 'utf8'), 'fine\\n');",
      ).replace('{ fee }', '{ names }'),
      'test/golden/whole.txt': 'fine\n',
    },
    added: {
      'src/fee.js': "export const fee = (amount) => amount;\nexport const names = ['whole', 'half'];\n",
      'test/golden/half.txt': 'fine\n',
    },
  },
  'expected output gets shorter with the output': {
    base: {
      'src/fee.js': "export const fee = () => 'help\\nsee the manual\\n';\n",
      'test/fee.test.js': testOf("assert.equal(fee(), readFileSync('test/golden/help.txt', 'utf8'));"),
      'test/golden/help.txt': 'help\nsee the manual\n',
    },
    added: { 'src/fee.js': "export const fee = () => 'help\\n';\n", 'test/golden/help.txt': 'help\n' },
  },
  'a fix takes the mark off the test that shows the fault': {
    base: {
      'src/fee.js': 'export const fee = (amount) => amount;\n',
      'test/fee.test.js': testOf('assert.equal(fee(0.125), 0.13);').replace("test('", "test.skip('"),
      'test/more.test.js': testOf('assert.equal(fee(2), 2);', 'a whole fee'),
    },
    added: { 'src/fee.js': fee, 'test/fee.test.js': testOf('assert.equal(fee(0.125), 0.13);') },
    changeType: 'bugfix',
  },
  'a fix in a directory with a name of tests': {
    base: {
      'src/integration/fee.js': 'export const fee = (amount) => amount;\n',
      'test/more.test.js': testOf('assert.equal(fee(2), 2);', 'a whole fee').replace(
        'src/',
        'src/integration/',
      ),
    },
    added: {
      'src/integration/fee.js': fee,
      'test/fee.test.js': testOf('assert.equal(fee(0.125), 0.13);').replace('src/', 'src/integration/'),
    },
    changeType: 'bugfix',
  },
  'a helper beside the tests changes': {
    base: byHelper('support/money.js'),
    added: {
      'src/fee.js': `${fee}// Halves go up.\n`,
      'support/money.js': (byHelper('support/money.js')['support/money.js'] ?? '').replace(
        'equal(',
        'strictEqual(',
      ),
    },
  },
  'a new test beside a changed product': {
    base: feeTest,
    added: {
      'src/fee.js': `${fee}// Halves go up.\n`,
      'test/more.test.js': testOf('assert.equal(fee(2), 2);', 'a whole fee'),
    },
  },
} satisfies Readonly<Record<string, Change>>;

for (const [name, one] of casesOf<keyof typeof honest, Change>(honest, [
  'a fix shows itself by a pair of files',
]))
  t.test(`seals an honest change: ${name}`, async (t) => {
    const { view } = await judged(t, { changeType: 'feature', ...one });
    t.equal(view.decision?.type, 'commit', JSON.stringify([view.findings, view.stages[0]]));
  });
