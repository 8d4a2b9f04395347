import t from 'tap';
import { progressPlugin } from '../../bin/terminal/run-progress.ts';
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
  const progress = { update: (text: string) => void told.push(text), clear: () => {} };
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
    plugins: [progressPlugin({ update: broken, clear: broken })],
    rows: [],
    report: ({ code }) => void faults.push(code),
  });
  t.equal(await engine.hooks.tool.guard.call(request), undefined);
  await engine.hooks.tool.started.call(request);
  t.strictSame(faults, ['PLUGIN_FAULT']);
});
