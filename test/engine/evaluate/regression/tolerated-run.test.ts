import { replayRun } from '../../../../engine/decide/replay-run.ts';
import { long } from '../../../rooms/long.ts';
import { finishedRun } from '../../upkeep/finished-run.ts';

long(
  'a tolerated old failure is recorded in the evidence, and the run replays to its decision',
  async (t) => {
    const integrationChecks = [{ id: 'old', kind: 'command', command: 'test -f absent.txt', required: true }];
    const qualityGates = { maxAllowedRegression: 'low' };
    const run = await (
      await finishedRun({ acceptance: { qualityGates, verificationPlan: { integrationChecks } } })
    )();
    const ref = `refs/ai/runs/${run.runId}`;
    const paths = run.git('ls-tree', '-r', '--name-only', ref).split('\n');
    const files = new Map(paths.map((path) => [path, Buffer.from(run.show(ref, path))] as const));
    const { equal, firstDifference } = replayRun(files);
    t.equal(firstDifference, undefined);
    t.ok(equal);
    const evidence = paths.filter((path) => /^evidence\/.*-old\.json$/.test(path));
    t.match(JSON.parse(run.show(ref, evidence[0] ?? '')), { status: 'failed', tolerated: true });
    const untold = new Map([...files]);
    const path = evidence[0] ?? '';
    untold.set(path, Buffer.from(String(files.get(path)).replace('"tolerated":true,', '')));
    t.not(
      replayRun(untold).firstDifference,
      undefined,
      'evidence that does not say so speaks against the input',
    );
  },
);
