import '../upkeep/patience.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { runLine } from '../../bin/host.ts';
import { fixtures, makeSample, sampleSpec } from './sample.ts';

t.test('a run past its cost cap waits for a person, who grants more; nothing is counted twice', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const put = (name: string, content: string | Buffer): string => {
    writeFileSync(join(sample.home, name), content);
    return join(sample.home, name);
  };
  const patch = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), 'utf8');
  const answers = [
    { task: 1, attempt: 1, nothing: 'no idea', costUnits: 50 },
    { task: 1, attempt: 2, patch, costUnits: 5 },
  ];
  const recording = put('recording.json', JSON.stringify({ format: 'urn:writ:recording:v1', answers }));
  const limits = {
    constraints: { resources: { maxCostUnits: 10 } },
    execution: { retry: { maxRetries: 1, backoffSeconds: 0 } },
  };
  const env = { ...sample.env, PATH: process.env.PATH ?? '' };
  const call = async (...args: string[]) => {
    const { code, out } = await runLine([...args, '--json'], commands, { cwd: sample.root, env });
    return { code, ...JSON.parse(out) };
  };
  const waits = (limit: number) => ({
    code: 4,
    error: { message: new RegExp(`used 50 of ${limit} cost units`) },
  });

  const ran = await call('run', put('spec.json', sampleSpec(limits)), '--recording', recording);
  t.match(ran, waits(10));
  const runId: string = ran.data.run_id;
  t.match(await call('resume', runId), waits(10), 'nobody granted anything');
  t.match(await call('resume', runId, '--more-cost-units', '10'), waits(20));
  const done = await call('resume', runId, '--more-cost-units', '40');
  t.match(done, { code: 0, data: { decision: { type: 'commit' } } });
  t.match(await call('replay', runId), { code: 0, data: { equal: true } });
  t.match(await call('fsck'), { code: 0, data: { problems: [] } });
});
