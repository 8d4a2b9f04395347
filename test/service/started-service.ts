import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type StartedWrit, startWrit, type WritPlace } from '../bin/start-writ.ts';

/** A repository with one commit, and a home of its own. */
export interface ServedRepository extends WritPlace {
  readonly box: string;
  readonly directory: string;
  git(...args: string[]): string;
}

/** Made for one test, gone after it. */
export function makeServed(t: Test): ServedRepository {
  const box = realpathSync(mkdtempSync(join(tmpdir(), 'writ-service-')));
  t.teardown(() => rmSync(box, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const cwd = join(box, 'repo');
  mkdirSync(cwd);
  mkdirSync(join(box, 'home'));
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: join(box, 'home'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Dana',
    GIT_AUTHOR_EMAIL: 'dana@example.org',
    GIT_COMMITTER_NAME: 'Dana',
    GIT_COMMITTER_EMAIL: 'dana@example.org',
    ...(process.env.NODE_COMPILE_CACHE === undefined
      ? {}
      : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  };
  const git = (...args: string[]): string => execFileSync('git', args, { cwd, env, encoding: 'utf8' }).trim();
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'base');
  return { box, cwd, env, git, directory: join(cwd, '.writ', 'service') };
}

/** A `writ service run` that has said where it serves. */
export interface StartedService extends StartedWrit {
  readonly url: string;
  readonly token: string;
  /** Asks it with the token; a body makes it a POST of JSON. */
  ask(path: string, body?: unknown): Promise<Response>;
}

/** Starts it in `place` and waits for its address; killed after the test where it still runs. */
export async function startService(
  t: Test,
  place: WritPlace & { readonly directory: string },
  ...more: readonly string[]
): Promise<StartedService> {
  const started = startWrit(['service', 'run', ...more], place);
  t.teardown(async () => {
    started.child.kill('SIGKILL');
    await started.ended;
  });
  const address = (): string | undefined => /on (http:\S+), /.exec(started.out())?.[1];
  await started.until(() => address() !== undefined);
  const url = address() ?? '';
  const token = readFileSync(join(place.directory, 'service-token'), 'utf8');
  return {
    ...started,
    url,
    token,
    ask: (path, body) =>
      fetch(`${url}${path}`, {
        headers: { 'x-svc-service-token': token, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(10_000),
      }),
  };
}
