import t from 'tap';
import { inventedSecrets } from './invented-secrets.ts';

t.test('short texts give the same matches before and after the search is prepared', async (t) => {
  const { findSecrets } = await import('../../../../readers/sensitive/secrets/find-secrets.ts');
  const { plainBytes } = await import('../../../../readers/sensitive/secrets/secret-places.ts');
  const texts = inventedSecrets.map(
    ([, value]) => `${value} = "${value}"; "${value.slice(0, 9)}" + "${value.slice(9)}"`,
  );
  const few: typeof texts = [];
  for (let bytes = 0; bytes + (texts[few.length]?.length ?? Number.POSITIVE_INFINITY) < 16_000; )
    bytes += few[few.push(texts[few.length] ?? '') - 1]?.length ?? 0;
  const found = () => few.map((text) => findSecrets(Buffer.from(text, 'latin1')));
  const first = found();
  t.ok(few.length > 10 && first.every((matches) => matches.length > 0));
  findSecrets(Buffer.alloc(plainBytes, ' '));
  t.strictSame(found(), first);
});
