import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { type Json, makeSample, type Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

t.setTimeout(240_000);

/** A sample that may have a config, and the patch that adds `files` to it. */
function scene(
  t: Test,
  files: Readonly<Record<string, string>>,
  config?: string,
): { sample: Sample; patch: Buffer } {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  if (config !== undefined) {
    mkdirSync(join(sample.root, '.writ'), { recursive: true });
    writeFileSync(join(sample.root, '.writ', 'config.toml'), config);
    sample.git('add', '--force', '.writ/config.toml');
    sample.git('commit', '--quiet', '-m', 'config');
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(join(sample.root, path), text);
  sample.git('add', '--all');
  const patch = Buffer.from(`${sample.git('diff', '--cached', '--binary', 'HEAD')}\n`);
  sample.git('reset', '--quiet', '--hard');
  return { sample, patch };
}

const forgery = (count: number): string =>
  `<testsuite tests="${count}" failures="0">${'<testcase name="works"/>'.repeat(count)}</testsuite>`;

/** A test of the author's that also writes a report by hand, and a source that it fixes. */
const author = (more: string): Readonly<Record<string, string>> => ({
  'test/forger.test.js': `
import { writeFileSync } from 'node:fs';
import test from 'node:test';
${more}
test('one', () => {});
test('two', () => {});
`,
});
const writes = (name: string, count: number): string =>
  `writeFileSync(process.env.REPORTS_DIR + '/${name}', ${JSON.stringify(forgery(count))});`;

const plan = (command: string): Json => ({
  intent: { changeType: 'chore' },
  acceptance: {
    verificationPlan: {
      fastChecks: [
        {
          id: 'unit',
          kind: 'testSuite',
          command,
          timeoutSeconds: 60,
          required: true,
          artifactsProduced: ['test-log'],
        },
      ],
    },
  },
});

async function judge({ sample, patch }: ReturnType<typeof scene>, command: string): Promise<RunView> {
  return await sample.run({ source: { kind: 'patch', bytes: patch } }, plan(command));
}

const codesOf = (view: RunView): unknown[] =>
  view.stages.flatMap(({ checks }) =>
    checks.flatMap(({ findings }) =>
      findings.filter(({ severity }) => severity === 'error').map(({ detail }) => detail?.code),
    ),
  );

const tap = 'node --test --test-reporter=tap test/forger.test.js';

long('a report written by a test does not override the output of the runner', async (t) => {
  const view = await judge(scene(t, author(writes('junit.xml', 5000))), tap);
  t.equal(view.decision?.type, 'abandon');
  t.strictSame(codesOf(view), ['REPORT_DISAGREES']);
  t.match(view.stages[0]?.checks[0]?.tests, { passed: 2, failed: 0 });
});

long(
  'a report without failures does not hide a `not ok`, even if the config names that report',
  async (t) => {
    const files = author(writes('junit.xml', 2));
    const failing = {
      'test/forger.test.js': `${files['test/forger.test.js']}test('bad', () => { throw new Error('no'); });\n`,
    };
    for (const config of [undefined, '[checks.unit]\nreport = "junit.xml"\n']) {
      const view = await judge(scene(t, failing, config), `${tap} || true`);
      t.equal(view.decision?.type, 'abandon');
      t.ok(codesOf(view).includes('REPORT_DISAGREES'), String(codesOf(view)));
    }
  },
);

long('a second report beside the report of the runner is refused unless the config names one', async (t) => {
  const quiet =
    'node --test --test-reporter=junit --test-reporter-destination=$REPORTS_DIR/unit.xml test/forger.test.js';
  const forged = await judge(scene(t, author(writes('all.xml', 5000))), quiet);
  t.strictSame([forged.decision?.type, codesOf(forged)], ['abandon', ['REPORT_AMBIGUOUS']]);
  const config = '[checks.unit]\nreport = "unit.xml"\n';
  const named = await judge(scene(t, author(writes('all.xml', 5000)), config), quiet);
  t.equal(named.decision?.type, 'commit', named.decision?.rationale ?? '');
  t.match(named.stages[0]?.checks[0]?.tests, { passed: 2, failed: 0 });
});

long('reports of the runner in two formats agree, and the check passes', async (t) => {
  const both = `node --test --test-reporter=tap --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination=$REPORTS_DIR/unit.xml test/forger.test.js`;
  const rich = author(`
test('later', { todo: true }, () => { throw new Error('not yet'); });
test('never', { skip: true }, () => {});
test.suite('inner', () => { test('x', () => {}); test('y', async (t) => { await t.test('z', () => {}); }); });`);
  const view = await judge(scene(t, rich), both);
  t.strictSame([view.decision?.type, codesOf(view)], ['commit', []], view.decision?.rationale ?? '');
});
