import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { makeKey, publicOf } from '../../attest/approval/ssh-tools.ts';
import { writProgram } from '../../starter/program.ts';
import { outputOf } from '../../starter/run-program.ts';
import { type Forge, startForge } from './forge-server.ts';

/** People of a policy: one of them has to approve each change. */
export const policy = `
[[checks.always]]
id = "people"
stage = "release"
kind = "policy"
command = "require-approvers --min 1"
`;

const files: Readonly<Record<string, string>> = {
  'package.json': '{"name":"p","version":"1.0.0","type":"module","scripts":{"test":"node --test"}}\n',
  'src/sum.js': 'export const sum = (a, b) => a + b;\n',
  'test/sum.test.js': `import assert from 'node:assert';
import test from 'node:test';
import { sum } from '../src/sum.js';
test('sum', () => assert.equal(sum(1, 2), 3));
`,
};

/** A bare repository with a pull request, people with a clone and a home each, programs in the place of others. */
export interface CiScene {
  readonly directory: string;
  readonly origin: string;
  readonly forge: Forge;
  /** Environment of programs: stand-ins for npm, sudo and gh are first on PATH. */
  readonly env: Readonly<Record<string, string>>;
  /** What the stand-ins were called with, a line each. */
  readonly called: () => string;
  readonly originGit: (...args: readonly string[]) => string;
  /** A clone with a home of its own. */
  person(name: string): { readonly clone: string; readonly env: Readonly<Record<string, string>> };
  readonly approverKey: string;
  /** Pushes a change as pull request 12, and gives its last commit. */
  propose(change: Readonly<Record<string, string>>, message?: string): string;
}

export async function makeCiScene(
  t: Test,
  { waits = true, config }: { readonly waits?: boolean; readonly config?: string } = {},
): Promise<CiScene> {
  const directory = t.testdir();
  const [origin, bin, log] = ['origin.git', 'bin', 'called'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(bin);
  writeFileSync(log, '');
  const standIn = (name: string, body: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> '${log}'\n${body}`);
    chmodSync(join(bin, name), 0o755);
  };
  // It brings the program of this working tree wherever it is told to install.
  const install = `mkdir -p "$3/node_modules/.bin" && ln -s '${writProgram}' "$3/node_modules/.bin/writ"\n`;
  standIn('npm', `if [ "$1" = install ]; then ${install}fi\n`);
  standIn('sudo', '');
  standIn('gh', '');
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(directory, 'compiled'),
  };
  const git = (cwd: string, own: Readonly<Record<string, string>>, args: readonly string[]): string =>
    outputOf('git', args, { cwd, env: own }).toString().trim();
  const person: CiScene['person'] = (name) => {
    const [home, clone] = [join(directory, `${name}-home`), join(directory, name)];
    mkdirSync(home);
    const own = { ...env, HOME: home };
    git(directory, own, ['config', '--global', 'user.name', name]);
    git(directory, own, ['config', '--global', 'user.email', `${name}@example.org`]);
    git(directory, own, ['clone', '-q', origin, clone]);
    return { clone, env: own };
  };
  git(directory, { ...env, HOME: directory }, ['init', '-q', '--bare', '-b', 'main', origin]);
  const dev = person('dev');
  const approverKey = makeKey(directory, 'approver');
  const write = (all: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(dev.clone, path)), { recursive: true });
      writeFileSync(join(dev.clone, path), text);
    }
  };
  const own = (...args: readonly string[]): string => git(dev.clone, dev.env, args);
  const people = `rev@example.org namespaces="writ-approval@v1" ${publicOf(approverKey)}\n`;
  write({ ...files, '.writ/config.toml': config ?? (waits ? policy : ''), '.writ/allowed_signers': people });
  own('checkout', '-q', '-b', 'main');
  own('add', '-A');
  own('commit', '-qm', 'base');
  own('push', '-q', 'origin', 'main');
  const forge = await startForge();
  t.teardown(() => forge[Symbol.asyncDispose]());
  symlinkSync(writProgram, join(bin, 'writ'));
  return {
    directory,
    origin,
    forge,
    env,
    called: () => readFileSync(log, 'utf8'),
    originGit: (...args) => git(origin, { ...env, HOME: directory }, args),
    person,
    approverKey,
    propose(change, message = 'feat: product') {
      own('checkout', '-q', '-B', 'change', 'main');
      write(change);
      own('add', '-A');
      own('commit', '-qm', message);
      own('push', '-q', '--force', 'origin', 'change:refs/pull/12/head');
      const sha = own('rev-parse', 'HEAD');
      forge.pulls.set(12, {
        number: 12,
        title: 'Add product',
        state: 'open',
        head: { sha, repo: { full_name: 'o/r' } },
        base: { ref: 'main', repo: { full_name: 'o/r' } },
      });
      return sha;
    },
  };
}
