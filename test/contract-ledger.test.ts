import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../core/base/clock.ts';
import { createEngine } from '../core/kernel/engine.ts';
import { preset } from '../plugins/preset.ts';
import { contractRows } from '../spec/contract-rows.ts';
import { readIntentSpec } from '../spec/read-intent-spec.ts';
import { fixtures } from './engine/sample.ts';
import { serviceRows } from './ledger/service-rows.ts';

const plugins = preset({ env: {}, ephemeralKey: false });
const root = new URL('..', import.meta.url).pathname;

async function engine() {
  return createEngine({ plugins, rows: contractRows, clock: systemClock, report: () => {} });
}

t.test('every row is enforced by exactly the plugin that it names', async (t) => {
  await using opened = await engine();
  for (const row of contractRows) {
    const { enforcedBy } = opened.ledger.entries.find(({ id }) => id === row.id) ?? { enforcedBy: [] };
    t.strictSame(enforcedBy, [row.enforcedBy], row.id);
  }
});

/** Rows that even with a model are asked for only under further conditions, never without one. */
const modelOnly: ReadonlySet<string> = new Set(
  JSON.parse(readFileSync(join(fixtures, '..', 'ledger', 'model-only.json'), 'utf8')) as readonly string[],
);

t.test('rows for a model alone are not needed by the example specs with a supplied patch', async (t) => {
  for (const name of ['minimal', 'typical', 'high-assurance']) {
    const read = readIntentSpec(readFileSync(join(root, 'fixtures', 'specs', 'valid', `${name}.json`)));
    if (!read.ok) throw new Error(name);
    for (const id of modelOnly)
      t.notOk(
        contractRows.find((row) => row.id === id)?.asks(read.effective, { model: false }),
        `${name}: ${id}`,
      );
  }
});

t.test('every row of the service names an existing test', async (t) => {
  t.equal(new Set(serviceRows.map(({ id }) => id)).size, serviceRows.length, 'each row once');
  for (const { id, test, named } of serviceRows) {
    const path = join(root, test);
    t.ok(
      named !== '' && existsSync(path) && readFileSync(path, 'utf8').includes(named),
      `${id}: ${test}: ${named}`,
    );
  }
});

t.test('the ledger has more than 100 rows', async (t) => {
  await using opened = await engine();
  const { enforced, total } = opened.ledger;
  t.comment(`contract ledger: ${enforced} of ${total} rows enforced`);
  t.ok(total > 100);
});
