import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { Told } from '../../../session/state/command.ts';
import { watchRuns } from '../../../session/work/watch-runs.ts';
import { makeSample } from '../../engine/run/sample.ts';

t.test('a call that may have an effect waits until it is told; one that only looks does not', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const watcher = watchRuns(systemClock);
  await using engine = await sample.engine([watcher.plugin]);
  const order: string[] = [];
  const words = (report: Told): string => (report.type === 'tool' ? report.status : report.type);
  watcher.watch({
    async tell(report) {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`told ${words(report)}`);
    },
    mention: (report) => void order.push(`mentioned ${words(report)}`),
    signal: new AbortController().signal,
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
