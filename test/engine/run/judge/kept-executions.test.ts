import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { definePlugin } from '../../../../core/kernel/plugin.ts';
import { makeSample } from '../sample.ts';

t.test('what a candidate ran is known when it is the base', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const started: string[] = [];
  const counting = definePlugin({
    name: 'counting',
    api: 1,
    setup({ hooks }) {
      hooks.tool.started.tap(({ checkId }) => void started.push(checkId ?? ''));
      return undefined;
    },
  });
  const file = join(sample.root, 'test/price.test.js');
  const unit = {
    id: 'unit',
    kind: 'testSuite',
    command: 'node --test --test-reporter=tap',
    timeoutSeconds: 60,
    required: true,
    artifactsProduced: ['test-log'],
  };
  let runs = 0;
  const runsOf = async (text: string): Promise<number> => {
    writeFileSync(file, text);
    const bytes = Buffer.from(`${sample.git('diff', 'HEAD')}\n`);
    sample.git('checkout', '--quiet', '--', '.');
    started.length = 0;
    runs += 1;
    const view = await sample.run(
      { source: { kind: 'patch', bytes } },
      {
        metadata: { id: `kept-executions-${runs}` },
        intent: { changeType: 'refactor', inScope: ['test/'] },
        acceptance: { verificationPlan: { fastChecks: [unit] } },
      },
      [counting],
    );
    t.equal(view.decision?.type, 'commit', JSON.stringify(view.findings));
    return started.length;
  };
  const test = (value: number): string =>
    `import test from 'node:test';\nimport assert from 'node:assert/strict';\ntest('one', () => assert.equal(1 + ${value}, 1 + ${value}));\n`;
  writeFileSync(file, test(0));
  sample.git('commit', '--quiet', '--all', '-m', 'One');
  t.equal(await runsOf(test(1)), 2, 'the candidate and the base, which is the base with its own tests, too');
  t.equal(await runsOf(test(2)), 1, 'the base was a candidate');
});
