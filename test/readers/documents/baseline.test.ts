import t from 'tap';
import type { Finding } from '../../../core/interfaces/finding.ts';
import { formatBaseline, identify, parseBaseline } from '../../../readers/documents/baseline.ts';

const sha256 = 'a'.repeat(64);
const known = { rule: 'r', path: 'a.js', about: 'eval', sha256, count: 2 };

t.test('a baseline is read as it was written', async (t) => {
  for (const findings of [[], [known], [known, { rule: 'r', path: 'b', about: 'x', count: 1 }]])
    t.strictSame(parseBaseline(Buffer.from(formatBaseline(findings))), findings);
});

t.test('refuses a baseline of another form', async (t) => {
  const one = JSON.stringify(known);
  for (const text of [
    '',
    '[]',
    '{"version": "2", "findings": []}',
    '{"version": "1", "findings": [], "more": 1}',
    '{"version": "1", "version": "1", "findings": []}',
    `{"version": "1", "findings": [${one.replace('"count":2', '"count":0')}]}`,
    `{"version": "1", "findings": [${one.replace('"count":2', '"count":1.5')}]}`,
    `{"version": "1", "findings": [${one.replace(sha256, 'abc')}]}`,
    `{"version": "1", "findings": [${one.replace('"path":"a.js",', '')}]}`,
    `{"version": "1", "findings": [${Array.from({ length: 10_001 }, () => one).join(',')}]}`,
    `{"version": "1", "findings": []}${' '.repeat(4 * 1024 * 1024)}`,
  ])
    t.throws(() => parseBaseline(Buffer.from(text)), { code: 'BASELINE_INVALID' }, text.slice(0, 80));
});

t.test('a finding is identified by what it is about and by its lines', async (t) => {
  const rule = {
    id: 'r',
    baseline: {
      isOfLines: true,
      about: ({ call }: { call?: unknown }) => (typeof call === 'string' ? call : undefined),
    },
  };
  const at = (text: string, over: Partial<Finding> = {}) =>
    identify(
      rule,
      { rule: 'r', severity: 'error', message: '', path: 'a.js', line: 2, detail: { call: 'eval' }, ...over },
      () => text,
    );
  const first = at('x\n  eval(a)\n');
  t.match(first, { rule: 'r', path: 'a.js', about: 'eval', sha256: /^[0-9a-f]{64}$/ });
  t.strictSame(at('y\n\teval(a) \r\n'), first, 'blanks at its ends');
  t.strictSame(at('\n\n\neval(a)', { line: 4 }), first, 'another line');
  t.notSame(at('x\n  eval(b)\n'), first);
  t.notSame(at('x\n  eval(a)\n', { detail: { call: 'eval', lines: 2 } }), first, 'all of its lines');
  for (const over of [{ severity: 'warning' }, { rule: 'other' }, { line: 9 }, { detail: {} }] as const)
    t.equal(at('x\neval(a)', over), undefined);
  t.equal(
    identify({ id: 'r' }, { rule: 'r', severity: 'error', message: '', path: 'a' }, () => ''),
    undefined,
  );
});
