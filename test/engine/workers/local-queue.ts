/* A Redis and worker processes on this machine, for tests and for `npm run demo:workers` and `demo:scale`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { writProgram } from '../../starter/program.ts';

export { writProgram as program };

const isOnPath = (name: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));
/** Why tests with a real Redis are skipped; false where one is installed. */
export const noRedis = isOnPath('redis-server') ? false : 'redis-server is not installed';

export interface Redis {
  readonly socket: string;
  readonly child: ChildProcess;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** A Redis on a socket in `directory`; with `durable` it survives a kill with its messages. */
export async function startRedis(directory: string, durable = false): Promise<Redis> {
  mkdirSync(directory, { recursive: true });
  const socket = join(directory, 'redis.sock');
  const own = ['--port', '0', '--unixsocket', socket, '--dir', directory, '--save', ''];
  const child = spawn('redis-server', [...own, '--appendonly', durable ? 'yes' : 'no'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await said(child, 'eady to accept connections');
  return {
    socket,
    child,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}

/** Resolves when the process has printed a text, with all that it printed so far. */
export async function said(child: ChildProcess, text: string): Promise<string> {
  let all = '';
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      all += chunk.toString();
      if (all.includes(text)) resolve(all);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) =>
      reject(new Error(`it ended with ${code} before it said \`${text}\`: ${all}`)),
    );
  });
}

export interface WorkerProcess {
  readonly child: ChildProcess;
  readonly home: string;
  /** Its line of `.writ/workers`. */
  readonly line: string;
  /** All that it printed. */
  printed(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a worker with its state below `home`. */
export async function startWorker(
  name: string,
  {
    content,
    queue,
    home,
    env = process.env,
    options = [],
  }: {
    readonly content: string;
    readonly queue: string;
    readonly home: string;
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly options?: readonly string[];
  },
): Promise<WorkerProcess> {
  mkdirSync(home, { recursive: true });
  const own = ['--content', content, '--name', name, '--home', join(home, 'state')];
  const child = spawn(process.execPath, [writProgram, 'worker', ...own, ...options], {
    env: { ...env, HOME: home, WRIT_QUEUE_URL: queue },
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const begun = await said(child, 'waits for jobs');
  return {
    child,
    home,
    line: /as: (.+)/.exec(begun)?.[1] ?? '',
    printed: () => printed,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      if (signal === 'SIGKILL') child.kill('SIGCONT');
      await ended;
    },
  };
}
