import t from 'tap';
import { toPointer } from '../../core/base/json-pointer.ts';
import { contractRows } from '../../spec/contract-rows.ts';
import { accepted, type Json, put, sample } from './sample.ts';
import { places } from './schema-walk.ts';

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

t.test('every row has a unique id', async (t) => {
  const ids = contractRows.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length);
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
