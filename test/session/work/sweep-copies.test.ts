import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WritError } from '../../../core/base/errors.ts';
import { sweepCopies } from '../../../session/work/shell-step.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';
import { makeSample } from '../../engine/sample.ts';
import { until } from '../../waiting/until.ts';
import { scriptSession } from './scripted-session.ts';

/** Leaves a copy in the directory of a thread, as a killed session does. */
function leaveIn(directory: string, name = 'shell'): string {
  const copy = join(directory, name);
  mkdirSync(join(copy, 'workspace', 'd'), { recursive: true });
  writeFileSync(join(copy, 'workspace', 'd', 'a'), 'x');
  return copy;
}

t.test('`sweepCopies` removes copies only of threads without a live writer', async (t) => {
  const box = t.testdir({ elsewhere: {} });
  const threads = join(box, 'writ', 'threads');
  const [dead, half, own, busy, elsewhere] = [
    leaveIn(join(threads, 'dead')),
    leaveIn(join(threads, 'half'), 'shell-removed'),
    leaveIn(join(threads, 'own')),
    leaveIn(join(threads, 'busy')),
    leaveIn(join(box, 'elsewhere')),
  ];
  writeFileSync(join(threads, 'dead', 'journal.jsonl'), '');
  symlinkSync(join(box, 'elsewhere'), join(threads, 'linked'));
  const lock = await acquireProcessLock(join(threads, 'busy', 'lock'), {
    busy: () => new WritError('THREAD_BUSY'),
  });
  await sweepCopies({ commonDir: box }, 'own');
  t.strictSame([dead, half, own, busy, elsewhere].map(existsSync), [false, false, true, true, true]);
  t.ok(existsSync(join(threads, 'dead', 'journal.jsonl')), 'the thread stays');
  await lock.release();
  await sweepCopies({ commonDir: box }, 'own');
  t.notOk(existsSync(busy));
  await sweepCopies({ commonDir: join(box, 'nowhere') }, 'own');
});

t.test('a session removes the copies that killed sessions left', async () => {
  const sample = makeSample();
  const left = leaveIn(join(sample.root, '.git', 'writ', 'threads', 'dead'));
  await using _scene = await scriptSession([], {}, sample);
  await until(() => !existsSync(left));
});
