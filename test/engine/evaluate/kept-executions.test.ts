import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { EffectiveCheck } from '../../../core/interfaces/intentspec.gen.ts';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import { keptExecutions } from '../../../engine/evaluate/executed-rules.ts';
import type { Attempt } from '../../../engine/state/open-run.ts';
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

t.test('nothing is kept of a check that can observe more than its tree', async (t) => {
  const check = { id: 'unit', kind: 'testSuite', command: 'npm test' } as unknown as EffectiveCheck;
  const ask = async (
    workspace: object = {},
    security: object = {},
    networkPolicy: 'allow' | 'deny' = 'deny',
  ): Promise<boolean> => {
    const attempt = {
      identity: {
        contract: {
          effective: {
            constraints: { security: { networkPolicy } },
            security: { secrets: { policy: 'deny' }, ...security },
          },
        },
      },
      environment: {
        repository: { commonDir: '/nowhere' },
        config: {
          workspace: {
            carry: [],
            prepare: [],
            share: [],
            lockfile: 'package-lock.json',
            lockfiles: new Map(),
            ...workspace,
          },
        },
      },
      services: { settings: { witness: { voucher: async () => ({}) } } },
      patch: { files: [{ path: 'package-lock.json', changeType: 'modify' }] },
    } as unknown as Attempt;
    return (await keptExecutions(attempt, { dependencies: () => [] }, check)) !== undefined;
  };
  t.ok(await ask());
  t.notOk(await ask({}, {}, 'allow'), 'a network');
  t.notOk(await ask({}, { secrets: { policy: 'allow-scoped' } }), 'secrets');
  t.notOk(await ask({ carry: ['target'] }), 'what other checks hand on');
  t.notOk(await ask({ share: ['node_modules'] }), 'directories whose lockfile changes');
});
