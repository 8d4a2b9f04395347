import { execFileSync } from 'node:child_process';
import { buildRepository, demoFiles } from '../../../bin/demo/people.ts';

/** `fixtures/demo/`. */
export const demoFixture = demoFiles;

/** Environment in which git reads nobody's configuration. */
export const gitEnv: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** Runs git; answers its output without the last newline. */
export function git(cwd: string, ...args: string[]): string {
  const env = { ...gitEnv };
  return execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).replace(
    /\n$/,
    '',
  );
}

/** The repository that `writ demo` makes: branch `main`, two commits, clean. */
export async function buildDemoRepository(directory: string): Promise<void> {
  await buildRepository(directory, gitEnv);
}
