import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { TurnReport } from '../../../session/state/command.ts';
import { watchRuns } from '../../../session/work/watch-runs.ts';
import { makeSample } from '../../engine/sample.ts';

t.test('a call that may have an effect waits until its report is stored, and a read does not', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const watcher = watchRuns(systemClock);
  await using engine = await sample.engine([watcher.plugin]);
  const order: string[] = [];
  const words = (report: TurnReport): string => (report.type === 'tool' ? report.status : report.type);
  watcher.watch({
    async emit(report) {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`told ${words(report)}`);
    },
    mention: (report) => void order.push(`mentioned ${words(report)}`),
    signal: new AbortController().signal,
    setting: { approval: { mask: (text) => text } },
  });
  const runId = '01890a5d-ac96-774b-bcce-b302099a8057';
  const uses = [
    { tool: 'workspace.fs', action: 'read' },
    { tool: 'workspace.search', action: 'search' },
    { tool: 'workspace.fs', action: 'write' },
    { tool: 'workspace.command', action: 'execute' },
  ];
  const { started, settled } = engine.hooks.tool;
  for (const use of uses) {
    const request = { runId, ...use };
    await started.call(request);
    order.push(`${use.tool} ${use.action}`);
    await settled.call({ request, outcome: 'done', durationMs: 1 });
  }
  t.strictSame(order, [
    'mentioned running',
    'workspace.fs read',
    'mentioned completed',
    'mentioned running',
    'workspace.search search',
    'mentioned completed',
    'told running',
    'workspace.fs write',
    'told completed',
    'told running',
    'workspace.command execute',
    'told completed',
  ]);
});

t.test('a gate reports its failed tests with secrets masked', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const watcher = watchRuns(systemClock);
  await using engine = await sample.engine([watcher.plugin]);
  const told: TurnReport[] = [];
  watcher.watch({
    emit: async (report) => void told.push(report),
    mention: () => {},
    signal: new AbortController().signal,
    setting: { approval: { mask: (text) => text.replaceAll('hunter2', '•••') } },
  });
  const findings = ['two cost twice', 'hunter2 is kept'].map((test) => ({
    severity: 'error',
    detail: { test },
  }));
  const check = { id: 'unit', status: 'failed', required: true, tolerated: false, timedOut: false, findings };
  const stage = { stage: 'fast', status: 'failed', ran: 1, expected: 1, findings: [], checks: [check] };
  const { settled } = engine.hooks.stage;
  await settled.call({ stage } as unknown as Parameters<typeof settled.call>[0]);
  await settled.call({ stage: { ...stage, status: 'passed', checks: [] } } as unknown as Parameters<
    typeof settled.call
  >[0]);
  const failed = ['unit: two cost twice', 'unit: ••• is kept'];
  t.match(told, [
    { title: 'Gate fast', text: `failed: 1 of 1 ran\n${failed.join('\n')}`, gate: { failed } },
    { text: 'passed: 1 of 1 ran', gate: { failed: undefined } },
  ]);
});

t.test('a check that runs on the old code is labelled', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const watcher = watchRuns(systemClock);
  await using engine = await sample.engine([watcher.plugin]);
  const told: TurnReport[] = [];
  watcher.watch({
    emit: async (report) => void told.push(report),
    mention: () => {},
    signal: new AbortController().signal,
    setting: { approval: { mask: (text) => text } },
  });
  const use = { runId: '01890a5d-ac96-774b-bcce-b302099a8057', tool: 'workspace.command', action: 'execute' };
  const request = { ...use, command: 'npm test', checkId: 'unit' };
  const end = { outcome: 'done', durationMs: 1 } as const;
  const { settled } = engine.hooks.tool;
  await settled.call({ request: { ...request, purpose: 'base' }, ...end, exitCode: 1 });
  await settled.call({ request: { ...request, purpose: 'base' }, ...end, exitCode: 0 });
  await settled.call({ request: { ...request, purpose: 'second' }, ...end, exitCode: 1 });
  t.match(told, [
    { summary: 'execute npm test (done, exit code 1, 1 ms): expected on the old code' },
    { summary: 'execute npm test (done, 1 ms): on the old code' },
    { summary: 'execute npm test (done, exit code 1, 1 ms)' },
  ]);
});
