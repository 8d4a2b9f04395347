import t, { type Test } from 'tap';
import type { TaskOrder } from '../../../core/interfaces/worker.ts';
import { createRecordedWorker } from '../../../plugins/recorded-worker/plugin.ts';
import { long } from '../../rooms/long.ts';
import { type Json, makeSample, merge } from '../sample.ts';

const add = (path: string, line: string): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;

const contract = (triggers: readonly string[], apis: readonly string[]): Json => ({
  intent: {
    changeType: 'feature',
    objectives: ['write src/mail.js'],
    inScope: ['src/'],
    touchHints: { apis },
  },
  execution: { retry: { maxRetries: 0, backoffSeconds: 0 }, replan: { triggers } },
});

const calling = add('src/mail.js', "export const send = () => fetch('https://mail.example/send');");
const quiet = add('src/mail.js', 'export const send = () => undefined;');

/** Runs it with a worker that first writes a call, then none. */
async function worked(t: Test, spec: Json) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const orders: TaskOrder[] = [];
  const recorded = createRecordedWorker(
    [
      { task: 1, attempt: 1, patch: calling },
      { task: 1, attempt: 1, revision: 2, patch: quiet },
    ],
    async () => {},
  );
  const worker = {
    ...recorded,
    work: (order: TaskOrder) => {
      orders.push(order);
      return recorded.work(order);
    },
  };
  const view = await sample.run({ worker }, merge(contract([], []), spec));
  const log = sample.git('for-each-ref', '--format=%(refname)', 'refs/ai/intents').split('\n')[0] ?? '';
  const events = sample.git('ls-tree', '-r', '--name-only', log).split('\n');
  const told = events
    .filter((path) => path.startsWith('events/'))
    .map((path) => sample.git('cat-file', 'blob', `${log}:${path}`))
    .join('\n');
  return { view, orders, told };
}

long('a call to an undeclared API causes a new plan revision, with its reason', async (t) => {
  const { view, orders, told } = await worked(t, contract(['unknown-api'], ['/v1/users']));
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.strictSame(
    orders.map(({ revision }) => revision),
    [1, 2],
  );
  t.match(orders[1]?.previousFailure, /calls `https:\/\/mail\.example\/send`/);
  t.match(told, /unknown-api[\s\S]*mail\.example\/send/, 'the changeLog says why');
});

long('a call to a declared API, or one without the trigger, causes no replan', async (t) => {
  for (const spec of [
    contract(['unknown-api'], ['https://mail.example/send']),
    contract(['scope-creep'], []),
  ]) {
    const { view, orders, told } = await worked(t, spec);
    t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
    t.equal(orders.length, 1);
    t.notMatch(told, /unknown-api/);
  }
});

t.test('a supplied patch that fires `unknown-api` ends in abandon', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const source = { kind: 'patch', bytes: Buffer.from(calling) } as const;
  const view = await sample.run({ source }, contract(['unknown-api'], []));
  t.match(view.decision, { type: 'abandon', rationale: /cannot be replanned for `unknown-api`/ });
});
