import t from 'tap';
import { toldSeed } from '../chance/told-seed.ts';
import { isLong } from '../rooms/long.ts';
import { killRuns } from './kill-run.ts';

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
