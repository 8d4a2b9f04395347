import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { readCommit } from '../../api/build.ts';

const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];

t.test(
  'a program reports the commit it was built from, not the commit of the surrounding repository',
  async (t) => {
    const root = t.testdir({});
    const asked = (...parts: readonly string[]) => readCommit(pathToFileURL(`${join(root, ...parts)}/`));
    const git = (...args: readonly string[]): string =>
      spawnSync('git', ['-C', root, ...author, ...args], { encoding: 'utf8' }).stdout.trim();
    t.equal(await asked(), 'unknown', 'sources without a repository');
    git('init', '-q');
    t.equal(await asked(), 'unknown', 'nothing was committed');
    git('commit', '-q', '--allow-empty', '-m', 'one');
    const head = git('rev-parse', 'HEAD');
    t.match(head, /^[0-9a-f]{40}$/);
    t.equal(await asked(), head, 'of sources it is what is checked out');
    const installed = join(root, 'node_modules', 'writ', 'dist');
    mkdirSync(installed, { recursive: true });
    t.equal(await asked('node_modules', 'writ', 'dist'), 'unknown', 'this is the repository of its user');
    const own = 'f'.repeat(40);
    for (const [said, told] of [
      [own, own],
      [`${own}-changed`, `${own}-changed`],
      ['<b>', 'unknown'],
      [7, 'unknown'],
    ]) {
      writeFileSync(join(installed, 'build.json'), JSON.stringify({ commit: said }));
      t.equal(await asked('node_modules', 'writ', 'dist'), told);
    }
    writeFileSync(join(installed, 'build.json'), 'x');
    t.equal(await asked('node_modules', 'writ', 'dist'), 'unknown');
    rmSync(join(root, '.git'), { recursive: true });
    t.equal(await asked(), 'unknown');
  },
);
