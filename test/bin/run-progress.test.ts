import t from 'tap';
import { TimeTally } from '../../bin/terminal/progress.ts';
import { progressPlugin } from '../../bin/terminal/run-progress.ts';
import { systemClock } from '../../core/base/clock.ts';
import { createEngine } from '../../core/kernel/engine.ts';

const request = {
  runId: 'run-1',
  tool: 'workspace.command',
  action: 'execute',
  checkId: 'unit',
  command: 'true',
};

t.test('progress reports the check that starts and the checks that are done', async (t) => {
  const told: string[] = [];
  const progress = {
    update: (text: string) => void told.push(text),
    clear: () => {},
    time: new TimeTally(systemClock),
  };
  await using engine = await createEngine({
    plugins: [progressPlugin(progress)],
    rows: [],
    report: () => {},
  });
  await engine.hooks.tool.started.call(request);
  await engine.hooks.tool.settled.call({ request, outcome: 'done', durationMs: 1 });
  t.strictSame(told, ['checking unit: true', '1 checks done, last unit']);
});

t.test('a failing printer reports a fault and refuses no command', async (t) => {
  const broken = () => {
    throw new Error('the terminal is gone');
  };
  const faults: string[] = [];
  await using engine = await createEngine({
    plugins: [progressPlugin({ update: broken, clear: broken, time: new TimeTally(systemClock) })],
    rows: [],
    report: ({ code }) => void faults.push(code),
  });
  t.equal(await engine.hooks.tool.guard.call(request), undefined);
  await engine.hooks.tool.started.call(request);
  t.strictSame(faults, ['PLUGIN_FAULT']);
});

t.test('the time of a run is that of its checks, of each run beside them, and the rest', async (t) => {
  let now = 0;
  const time = new TimeTally({ ...systemClock, monotonic: () => now });
  t.equal(time.spent(), undefined, 'nothing ran');
  await using engine = await createEngine({
    plugins: [progressPlugin({ update: () => {}, clear: () => {}, time })],
    rows: [],
    report: () => {},
  });
  const ran = async (from: number, to: number, more: object = {}) => {
    now = from;
    await engine.hooks.tool.started.call({ ...request, ...more });
    return async () => {
      now = to;
      const settled = { request: { ...request, ...more }, outcome: 'done', durationMs: to - from } as const;
      await engine.hooks.tool.settled.call(settled);
    };
  };
  // Two checks side by side, then a run at the base. A worker's own tool is no check.
  const one = await ran(100, 300);
  await (await ran(150, 250))();
  await one();
  await (await ran(400, 1000, { purpose: 'base' }))();
  await (await ran(1000, 1500, { checkId: undefined }))();
  now = 2000;
  t.match(time.spent(), { checksMs: 300, baseMs: 600, secondMs: 0, otherMs: 1200, totalMs: 2000 });
});
