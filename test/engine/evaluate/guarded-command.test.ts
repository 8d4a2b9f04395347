import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import { long } from '../../rooms/long.ts';
import { fixtures, makeSample } from '../sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

long('a check command that a tool guard refuses does not run, and its check fails', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const asked: string[] = [];
  const stern = definePlugin({
    name: 'stern',
    api: 1,
    setup({ hooks }) {
      hooks.tool.guard.tap(({ tool, command = '' }) => {
        asked.push(command);
        return tool === 'workspace.command' && command.includes('forbidden')
          ? { message: 'not this one' }
          : undefined;
      });
      return undefined;
    },
  });
  // It would pass if it ran.
  const command = 'true forbidden';
  const check = { id: 'one', kind: 'command', command, required: true };
  const view = await sample.run(
    { source: { kind: 'patch', bytes: fix } },
    { acceptance: { verificationPlan: { integrationChecks: [check] } } },
    [stern],
  );
  t.equal(view.decision?.type, 'abandon', view.decision?.rationale ?? '');
  t.ok(asked.includes(command), 'the guard was asked');
  const kept = JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:gate-report.json`));
  const integration = JSON.stringify(
    kept.stages.find(({ stage }: { stage: string }) => stage === 'integration'),
  );
  t.match(integration, /not this one/, 'why is in the record');
});
