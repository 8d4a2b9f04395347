import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { pathsAround } from '../../../bin/code/agent-at.ts';
import { makeSample } from '../../engine/sample.ts';

t.test('path completion offers tracked and new files, but none that git ignores', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const write = (path: string): void => writeFileSync(join(sample.root, path), 'x');
  write('.gitignore');
  writeFileSync(join(sample.root, '.gitignore'), '*.key\n');
  for (const path of ['値段 表.md', 'new one.md', 'own.key']) write(path);
  const ask = pathsAround(join(sample.root, 'src'));
  t.strictSame(await ask('src/p'), ['src/price.js'], 'tracked');
  t.strictSame(await ask('NEW'), ['new one.md']);
  t.strictSame(await ask('値'), ['値段 表.md']);
  t.strictSame(await ask('key'), [], 'ignored');
  t.strictSame(await ask('../'), [], 'nothing around the repository');
  const [all, some] = await Promise.all([ask(''), ask('prtest')]);
  t.ok(all.includes('src/price.js'));
  t.strictSame(some, ['test/price.test.js'], 'letters in their order');

  mkdirSync(join(sample.root, 'later'));
  write('later/made.md');
  t.strictSame(await ask('later'), ['later/made.md'], 'it is listed anew');
  rmSync(join(sample.root, 'later'), { recursive: true });
  t.strictSame(await ask('later'), []);
});
