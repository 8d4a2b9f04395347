import t from 'tap';
import { toldSeed } from '../chance/told-seed.ts';
import { noRedis } from '../engine/workers/local-queue.ts';
import { isLong, long } from '../rooms/long.ts';
import { killRuns } from './kill-run.ts';
import { faults } from './parts/faults.ts';
import { killParts } from './parts/rounds.ts';

t.test(
  'a run that is killed at any instant comes to the same end, and leaves nothing lying about',
  async (t) => {
    const seed = toldSeed(t);
    const rounds = isLong ? 6 : 1;
    const report = await killRuns({ seed, rounds, report: (line) => t.comment(line) });
    t.same(report.complaints, []);
    t.equal(report.rounds, rounds);
    t.comment(JSON.stringify(report.killed));
    if (isLong) t.ok(report.killed.midway >= 1, 'of six instants one is in the middle');
  },
);

long(
  'runs with workers, a queue, a bucket and a shared ledger come to the same end under every fault',
  { skip: noRedis, timeout: 900_000 },
  async (t) => {
    const rounds = Object.keys(faults).length;
    const report = await killParts({ seed: toldSeed(t), rounds, report: (line) => t.comment(line) });
    t.same(report.complaints, []);
    t.comment(JSON.stringify([report.faults, report.ends, report.checks]));
  },
);
