import t from 'tap';
import { compileMetricsSchema } from '../../../engine/context/run-metrics.ts';

const measured = { wall_clock_seconds: 12.5, cost_usd: 0.4, tokens_used: 0, patchsets_generated: 1 };

t.test('metrics that match the schema have no violations', async (t) => {
  for (const schema of [
    {},
    { wall_clock_seconds: { type: 'number', exclusiveMaximum: 13 }, cost_usd: { maximum: 0.4 } },
    { tokens_used: { type: 'integer', minimum: 0 }, patchsets_generated: { enum: [0, 1, 2] } },
    { cost_usd: true, tokens_used: { anyOf: [{ const: 0 }, { minimum: 100 }], description: 'none or many' } },
  ])
    t.strictSame((await compileMetricsSchema(schema))(measured), [], JSON.stringify(schema));
});

t.test('each metric that violates its schema is named', async (t) => {
  const check = await compileMetricsSchema({
    wall_clock_seconds: { type: 'integer' },
    cost_usd: { maximum: 0.1 },
    patchsets_generated: { const: 1 },
    tokens_used: false,
  });
  t.strictSame(
    check(measured).map(({ metric }) => metric),
    ['wall_clock_seconds', 'cost_usd', 'tokens_used'],
  );
});

t.test('a metric that was not measured or is not a number is a violation', async (t) => {
  const check = await compileMetricsSchema({ coverage: {}, constructor: {}, cost_usd: {} });
  t.strictSame(
    check({ cost_usd: Number.NaN }).map(({ metric }) => metric),
    ['coverage', 'constructor', 'cost_usd'],
  );
});

t.test('refuses a metrics schema that is not a map of valid JSON Schemas', async (t) => {
  const deep = (levels: number): object => (levels === 0 ? {} : { not: deep(levels - 1) });
  for (const schema of [
    { type: 'object', properties: {} },
    { cost_usd: 'number' },
    { cost_usd: [] },
    { cost_usd: null },
    { cost_usd: { type: 'money' } },
    { cost_usd: { maxximum: 5 } },
    { cost_usd: { maximum: 'five' } },
    { cost_usd: { format: 'nobody-knows' } },
    { cost_usd: { $ref: 'https://schemas.example.com/x.json' } },
    { cost_usd: { $ref: '#' } },
    { cost_usd: { anyOf: [{ $dynamicRef: '#x' }] } },
    { cost_usd: { $id: 'https://schemas.example.com/x.json' } },
    { cost_usd: { $schema: 'http://json-schema.org/draft-04/schema#' } },
    { cost_usd: { $async: true } },
    { cost_usd: deep(20) },
    { cost_usd: { description: 'x'.repeat(70_000) } },
    Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`m${index}`, {}])),
  ])
    await t.rejects(
      compileMetricsSchema(schema),
      { code: 'METRICS_SCHEMA_INVALID' },
      JSON.stringify(schema).slice(0, 100),
    );
});

t.test('a metric name may be a schema keyword or `__proto__`', async (t) => {
  const schema = JSON.parse('{"$ref": {"maximum": 1}, "__proto__": {"maximum": 1}}');
  const check = await compileMetricsSchema(schema);
  t.strictSame(
    check(JSON.parse('{"$ref": 2, "__proto__": 2}')).map(({ metric }) => metric),
    ['$ref', '__proto__'],
  );
});
