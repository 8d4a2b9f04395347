import t from 'tap';
import { parseProviderCases } from '../../../bin/plugin/parse-provider-cases.ts';

const sound = { name: 'a', lines: [{ text: 'x' }], expect: { text: 'x' } };

t.test('a fault in the cases of a provider is told with its case and member', async (t) => {
  t.strictSame(parseProviderCases([sound]), [sound]);
  for (const [change, found] of [
    [{ text: 'two' }, /got lines and text/],
    [{ status: 99 }, /`status` to be a number from 200 to 599, got `99`/],
    [{ status: '200' }, /`status` to be a number .* got string/],
    [{ expect: { end: 'over' } }, /`expect`: expected `end` to be one of stop, calls/],
    [{ expect: { failure: { kind: 'busy' } } }, /`failure`: expected `kind` to be one of key-refused/],
    [{ expect: { usage: { input: 1, output: '2' } } }, /`usage`: expected `output` to count from 0/],
    [{ wire: { paht: '/' } }, /the unknown field `paht`/],
  ] as const) {
    t.throws(() => parseProviderCases([{ ...sound, ...change }]), { message: found });
    t.throws(() => parseProviderCases([{ ...sound, ...change }]), { message: /^case `a`: / });
  }
  const { lines: _, ...bodiless } = sound;
  t.throws(() => parseProviderCases([{ ...bodiless, events: 'x' }]), /`events`: expected a list, got string/);
  t.throws(() => parseProviderCases([bodiless]), /expected one body .* got none/);
  t.throws(() => parseProviderCases([sound, sound]), /case `a`: expected a `name` of its own/);
});
