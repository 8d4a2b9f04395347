import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../core/base/clock.ts';
import { createEngine } from '../core/kernel/engine.ts';
import { preset } from '../plugins/preset.ts';
import { contractRows } from '../spec/contract-rows.ts';
import { readIntentSpec } from '../spec/read-intent-spec.ts';
import { fixtures, type Json, sampleSpec } from './engine/sample.ts';
import { serviceRows } from './ledger/service-rows.ts';

const plugins = preset({ env: {}, ephemeralKey: false });
const root = new URL('..', import.meta.url).pathname;

/** What has to be written into the sample's contract for it to ask for a row that nobody enforces yet. */
const asking: Readonly<Record<string, Json>> = JSON.parse(
  readFileSync(join(fixtures, '..', 'ledger', 'asking.json'), 'utf8'),
) as Readonly<Record<string, Json>>;

async function engine() {
  return createEngine({ plugins, rows: contractRows, clock: systemClock, report: () => {} });
}

t.test('every row is enforced by exactly the plugin that it names', async (t) => {
  await using opened = await engine();
  for (const row of contractRows) {
    const { enforcedBy } = opened.ledger.entries.find(({ id }) => id === row.id) ?? { enforcedBy: [] };
    t.strictSame(enforcedBy, row.enforcedBy === undefined ? [] : [row.enforcedBy], row.id);
  }
});

t.test('every row names either its enforcing plugin or the part that will bring it', async (t) => {
  for (const row of contractRows) t.equal(row.enforcedBy === undefined, row.bringsIn !== undefined, row.id);
});

t.test('a spec that needs an unenforced row is refused with that row', async (t) => {
  await using opened = await engine();
  const refusedFor = (more: Json): readonly string[] => {
    const read = readIntentSpec(sampleSpec(more));
    if (!read.ok) throw new Error(`${JSON.stringify(more)}: ${JSON.stringify(read.issues)}`);
    return opened.ledger.unenforced(read.effective, { model: false });
  };
  t.strictSame(refusedFor({}), []);
  for (const [id, more] of Object.entries(asking)) t.ok(refusedFor(more).includes(id), id);
});

t.test('every row without enforcement has a spec that needs it, or only a model needs it', async (t) => {
  const read = readIntentSpec(sampleSpec());
  if (!read.ok) throw new Error('the sample is not valid');
  const later = contractRows.filter((row) => row.enforcedBy === undefined);
  for (const row of later) {
    const withModelOnly =
      row.asks(read.effective, { model: true }) && !row.asks(read.effective, { model: false });
    t.ok(row.id in asking || withModelOnly || modelOnly.has(row.id), `${row.id} (${row.bringsIn})`);
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
