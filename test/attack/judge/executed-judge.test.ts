import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
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

interface ExecutedCase {
  readonly base: Files;
  readonly added: Files;
  readonly code: string;
  readonly kind?: 'command' | 'testSuite';
  /** A worker makes the change: its only attempt is the candidate. */
  readonly isWorked?: boolean;
}

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
} satisfies Readonly<Record<string, ExecutedCase>>;

function write({ root }: Sample, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

for (const [name, one] of casesOf<keyof typeof cases, ExecutedCase>(cases, [
  'data-emptied, outside of tests',
  'data-emptied by a worker',
]))
  t.test(`refuses a broken product that the executed tests show: ${name}`, async (t) => {
    const { base, added, code, kind = 'testSuite', isWorked = false } = one;
    const sample = makeSample();
    t.teardown(() => sample.remove());
    write(sample, { 'src/fee.js': fee, ...base });
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'A fee');
    write(sample, { 'src/fee.js': bad, ...added });
    sample.git('add', '--all', '--force');
    const bytes = Buffer.from(`${sample.git('diff', '--cached', '--binary', 'HEAD')}\n`);
    sample.git('reset', '--quiet', '--hard');
    const check = {
      id: 'unit',
      kind,
      command: 'node --test --test-reporter=tap test/fee.test.js',
      timeoutSeconds: 60,
      required: true,
      artifactsProduced: ['test-log'],
    };
    const view = await sample.run(
      isWorked
        ? { worker: createRecordedWorker([{ task: 1, attempt: 1, patch: bytes.toString() }], async () => {}) }
        : { source: { kind: 'patch', bytes } },
      {
        intent: { changeType: 'refactor', inScope: ['src/', 'test/', 'data/'] },
        acceptance: { verificationPlan: { fastChecks: [check] } },
      },
    );
    t.not(view.decision?.type, 'commit');
    if (isWorked) {
      const record = sample.git('grep', '--text', '-h', code, `refs/ai/runs/${view.runId}`);
      t.match(record, code, 'its attempt was refused for it');
      return;
    }
    const found = view.stages[0]?.checks[0]?.findings ?? [];
    t.match(
      found.filter(({ severity }) => severity === 'error').map(({ detail }) => detail?.code),
      [code],
      JSON.stringify(found),
    );
  });
