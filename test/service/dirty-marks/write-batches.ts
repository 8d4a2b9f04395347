import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { openDirtyMarks } from '../../../service/dirty-marks.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';

/**
 * Writes batch after batch into the directory it is given, from a number on, and says `ack N` when batch N is durable;
 * ends by being killed.
 */
const [directory = '', first = '0', rows = '20'] = process.argv.slice(2);
await acquireProcessLock(`${directory}/service.lock`, { busy: () => new WritError('RUN_BUSY') });
const marks = await openDirtyMarks(`${directory}/service.db`, systemClock);
process.stdout.write('ready\n');
for (let batch = Number(first); ; batch += 1) {
  marks.mark(Array.from({ length: Number(rows) }, (_, row) => `batch-${batch}/row-${row}.ts`));
  process.stdout.write(`ack ${batch}\n`);
}
