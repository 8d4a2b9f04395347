import t from 'tap';
import { configuredFlags } from '../../../../engine/run/state/configured-model.ts';

t.test('a word that is nearly one is named in the refusal: of a backend, a key, a value', (t) => {
  const source = { settings: { thinking: ['on', 'off'] } };
  const asked = (name: string, given: Readonly<Record<string, string>>) => () =>
    configuredFlags({ providers: { [name]: given }, models: {} }, 'near', source, ['near', 'far']);
  t.strictSame(asked('near', { thinking: 'on' })(), { thinking: 'on' });
  for (const [found, meant] of [
    [asked('naer', {}), /did you mean `near`\?/],
    [asked('near', { thinkin: 'on' }), /did you mean `thinking`\?/],
    [asked('near', { thinking: 'offf' }), /did you mean `off`\?/],
  ] as const)
    t.throws(found, { code: 'CONFIG_INVALID', message: meant });
  t.end();
});
