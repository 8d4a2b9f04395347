import t from 'tap';
import { maskPatch } from '../../../engine/record/masking.ts';
import { makeBench } from '../../workspace/patch/patched.ts';

t.test('masking some files of a patch leaves the other files unchanged', async (t) => {
  const { apply } = await makeBench({ 'a.txt': 'a\n' });
  const patch = await apply(
    ['b', 'c', 'd', 'e', 'f']
      .map((name) => `--- /dev/null\n+++ b/${name}.txt\n@@ -0,0 +1 @@\n+of ${name}\n`)
      .join(''),
  );
  const refused = new Set(patch.files.filter(({ path }) => path === 'c.txt' || path === 'e.txt'));
  const kept = maskPatch(patch, refused);
  t.match(kept, { files: 2, lines: 2 });
  const whole = Buffer.from(patch.diff).toString();
  t.equal(
    Buffer.from(kept.bytes).toString(),
    whole.replace('+of c', '+[masked: secrets]').replace('+of e', '+[masked: secrets]'),
  );
});
