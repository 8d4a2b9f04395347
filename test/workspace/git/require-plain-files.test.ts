import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { openRepository, requirePlainFiles } from '../../../workspace/git/repository.ts';

const names = [
  'packed-refs',
  'shallow',
  'info/grafts',
  'objects/info/alternates',
  'objects/info/commit-graph',
  'objects/pack/multi-pack-index',
];

t.test('a pipe or device in place of a file that git reads is refused', async (t) => {
  const gitDir = t.testdir({});
  for (const name of names) {
    const path = join(gitDir, name);
    mkdirSync(dirname(path), { recursive: true });
    for (const [what, make] of [
      ['a pipe', () => execFileSync('mkfifo', [path])],
      ['a device', () => symlinkSync('/dev/zero', path)],
    ] as const) {
      make();
      const refused = { code: 'GIT_FAILED', detail: { path: name } };
      t.throws(() => requirePlainFiles(gitDir), refused, `${name} as ${what}`);
      rmSync(path);
    }
  }
});

t.test('regular files, symlinks to files, dangling symlinks and missing files are accepted', async (t) => {
  const gitDir = t.testdir({ file: 'x' });
  t.doesNotThrow(() => requirePlainFiles(gitDir), 'nothing');
  for (const name of names) {
    const path = join(gitDir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
    t.doesNotThrow(() => requirePlainFiles(gitDir), name);
    rmSync(path);
    symlinkSync(join(gitDir, 'file'), path);
    t.doesNotThrow(() => requirePlainFiles(gitDir), `${name} by a link`);
    rmSync(path);
    symlinkSync(join(gitDir, 'none'), path);
    t.doesNotThrow(() => requirePlainFiles(gitDir), `${name} by a link to nothing`);
    rmSync(path);
  }
});

t.test('a repository with a pipe in place of a git file is refused', async (t) => {
  const root = join(t.testdir({}), 'repo');
  const git = (...args: string[]) => execFileSync('git', ['-c', 'init.defaultBranch=main', ...args]);
  git('init', '-q', root);
  t.ok(await openRepository(root));
  execFileSync('mkfifo', [join(root, '.git/objects/info/alternates')]);
  await t.rejects(openRepository(root), { code: 'GIT_FAILED' });
});
