import { long } from '../rooms/long.ts';
import './upkeep/patience.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { commands } from '../../bin/command-table.ts';
import { runLine } from '../bin/host.ts';
import { fixtures, type Json, makeSample, merge, sampleSpec } from './sample.ts';

const patch = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), 'utf8');

interface Answered {
  readonly code: number;
  readonly data: Record<string, string>;
}

/** A run of a recording with a cap of 10 units, and every command beside it. */
async function capped(t: Test, answers: readonly Json[], limits: Json = {}) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const put = (name: string, content: string | Buffer): string => {
    writeFileSync(join(sample.home, name), content);
    return join(sample.home, name);
  };
  const recording = put('recording.json', JSON.stringify({ format: 'urn:writ:recording:v1', answers }));
  const spec = merge(
    {
      constraints: { resources: { maxCostUnits: 10 } },
      execution: { retry: { maxRetries: 1, backoffSeconds: 0 } },
    },
    limits,
  );
  const env = { ...sample.env, PATH: process.env.PATH ?? '' };
  const call = async (...args: string[]) => {
    const { code, out } = await runLine([...args, '--json'], commands, { cwd: sample.root, env });
    return { code, ...JSON.parse(out) } as Answered;
  };
  const ran = await call('run', put('spec.json', sampleSpec(spec)), '--recording', recording);
  return { ran, call, runId: ran.data.run_id ?? '' };
}

long('a run over its cost cap waits until the user grants more cost units', async (t) => {
  const { ran, call, runId } = await capped(t, [
    { task: 1, attempt: 1, nothing: 'no idea', costUnits: 50 },
    { task: 1, attempt: 2, patch, costUnits: 5 },
  ]);
  const waits = (limit: number) => ({
    code: 4,
    error: { message: new RegExp(`used 50 of ${limit} cost units`) },
  });

  t.match(ran, waits(10));
  t.match(await call('resume', runId), waits(10), 'nobody granted anything');
  t.match(await call('resume', runId, '--more-cost-units', '10'), waits(20));
  const done = await call('resume', runId, '--more-cost-units', '40');
  t.match(done, { code: 0, data: { decision: { type: 'commit' } } });
  t.match(await call('replay', runId), { code: 0, data: { equal: true } });
  t.match(await call('fsck'), { code: 0, data: { problems: [] } });
});

long('a passed candidate over the cost cap is committed after a grant and replays equal', async (t) => {
  for (const answers of [
    [{ task: 1, attempt: 1, patch, costUnits: 50 }],
    [
      { task: 1, attempt: 1, nothing: 'no idea', costUnits: 5 },
      { task: 1, attempt: 2, patch, costUnits: 50 },
    ],
  ]) {
    const { ran, call, runId } = await capped(t, answers);
    t.match(ran, { code: 4 }, JSON.stringify(ran.data));
    const done = await call('resume', runId, '--more-cost-units', '100');
    t.match(done, { code: 0, data: { decision: { type: 'commit' } } });
    t.match(await call('replay', runId), { code: 0, data: { equal: true } });
    t.match(await call('fsck'), { code: 0, data: { problems: [] } });
  }
});
