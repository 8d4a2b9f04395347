import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const launcher = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));

t.test('compiled code for use inside a repository is cached separately', async (t) => {
  const root = t.testdir({
    bin: {},
    home: {},
    dist: { bin: { 'verify-alone.cjs': 'exports.main = () => {};' } },
    'package.json': '{"type":"module"}',
  });
  cpSync(launcher, join(root, 'bin', 'writ.js'));
  const home = join(root, 'home');
  const around = mkdtempSync(join(tmpdir(), 'writ-kept-'));
  t.teardown(() => rmSync(around, { recursive: true }));
  const cwd = join(around, 'below');
  mkdirSync(cwd);
  const keptAfterStart = (): number => {
    execFileSync(process.execPath, [join(root, 'bin', 'writ.js'), 'verify'], { cwd, env: { HOME: home } });
    const names = readdirSync(join(home, '.cache', 'writ', 'compiled'));
    return names.filter((name) => name.startsWith('alone-')).length;
  };
  t.equal(keptAfterStart(), 1);
  t.equal(keptAfterStart(), 1);
  mkdirSync(join(around, '.git'));
  t.equal(keptAfterStart(), 2);
  t.equal(keptAfterStart(), 2);
});
