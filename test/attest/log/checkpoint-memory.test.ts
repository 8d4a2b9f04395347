import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openCheckpointMemory } from '../../../attest/log/checkpoint-memory.ts';
import { parseVkey } from '../../../attest/log/ledger-key.ts';
import { makePlace, openLedger } from './ledger-fixture.ts';

/** A memory that has seen a log at sizes 1 and 2, as the log itself keeps it. */
async function seen(t: Test) {
  const place = makePlace();
  t.teardown(() => rmSync(place.root, { recursive: true, force: true }));
  const ledger = openLedger(place);
  for (const text of ['one', 'two']) await ledger.append(Buffer.from(text));
  const { name: origin, keyId } = parseVkey(await ledger.vkey());
  const directory = join(place.root, 'memory');
  const file = (size: number): string => join(directory, globSync(`*/${size}`, { cwd: directory })[0] ?? '');
  return { memory: openCheckpointMemory(directory), log: { origin, keyId }, file };
}

t.test('what was seen of a log is what it is asked by: its size', async (t) => {
  const { memory, log, file } = await seen(t);
  t.match(await memory.latest(log), { size: 2, origin: log.origin });
  t.match(await memory.at(log, 1), { size: 1 });
  t.equal(await memory.at(log, 3), undefined);
  copyFileSync(file(1), file(2));
  await t.rejects(memory.at(log, 2), { code: 'STATE_CORRUPT' }, 'a checkpoint of another size');
});

t.test('a checkpoint of another log under the name of this one is damage', async (t) => {
  const { memory, log, file } = await seen(t);
  const text = readFileSync(file(2), 'utf8');
  writeFileSync(file(2), text.replaceAll(log.origin, `${log.origin}x`));
  await t.rejects(memory.latest(log), { code: 'STATE_CORRUPT' });
});

t.test('a memory that was never used knows nothing', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'writ-memory-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  const memory = openCheckpointMemory(join(root, 'none'));
  t.equal(await memory.latest({ origin: 'log', keyId: Buffer.alloc(32) }), undefined);
});
