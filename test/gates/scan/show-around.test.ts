import t from 'tap';
import { showAround } from '../../../gates/scan/scan-pieces.ts';
import { type GateCase, toRuleInput } from '../../../testing.ts';

const rules = [{ id: 'secrets', findsSecrets: true }, { id: 'sast' }];
const one: GateCase = {
  name: 'x',
  files: {
    'a.ts': { base: 'one\ntwo\nthree\nfour\n', candidate: 'one\ntwo\nnew secret rest\nthree\nfour\n' },
  },
};

t.test('shows the lines around a finding, but masks a secret and what follows it', (t) => {
  const { patch } = toRuleInput(one);
  const found = { severity: 'error', message: 'm', path: 'a.ts', line: 3 } as const;
  const show = (rule: string, more: object = {}) =>
    showAround([{ rule, ...found, ...more }], patch.diff, patch.files, rules)[0]?.around;
  const context = (line: number, text: string) => ({ line, text, added: false });
  const added = { line: 3, text: 'new secret rest', added: true };
  t.strictSame(show('sast'), [
    context(1, 'one'),
    context(2, 'two'),
    added,
    context(4, 'three'),
    context(5, 'four'),
  ]);
  t.strictSame(show('secrets', { column: 5 }), [{ line: 3, text: 'new […]', added: true }]);
  t.strictSame(show('sast', { line: 90 }), undefined, 'a line that is not in the diff');
  t.end();
});

t.test('leaves a finding without a place in the diff unchanged', (t) => {
  const { patch } = toRuleInput(one);
  const findings = [
    { rule: 'sast', severity: 'error', message: 'm', path: 'other.ts', line: 3 },
    { rule: 'sast', severity: 'error', message: 'm', path: 'a.ts' },
    { rule: 'sast', severity: 'error', message: 'm' },
  ] as const;
  t.strictSame(showAround(findings, patch.diff, patch.files, rules), findings);
  t.end();
});
