import t from 'tap';
import { fromWire, toWire } from '../../../../plugins/third-party/rule/outside/wire.ts';
import { toRuleInput } from '../../../../testing.ts';

t.test('rule input crosses the process boundary byte for byte', async (t) => {
  const bytes = Uint8Array.from({ length: 256 }, (_, octet) => octet);
  const input = {
    ...toRuleInput({ name: 'octets', files: { a: { base: 'x\n', candidate: bytes } } }),
    artifactBytes: { '00': bytes },
    standing: { 'src/a.ts': bytes },
  };
  const there = fromWire(toWire(input));
  t.strictSame(Buffer.from(there.standing?.['src/a.ts'] ?? []), Buffer.from(bytes));
  t.strictSame(Buffer.from(there.artifactBytes?.['00'] ?? []), Buffer.from(bytes));
  t.strictSame(Buffer.from(there.files.a?.candidate ?? []), Buffer.from(bytes));
  t.strictSame(Buffer.from(there.patch.diff), Buffer.from(input.patch.diff));
  t.strictSame(there.spec, input.spec);
});
