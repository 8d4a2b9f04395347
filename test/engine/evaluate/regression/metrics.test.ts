import t from 'tap';
import { metricsBounds, metricsOf } from '../../../../readers/reports/metrics.ts';

const read = (content: unknown) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return metricsOf([{ name: 'metrics.json', bytes: Buffer.from(text) }]);
};

t.test('reads a metric given as a number or as an object', async (t) => {
  const { metrics, finding } = read({ p95: 12.5, rate: { value: 3, unit: '1/s', better: 'higher' } });
  t.equal(finding, undefined);
  t.strictSame(
    [...(metrics ?? [])],
    [
      ['p95', { value: 12.5, better: 'lower' }],
      ['rate', { value: 3, unit: '1/s', better: 'higher' }],
    ],
  );
});

t.test('a missing metrics file gives no metrics and no finding', async (t) => {
  t.strictSame(metricsOf([{ name: 'other.json', bytes: Buffer.from('{') }]), {});
});

t.test('a metrics file of any other shape gives a METRICS_UNREADABLE finding', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: metricsBounds.metrics + 1 }, (_, at) => [`m${at}`, 1]),
  );
  const wrong: readonly (readonly [what: string, content: unknown])[] = [
    ['cut off', '{"a":1'],
    ['empty', ''],
    ['a list', []],
    ['a number', '1'],
    ['text as value', { a: '1' }],
    ['null', { a: null }],
    ['nested', { a: { b: { value: 1 } } }],
    ['without value', { a: { unit: 'ms' } }],
    ['another direction', { a: { value: 1, better: 'best' } }],
    ['an unknown member', { a: { value: 1, tolerance: 5 } }],
    ['a unit that is no text', { a: { value: 1, unit: 1 } }],
    ['a long unit', { a: { value: 1, unit: 'x'.repeat(33) } }],
    ['a long name', { ['x'.repeat(129)]: 1 }],
    ['an empty name', { '': 1 }],
    ['a name that moves the terminal', { '\u001b[2J': 1 }],
    ['a name written backwards', { '\u202e': 1 }],
    ['too many', many],
    ['the same name twice', '{"a":1,"a":2}'],
    ['a number that no double holds', '{"a":1e999}'],
    ['too deep', `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`],
    ['too large', `{"a":1${' '.repeat(metricsBounds.bytes)}}`],
    ['UTF-16', `\ufeff{"a":1}`],
  ];
  for (const [what, content] of wrong) {
    const { metrics, finding } = read(content);
    t.match(finding, { rule: 'regression', severity: 'error', detail: { code: 'METRICS_UNREADABLE' } }, what);
    t.equal(metrics, undefined, what);
  }
});
