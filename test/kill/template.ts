import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtures, sampleSpec } from '../engine/sample.ts';

/** A repository, a contract with checks in several stages, and a patch that passes them. */
export interface Template {
  readonly root: string;
  readonly repo: string;
  readonly spec: string;
  readonly patch: string;
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
}

const check = (id: string, command: string, produced: readonly string[] = []) => ({
  id,
  kind: 'command',
  command,
  timeoutSeconds: 60,
  required: true,
  artifactsProduced: [...produced],
});

/** Makes it at `root`. Copies of `repo` are independent of it. */
export function makeTemplate(root: string): Template {
  const [repo, home] = [join(root, 'repo'), join(root, 'home')];
  mkdirSync(home, { recursive: true });
  cpSync(join(fixtures, '_sample'), repo, { recursive: true });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: repo, env, encoding: 'utf8' }).trim();
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Sample maintainer');
  git('config', 'user.email', 'maintainer@sample.example');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'Sample');
  const spec = join(root, 'intent.json');
  writeFileSync(
    spec,
    sampleSpec({
      acceptance: {
        verificationPlan: {
          integrationChecks: [
            check('whole', 'node --test --test-isolation=none --test-reporter=tap'),
            check('there', 'test -d src'),
          ],
          releaseChecks: [check('last', 'echo ready')],
        },
      },
    }),
  );
  const patch = join(root, 'change.diff');
  cpSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'), patch);
  return { root, repo, spec, patch, base: git('rev-parse', 'HEAD'), env };
}
