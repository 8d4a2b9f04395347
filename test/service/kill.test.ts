import { toldSeed } from '../chance/told-seed.ts';
import { long } from '../rooms/long.ts';
import { killServices } from './kill/kill-services.ts';

long(
  'a service that is killed at any instant has every acknowledged mark, no batch in half, and starts again at once',
  { timeout: 1_500_000 },
  async (t) => {
    const seed = toldSeed(t);
    const report = await killServices({ seed, rounds: 20, report: (line) => t.comment(line) });
    t.same(report.complaints, []);
    const { kinds, races, batches, clears, startsMs, undisturbedMs } = report;
    t.strictSame(Object.keys(kinds).length, 6, JSON.stringify(kinds));
    t.ok(races >= 1 && batches >= 50 && clears >= 1, JSON.stringify({ races, batches, clears }));
    // A start that waits for a lock of the dead takes its whole patience longer, three seconds.
    // The quicker ones tell: others share the machine.
    const quick = [...startsMs].sort((a, b) => a - b)[Math.floor(startsMs.length / 4)] ?? Number.NaN;
    t.ok(quick <= undisturbedMs + 2_000, `${quick} ms behind a kill, ${undisturbedMs} ms undisturbed`);
  },
);
