import t from 'tap';
import { canonicalize } from '../../../core/base/canonical.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import { parseFindings, parseRefusal, parseReplanTriggers } from '../../../core/kernel/answer.ts';

const good = {
  rule: 'scope',
  severity: 'error',
  message: 'm',
  path: 'a',
  line: 1,
  column: 2,
  detail: { a: [1] },
};

t.test('valid findings are returned unchanged as new objects', async (t) => {
  const given = [good, { rule: 'x', severity: 'note', message: 'm' }];
  const parsed = parseFindings(given);
  t.strictSame(parsed, given);
  t.not(parsed[0], given[0]);
  t.strictSame(parseFindings([]), []);
  t.strictSame(parseFindings([{ ...good, path: undefined, detail: undefined }]), [
    { rule: 'scope', severity: 'error', message: 'm', line: 1, column: 2 },
  ]);
});

t.test('invalid findings are refused', async (t) => {
  const without = (field: string) =>
    Object.fromEntries(Object.entries(good).filter(([name]) => name !== field));
  const nonsense: unknown[] = [
    undefined,
    null,
    true,
    'text',
    {},
    { length: 1, 0: good },
    [undefined],
    [null],
    ['finding'],
    [[]],
    new Array(1),
    [without('rule')],
    [without('severity')],
    [without('message')],
    [{ ...good, severity: 'fatal' }],
    [{ ...good, rule: '' }],
    [{ ...good, message: 7 }],
    [{ ...good, path: 7 }],
    [{ ...good, line: 0 }],
    [{ ...good, line: 1.5 }],
    [{ ...good, line: '1' }],
    [{ ...good, detail: 'text' }],
    [{ ...good, detail: { big: 1n } }],
    [{ ...good, extra: 1 }],
  ];
  for (const answer of nonsense) t.throws(() => parseFindings(answer));
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  t.throws(() => parseFindings([{ ...good, detail: circle }]));
});

t.test('findings have exact size limits', async (t) => {
  const one = (changes: object) => [{ ...good, ...changes }];
  t.doesNotThrow(() => parseFindings(new Array(10_000).fill(good)));
  t.throws(() => parseFindings(new Array(10_001).fill(good)));
  t.doesNotThrow(() => parseFindings(one({ message: 'x'.repeat(4000) })));
  t.throws(() => parseFindings(one({ message: 'x'.repeat(4001) })));
  t.doesNotThrow(() => parseFindings(one({ path: 'x'.repeat(4096) })));
  t.throws(() => parseFindings(one({ path: 'x'.repeat(4097) })));
  t.doesNotThrow(() => parseFindings(one({ rule: 'x'.repeat(128) })));
  t.throws(() => parseFindings(one({ rule: 'x'.repeat(129) })));
  t.doesNotThrow(() => parseFindings(one({ detail: { a: 'x'.repeat(16_384 - '{"a":""}'.length) } })));
  t.throws(() => parseFindings(one({ detail: { a: 'x'.repeat(16_385 - '{"a":""}'.length) } })));
});

t.test('a detail is stored as JSON can represent it', async (t) => {
  const [finding] = parseFindings([{ ...good, detail: { when: new Date(0), gone: undefined, f: () => 1 } }]);
  t.strictSame(finding?.detail, { when: '1970-01-01T00:00:00.000Z' });
});

t.test('text that a record cannot hold is repaired in messages and details, else refused', async (t) => {
  const cut = `${'x'.repeat(9)}\u{1f600}`.slice(0, 10);
  const [finding] = parseFindings([
    {
      ...good,
      message: `${cut}\0`,
      detail: { [cut]: [cut], ['__proto__']: 1, safe: 2 ** 53 - 1, part: 0.1 },
    },
  ]);
  const mended = `${'x'.repeat(9)}\u{fffd}`;
  t.equal(finding?.message, `${mended}\u{fffd}`);
  t.equal(parseRefusal({ message: cut })?.message, mended);
  t.strictSame(Object.entries(finding?.detail ?? {}), [
    [mended, [mended]],
    ['__proto__', 1],
    ['safe', 2 ** 53 - 1],
    ['part', 0.1],
  ]);
  const nested = (levels: number): unknown => (levels === 0 ? 'end' : [nested(levels - 1)]);
  const stored = parseFindings([{ ...good, detail: { of: nested(30) } }]);
  const file = Buffer.from(canonicalize({ stages: [{ checks: [{ findings: stored }] }] }));
  t.strictSame(parseStrictJson(file).value, { stages: [{ checks: [{ findings: stored }] }] });
  for (const changes of [
    { detail: { of: nested(31) } },
    { detail: { count: 2 ** 53 } },
    { detail: { deep: [{ count: -(2 ** 60) }] } },
    { path: cut },
    { path: 'a\0b' },
  ])
    t.throws(() => parseFindings([{ ...good, ...changes }]), JSON.stringify(changes).slice(0, 60));
});

t.test('a refusal is undefined or has a message', async (t) => {
  t.equal(parseRefusal(undefined), undefined);
  t.strictSame(parseRefusal({ message: 'no', path: 'a', line: 2 }), { message: 'no', path: 'a', line: 2 });
  for (const nonsense of [null, false, true, '', {}, { message: '' }, { message: 'x', allow: true }, []]) {
    t.throws(() => parseRefusal(nonsense));
  }
});

t.test('an error names the type of a refused value and never prints the value', async (t) => {
  const secret = 'hunter2';
  const complaint = (answer: unknown) => {
    try {
      return `accepted ${parseFindings(answer).length}`;
    } catch (fault) {
      return String(fault);
    }
  };
  for (const answer of [secret, [secret], [{ ...good, severity: secret }], [{ ...good, line: secret }]]) {
    t.match(complaint(answer), 'string');
    t.notMatch(complaint(answer), secret);
  }
});

t.test('replan triggers must be known, and no more than exist', async (t) => {
  t.strictSame(parseReplanTriggers([]), []);
  t.strictSame(parseReplanTriggers(['unknown-api', 'evidence-conflict']), [
    'unknown-api',
    'evidence-conflict',
  ]);
  t.doesNotThrow(() => parseReplanTriggers(new Array(5).fill('scope-creep')));
  for (const nonsense of [
    undefined,
    null,
    'scope-creep',
    {},
    [''],
    ['Scope-Creep'],
    ['boredom'],
    [['scope-creep']],
    [new String('scope-creep')],
    [{ trigger: 'scope-creep' }],
    new Array(6).fill('scope-creep'),
  ]) {
    t.throws(() => parseReplanTriggers(nonsense));
  }
});
