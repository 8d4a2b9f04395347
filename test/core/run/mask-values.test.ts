import t from 'tap';
import { maskValues } from '../../../core/run/mask-values.ts';
import { secretValues } from '../../../core/run/secret-values.ts';
import { makeBench } from '../patch/patched.ts';

const value = 'Zq8vXw3Lm5Rt9KpY2nHd';

t.test('a value is masked in base64 wherever in the text it stands', (t) => {
  for (const before of ['', 'a', 'ab', 'abc', 'user:']) {
    for (const after of ['', 'z', 'zz', 'zzz']) {
      for (const coding of ['base64', 'base64url'] as const) {
        const coded = Buffer.from(before + value + after).toString(coding);
        const kept = Buffer.from(
          maskValues(Buffer.from(`+x = '${coded}';`), [Buffer.from(value)]),
        ).toString();
        t.match(kept, /\[masked: secrets\]/, coded);
        const rest = kept.replace('[masked: secrets]', '');
        t.notOk(coded.slice(4, -8).length > 8 && rest.includes(coded.slice(8, 20)), kept);
      }
    }
  }
  t.end();
});

t.test('honest text stays', (t) => {
  const text = Buffer.from(Buffer.from('nothing of it stands here, however long it is').toString('base64'));
  t.same(maskValues(text, [Buffer.from(value)]), text);
  t.end();
});

t.test('passwords that only the name of their file tells are values too', async (t) => {
  const bench = await makeBench({ 'a.txt': 'a\n' });
  const patch = await bench.apply(
    `diff --git a/.pgpass b/.pgpass\nnew file mode 100600\n--- /dev/null\n+++ b/.pgpass\n@@ -0,0 +1 @@\n+db:5432:app:ana:${value}\n`,
  );
  t.same(secretValues(patch, patch.files).map(String), [value]);
});
