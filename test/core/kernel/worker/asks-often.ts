import { parentPort, workerData } from 'node:worker_threads';
import run from '../../../../core/kernel/worker/entry.ts';
import { order } from './leaves-marks.ts';

const module = new URL('./leaves-marks.ts', import.meta.url).href;
for (let round = 0; round < workerData.rounds; round += 1) {
  const { ok } = await run({ module, input: workerData.how });
  order.push(ok ? 'answered' : 'failed');
}
parentPort?.postMessage(order);
