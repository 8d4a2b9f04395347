import t from 'tap';
import { configuredFlags } from '../../../engine/state/open-model.ts';

t.test('a refusal suggests the nearest backend, key or value for a misspelled one', (t) => {
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
