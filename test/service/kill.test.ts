import { toldSeed } from '../chance/told-seed.ts';
import { long } from '../rooms/long.ts';
import { killServices } from './kill/kill-services.ts';

long(
  'a killed service keeps acknowledged marks and whole batches, and starts again',
  { timeout: 1_500_000 },
  async (t) => {
    const seed = toldSeed(t);
    const report = await killServices({ seed, rounds: 20, report: (line) => t.comment(line) });
    t.same(report.complaints, []);
    const { kinds, races, batches, clears } = report;
    t.strictSame(Object.keys(kinds).length, 6, JSON.stringify(kinds));
    t.ok(races >= 1 && batches >= 50 && clears >= 1, JSON.stringify({ races, batches, clears }));
  },
);
