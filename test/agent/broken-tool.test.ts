import t from 'tap';
import type { UsedTool } from '../../agent/tool-calls/tool-entry.ts';
import { openToolEntry } from '../../agent/tool-calls/tool-entry.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { makeSample } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { everything } from './use-workspace-tools.ts';

const token = ['ghp_', 'Zz91kQm3'.repeat(5).slice(0, 36)].join('');

t.test('a broken tool is reported and recorded, and the next tool call works', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using engine = await sample.engine();
  const kept: UsedTool[] = [];
  const faults: string[] = [];
  const door = openToolEntry(
    {
      engine,
      nowMs: () => systemClock.now(),
      mask: (text) => text.replaceAll(token, '[masked]'),
      signal: new AbortController().signal,
      keep: (use) => kept.push(use),
      broke: ({ message }) => faults.push(message),
    },
    { most: 10, told: 'no more' },
  );
  const judged = { request: { runId: 'r', tool: 'workspace.fs', action: 'read' }, given: {} };
  const fault = await door
    .use(
      () => judged,
      async () => {
        throw new TypeError(`undefined is ${token} ${'x'.repeat(1000)}`);
      },
    )
    .catch((caught: unknown) => caught);
  t.ok(isWritError(fault, 'TOOL_FAILED'), String(fault));
  t.match(faults, [/^a tool broke: `workspace.fs` \(read\): undefined is \[masked\]/]);
  t.ok((faults[0] ?? '').length < 400, 'bounded');
  t.match(kept, [{ tool: 'workspace.fs', outcome: 'failed' }]);
  t.match(
    await door.use(
      () => judged,
      async () => ({ outcome: 'done', text: 'fine' }),
    ),
    { outcome: 'done', text: 'fine' },
    'the next use is judged by itself',
  );
  t.equal(kept.length, 2);
});

long('an attempt with a broken tool fails with the reason, whatever its worker returns', async (t) => {
  for (const swallows of [true, false]) {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    let asked = 0;
    const view = await sample.run(
      {
        worker: {
          name: 'of-the-test',
          usesModel: true,
          async work({ hands }) {
            asked += 1;
            const broken = hands.use({ kind: 'write', path: 'src/price.js', bytes: undefined as never });
            await (swallows ? broken.catch(() => {}) : broken);
            await hands.use({ kind: 'write', path: 'src/price.js', bytes: Buffer.from('export {};\n') });
            return { kind: 'workspace', usage: { costUnits: 0 } };
          },
        },
      },
      {
        security: { toolAcl: { allow: everything as never } },
        execution: { retry: { maxRetries: 1, backoffSeconds: 0 } },
      },
    );
    t.equal(asked, 2, 'once for each attempt that the contract allows');
    t.match(view.decision, {
      type: 'abandon',
      rationale: /no usable patch: TOOL_FAILED: a tool broke: a use that could not be authorized: .*length/,
    });
  }
});

t.test('a decision gives the reason of an empty result, masked, on one line and bounded', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const reason = `I could not:\n\u001b[31m${token}\u202e ${'because '.repeat(200)}`;
  const view = await sample.run(
    {
      worker: {
        name: 'of-the-test',
        usesModel: true,
        work: async () => ({ kind: 'nothing', reason, usage: { costUnits: 0 } }),
      },
    },
    { security: { toolAcl: { allow: everything as never } }, execution: { retry: { maxRetries: 0 } } },
  );
  const { rationale = '' } = view.decision ?? {};
  t.match(rationale, /the worker answered nothing: I could not: /);
  t.notMatch(rationale, token);
  t.notMatch(rationale, /[\p{Cc}\p{Cf}]/u);
  t.match(rationale, /because .*…; task/);
  t.ok(rationale.length < 450, `${rationale.length}`);
});
