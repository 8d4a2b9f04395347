import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryDirectory } from '../../rooms/temporary-directory.ts';

/** A repository of somebody's, made with real git, whose settings are nobody's but its own. */
export function personRepository() {
  const home = makeTemporaryDirectory();
  const root = join(home, 'repo');
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', root, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
  mkdirSync(root);
  git('init', '--quiet', '--initial-branch=main', '--template=');
  git('config', 'user.name', 'Person');
  git('config', 'user.email', 'person@example.org');
  write('a.txt', 'one\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  write('a.txt', 'two\n');
  git('commit', '--quiet', '-a', '-m', 'second');
  return { home, root, env, git, write };
}

export type PersonRepository = ReturnType<typeof personRepository>;

const hooks = [
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'post-checkout',
  'post-index-change',
  'reference-transaction',
  'fsmonitor-watchman',
  'pre-auto-gc',
  'post-rewrite',
];

/** Names a program wherever git takes one, here and in a submodule; answers whether one has run. */
export function armRepository({ home, root, env, git, write }: PersonRepository): { hasRun: () => boolean } {
  const mark = join(home, 'ran');
  const program = join(home, 'program');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat 2>/dev/null\n`);
  chmodSync(program, 0o755);
  write('.gitattributes', '*.dat diff=x filter=x merge=x\n*.txt diff=x\n');
  write('b.dat', 'data\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'third');
  git('branch', 'topic', 'HEAD~1');
  git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', root, 'sub');
  git('commit', '--quiet', '-m', 'fourth');
  const arm = (directory: string): void => {
    const set = (key: string, value: string): void =>
      void execFileSync('git', ['-C', directory, 'config', key, value], { env });
    for (const key of [
      'diff.external',
      'diff.x.textconv',
      'diff.x.command',
      'filter.x.clean',
      'filter.x.smudge',
      'filter.x.process',
      'merge.x.driver',
      'core.pager',
      'pager.log',
      'pager.diff',
      'pager.status',
      'pager.branch',
      'pager.show',
      'core.fsmonitor',
      'core.editor',
      'sequence.editor',
      'gpg.program',
      'gpg.ssh.program',
      'gpg.x509.program',
      'core.sshCommand',
      'core.askPass',
      'core.alternateRefsCommand',
      'credential.helper',
      'trailer.x.command',
      'interactive.diffFilter',
      'uploadpack.packObjectsHook',
    ])
      set(key, program);
    for (const name of ['status', 'log', 'diff', 'show', 'branch', 'add', 'commit', 'switch', 'ls-files'])
      set(`alias.${name}`, `!${program}`);
    for (const [key, value] of [
      ['commit.gpgSign', 'true'],
      ['log.showSignature', 'true'],
      ['submodule.recurse', 'true'],
      ['diff.submodule', 'log'],
      ['status.submoduleSummary', 'true'],
      ['gc.auto', '1'],
      ['filter.x.required', 'true'],
      ['color.ui', 'always'],
    ] as const)
      set(key, value);
    const place = execFileSync('git', ['-C', directory, 'rev-parse', '--absolute-git-dir'], { env });
    const into = join(place.toString().trim(), 'hooks');
    mkdirSync(into, { recursive: true });
    for (const name of hooks) {
      writeFileSync(join(into, name), `#!/bin/sh\necho "${name}" >> '${mark}'\n`);
      chmodSync(join(into, name), 0o755);
    }
    set('core.hooksPath', into);
  };
  arm(join(root, 'sub'));
  writeFileSync(join(root, 'sub/a.txt'), 'changed inside\n');
  arm(root);
  return { hasRun: () => existsSync(mark) };
}
