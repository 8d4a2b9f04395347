import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { applyCarried } from '../../../engine/evaluate/carry-store.ts';

t.test('a carried path is copied only below real directories, not through a symlink or a file', async (t) => {
  const dir = realpathSync(
    t.testdir({ workspace: { a: { b: { 'c.txt': 'kept' } }, file: 'x' }, outside: { b: 'secret' } }),
  );
  const workspace = join(dir, 'workspace');
  symlinkSync(join(dir, 'outside'), join(workspace, 'out'));
  symlinkSync('a', join(workspace, 'in'));
  mkdirSync(join(dir, 'into'));
  const taken = (path: string) => applyCarried(workspace, path, join(dir, 'into'));
  t.notMatch(await taken('a/b'), { fault: String });
  t.equal(readFileSync(join(dir, 'into', 'a/b/c.txt'), 'utf8'), 'kept');
  for (const path of ['out/b', 'in/b', 'file/b'])
    t.strictSame(await taken(path), { fault: `\`${path.slice(0, -2)}\` is not a directory` });
  t.equal(await taken('none/b'), 'absent');
  t.notOk(existsSync(join(dir, 'into', 'out')));
});
