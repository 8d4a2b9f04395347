import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launcherOptions, writProgram as writ } from '../../starter/program.ts';

/** A repository that is served, and the environment that its services get. */
export interface KillPlace {
  readonly box: string;
  readonly repo: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How a `writ service run` came out: it serves, or it has ended. */
export type Outcome =
  | { readonly serves: true; readonly url: string; readonly token: string; readonly ms: number }
  | { readonly serves: false; readonly ms: number };

/** One `writ` process. */
export interface Instance {
  readonly pid: number;
  readonly startedAt: number;
  readonly outcome: Promise<Outcome>;
  /** Its exit code; a signal's name where one ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly isOver: () => boolean;
  readonly err: () => string;
  kill(signal: 'SIGKILL' | 'SIGTERM'): void;
}

const patienceMs = 240_000;

/** Starts the real command line program. */
export function startInstance(place: KillPlace, ...args: readonly string[]): Instance {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...launcherOptions, writ, ...args], {
    cwd: place.repo,
    env: place.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  let isOver = false;
  const outcome = Promise.withResolvers<Outcome>();
  const ended = Promise.withResolvers<number | NodeJS.Signals>();
  const hung = setTimeout(() => {
    child.kill('SIGKILL');
    outcome.reject(new Error(`\`writ ${args.join(' ')}\` neither serves nor ends: ${err}`));
  }, patienceMs);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    const url = / on (http:[^ ,]+), /.exec(out)?.[1];
    if (url === undefined) return;
    clearTimeout(hung);
    // Between its word and our look it may have been told to stop.
    const token = readToken(place);
    outcome.resolve({ serves: true, url, token, ms: performance.now() - startedAt });
  });
  // Not `exit`: what it said last is still to be read.
  child.on('close', (code, signal) => {
    isOver = true;
    clearTimeout(hung);
    ended.resolve(code ?? signal ?? -1);
    outcome.resolve({ serves: false, ms: performance.now() - startedAt });
  });
  outcome.promise.catch(() => {});
  return {
    pid: child.pid ?? 0,
    startedAt,
    outcome: outcome.promise,
    ended: ended.promise,
    isOver: () => isOver,
    err: () => err,
    kill: (signal) => void child.kill(signal),
  };
}

function readToken({ directory }: KillPlace): string {
  try {
    return readFileSync(join(directory, 'service-token'), 'utf8');
  } catch {
    return '';
  }
}
