import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { uuidV7 } from '../../../core/base/ids.ts';
import type { Worker } from '../../../core/interfaces/worker.ts';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import { long } from '../../rooms/long.ts';
import { fixtures, makeSample } from '../sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

long('a worker that throws stops its run, and resume calls it in a fresh workspace', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const seen: boolean[] = [];
  const work = (answer: Worker['work']): Worker => ({
    name: 'of-the-test',
    usesModel: false,
    work: (order) => {
      const half = join(order.workspace, 'half-done');
      seen.push(existsSync(half));
      writeFileSync(half, '');
      return answer(order);
    },
  });
  const runId = uuidV7(Date.now());
  const breaks = work(async () => {
    throw new TypeError('it is no function');
  });
  await t.rejects(sample.run({ worker: breaks, runId }), {
    code: 'WORKER_FAILED',
    message: 'the worker `of-the-test` failed at task 1, attempt 1: it is no function',
    hints: [`the run is kept: \`writ resume ${runId}\``],
  });
  t.strictSame(seen, [false]);
  const repaired = definePlugin({
    name: 'worker-of-the-test',
    api: 1,
    setup({ slots }) {
      const worker = work(async () => ({ kind: 'patch', patch: fix, usage: { costUnits: 0 } }));
      slots.worker.add('of-the-test', { open: () => worker });
      return undefined;
    },
  });
  t.match(await sample.resume(runId, { worker: { name: 'of-the-test' } }, [repaired]), {
    decision: { type: 'commit' },
  });
  t.strictSame(seen, [false, false]);
});
