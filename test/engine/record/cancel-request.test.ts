import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  readCancel,
  requestCancel,
  watchCancel,
  withdrawCancel,
} from '../../../engine/record/claimed-run.ts';
import type { EvaluatedRun } from '../../../engine/record/evaluation-objects.ts';
import { seal } from '../../../engine/seal/seal.ts';
import { type Attempt, openSealingGate } from '../../../engine/state/open-run.ts';
import { stepsOver } from '../../../engine/state/record-collector.ts';
import type { JournalRecord } from '../../../store/parse-journal.ts';
import { runDirectory } from '../../../store/run-directory.ts';
import { instant } from '../../waiting/instant.ts';

const runId = '0198c1e2-7a5d-7b1c-9d51-0c5a3f1f7e11';

t.test('a watcher receives a cancel request once, whether made before or after it starts', async (t) => {
  const place = { commonDir: t.testdir() };
  const directory = runDirectory(place, runId);
  const end = new AbortController();
  const told: unknown[] = [];
  const watching = watchCancel(directory, (request) => told.push(request), end.signal);
  t.equal(await readCancel(directory), undefined);
  await requestCancel(place, runId, 'Ana', 'no longer needed');
  await watching;
  t.strictSame(told, [{ by: 'Ana', reason: 'no longer needed' }]);
  await requestCancel(place, runId, 'Ben', 'twice');
  await watchCancel(directory, (request) => told.push(request), end.signal);
  t.strictSame(told[1], { by: 'Ben', reason: 'twice' });
  t.strictSame(readdirSync(directory), ['cancel'], 'no draft is left');
  await withdrawCancel(directory);
  t.equal(await readCancel(directory), undefined);
});

t.test('an aborted watcher receives no cancel request', async (t) => {
  const place = { commonDir: t.testdir() };
  const end = new AbortController();
  const watching = watchCancel(runDirectory(place, runId), () => t.fail('told'), end.signal);
  end.abort();
  await watching;
  await requestCancel(place, runId, 'Ana', 'late');
  await watchCancel(runDirectory(place, runId), () => t.fail('told'), end.signal);
});

t.test('a run cannot be cancelled while it is sealed, and a cancelled run is not sealed', async (t) => {
  const reason = new Error('cancelled');
  const sealed = openSealingGate();
  sealed.beginSealing();
  sealed.letGo(reason);
  t.notOk(sealed.signal.aborted);
  const stopped = openSealingGate();
  stopped.letGo(reason);
  t.equal(stopped.signal.reason, reason);
  t.throws(() => stopped.beginSealing(), reason);
  const written: unknown[] = [];
  const active = { type: 'step-ended', data: { step: 'seal/still-active', answer: {} } } as unknown;
  const steps = stepsOver({
    records: [active as JournalRecord],
    append: async (_, data) => void written.push(data),
  });
  const { beginSealing } = stopped;
  const services = { steps, beginSealing };
  const attempt = { identity: {}, services, environment: {} } as unknown as Attempt;
  await t.rejects(seal(attempt, {} as EvaluatedRun), reason);
  t.strictSame(written, [], 'no step of the seal was begun');
});

t.test('an invalid cancel request is OBJECT_CORRUPT and cancels nothing', async (t) => {
  const box = t.testdir({ elsewhere: JSON.stringify({ by: 'x', reason: 'y' }) });
  const directory = runDirectory({ commonDir: box }, runId);
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'cancel');
  for (const text of ['', '{', '{"by":1,"reason":"x"}', '{"by":"x"}', '[]', 'x'.repeat(70_000)]) {
    writeFileSync(path, text);
    await t.rejects(readCancel(directory), { code: 'OBJECT_CORRUPT' });
  }
  await withdrawCancel(directory);
  symlinkSync(join(box, 'elsewhere'), path);
  await t.rejects(readCancel(directory), { code: 'OBJECT_CORRUPT' }, 'a link is not followed');
  const end = new AbortController();
  const watching = watchCancel(directory, () => t.fail('told'), end.signal);
  void instant(20).then(() => end.abort());
  await watching;
});
