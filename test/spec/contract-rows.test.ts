import t from 'tap';
import { toPointer } from '../../core/base/json-pointer.ts';
import { contractRows, unenforcedFields } from '../../spec/contract-rows.ts';
import { accepted, type Json, put, sample } from './sample.ts';
import { places } from './schema-walk.ts';

const asked = (document: Json, model = false): readonly string[] =>
  unenforcedFields(accepted(document).effective, { model }).map(({ id }) => id);

t.test('every field of the schema has a row, and every row has a field', async (t) => {
  const patterns = contractRows.map(({ path }) => ({
    path,
    form: new RegExp(`^${path.replaceAll('*', '[^/]+')}$`),
  }));
  const fields = places().filter(
    ({ path, node }) =>
      path.length > 0 && path.at(-1) !== 0 && (node.type !== 'object' || node.additionalProperties !== false),
  );
  const known = fields.map(({ path }) => toPointer(path));
  t.ok(known.length > 110, `${known.length} fields`);
  for (const pointer of known) {
    const covered = patterns.some(
      ({ form, path }) =>
        form.test(pointer) || (pointer === '/artifacts/required' && path.startsWith(pointer)),
    );
    t.ok(covered, pointer);
  }
  const everywhere = places().map(({ path }) => toPointer(path));
  for (const { path, form } of patterns) {
    t.ok(
      everywhere.some(
        (pointer) =>
          form.test(pointer) || (path.startsWith(`${pointer}/`) && pointer.endsWith('/constraints')),
      ) || /\/constraints\/[a-zA-Z]+$/.test(path),
      path,
    );
  }
});

t.test('every row has a unique id and either an enforcer or the part to bring one', async (t) => {
  const ids = contractRows.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length);
  for (const { id, enforcedBy, bringsIn } of contractRows)
    t.equal((enforcedBy === undefined) !== (bringsIn === undefined), true, id);
});

t.test('the minimal and typical specs require nothing unenforced for a supplied patch', async (t) => {
  t.strictSame(asked(sample('minimal')), []);
  t.strictSame(asked(sample('typical')), []);
});

t.test('the high-assurance spec requires nothing unenforced', async (t) => {
  t.strictSame(asked(sample('high-assurance')), []);
});

t.test('each unenforced row is required once a spec sets its field', async (t) => {
  const table: readonly (readonly [id: string, path: readonly (string | number)[], value: Json])[] = [
    ['objmodel.objectStore.backend=external-s3', ['objmodel'], { objectStore: { backend: 'external-s3' } }],
  ];
  for (const [id, path, value] of table) {
    const document = sample('typical');
    t.notOk(asked(document).includes(id), id);
    put(document, path, value);
    t.ok(asked(document).includes(id), `${id} by ${path.join('.')}`);
  }
});

t.test('a tolerated regression is required only with integration checks', async (t) => {
  const asks = (document: Json, level: string) =>
    contractRows
      .find(({ id }) => id === `acceptance.qualityGates.maxAllowedRegression=${level}`)
      ?.asks(accepted(document).effective, { model: false });
  const document = sample('minimal');
  put(document, ['acceptance', 'qualityGates'], { maxAllowedRegression: 'low' });
  t.equal(asks(document, 'low'), false);
  const typical = sample('typical');
  put(typical, ['acceptance', 'qualityGates', 'maxAllowedRegression'], 'medium');
  t.equal(asks(typical, 'medium'), true);
  t.equal(asks(typical, 'low'), false);
});

t.test('rows about a model are required only when a model works', async (t) => {
  const document = sample('minimal');
  const id = 'evidence.strategy#retrieval';
  const asks = (model: boolean) =>
    contractRows.find((row) => row.id === id)?.asks(accepted(document).effective, { model });
  t.notOk(asks(true), 'nothing is looked up where no rule allows a search');
  put(
    document,
    ['security', 'toolAcl', 'allow'],
    [{ tool: 'web.search', actions: ['search'], constraints: {} }],
  );
  t.ok(asks(true));
  t.notOk(asks(false));
});

t.test('rows can be evaluated on every valid spec', async (t) => {
  for (const name of ['minimal', 'typical', 'high-assurance'] as const) {
    const { effective } = accepted(sample(name));
    for (const row of contractRows)
      for (const model of [true, false]) t.type(row.asks(effective, { model }), 'boolean', row.id);
  }
});
