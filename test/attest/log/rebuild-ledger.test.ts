import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { rebuildLedger } from '../../../attest/log/check-ledger.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { makePlace, openLedger } from './ledger-fixture.ts';

t.test('tiles are rebuilt only from entries that the checkpoint covers', async (t) => {
  const place = makePlace();
  t.teardown(() => rmSync(place.root, { recursive: true, force: true }));
  t.strictSame(await rebuildLedger(place.directory, systemClock), [], 'no ledger, nothing to do');
  await openLedger(place).appendAll(['one', 'two', 'three'].map((text) => Buffer.from(text)));
  t.strictSame(await rebuildLedger(place.directory, systemClock), [], 'nothing is wrong');
  const tile = join(place.directory, 'tile/0/000.p/3');
  const whole = readFileSync(tile);
  writeFileSync(tile, Buffer.alloc(whole.length));
  t.strictSame(await rebuildLedger(place.directory, systemClock), ['tile/0/000.p/3']);
  t.strictSame(readFileSync(tile), whole);

  const entries = join(place.directory, 'tile/entries/000.p/3');
  writeFileSync(entries, readFileSync(entries).toString('latin1').replace('two', 'twp'), 'latin1');
  await t.rejects(rebuildLedger(place.directory, systemClock), { code: 'LEDGER_CORRUPT' });
  t.strictSame(readFileSync(tile), whole, 'nothing was written');
  const altered = openLedger(place);
  t.match(await altered.prove(0), { logIndex: 0 }, 'an entry beside it is as it was');
  await t.rejects(altered.prove(1), { code: 'LEDGER_CORRUPT', detail: { path: 'tile/entries/000.p/3' } });
});
