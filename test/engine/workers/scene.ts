/* A repository whose checks run on workers: a remote for content, a Redis of its own, and worker processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { fixtures, makeSample, type Sample } from '../sample.ts';

const program = fileURLToPath(new URL('../../../bin/writ.js', import.meta.url));
export const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

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

export interface Scene {
  readonly sample: Sample;
  readonly content: string;
  /** Kills Redis, which forgets everything, and starts it again. */
  restartRedis(): Promise<void>;
  /** Starts a worker process with a home of its own. */
  worker(name: string, options?: readonly string[], home?: string): Promise<WorkerProcess>;
  /** Commits `[workers]` and the lines of workers as policy. */
  policy(lines: readonly string[], more?: string, after?: number): void;
  /** Secrets of a run: the address of the queue. */
  readonly secrets: {
    ofScope(): Promise<Map<string, string>>;
    known(): Promise<string[]>;
    named(name: string): Promise<string | undefined>;
  };
}

export async function openScene(t: Test): Promise<Scene> {
  const box = mkdtempSync(join(tmpdir(), 'writ-workers-'));
  const sample = makeSample();
  const content = join(box, 'content.git');
  sample.git('init', '--quiet', '--bare', content);
  sample.git('remote', 'add', 'content', content);
  let redis = await startRedis(join(box, 'redis'));
  const workers: WorkerProcess[] = [];
  t.teardown(async () => {
    for (const worker of workers) await worker.stop('SIGKILL');
    await redis.stop('SIGKILL');
    sample.remove();
    rmSync(box, { recursive: true, force: true });
  });
  return {
    sample,
    content,
    async restartRedis() {
      await redis.stop('SIGKILL');
      redis = await startRedis(join(box, 'redis'));
    },
    async worker(name, options = [], home = join(box, name)) {
      mkdirSync(home, { recursive: true });
      const args = [
        'worker',
        '--content',
        content,
        '--name',
        name,
        '--home',
        join(home, 'state'),
        ...options,
      ];
      const env = { ...sample.env, HOME: home, WRIT_QUEUE_URL: redis.socket };
      const child = spawn(process.execPath, [program, ...args], {
        env,
        cwd: home,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk: Buffer) => {
          printed += chunk.toString();
        });
      const begun = await said(child, 'waits for jobs');
      const line = /as: (.+)/.exec(begun)?.[1] ?? '';
      const worker: WorkerProcess = {
        child,
        home,
        line,
        printed: () => printed,
        async stop(signal = 'SIGTERM') {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, 'exit');
          child.kill(signal);
          if (signal === 'SIGKILL') child.kill('SIGCONT');
          await ended;
        },
      };
      workers.push(worker);
      return worker;
    },
    policy(lines, more = '', after = 20) {
      mkdirSync(join(sample.root, '.writ'), { recursive: true });
      writeFileSync(
        join(sample.root, '.writ', 'config.toml'),
        `[workers]\nqueue = "redis"\ncontent = "content"\nafter = ${after}\n${more}`,
      );
      writeFileSync(join(sample.root, '.writ', 'workers'), `${lines.join('\n')}\n`);
      sample.git('add', '-f', '.writ/config.toml', '.writ/workers');
      sample.git('commit', '-qm', 'Workers');
    },
    secrets: {
      ofScope: async () => new Map(),
      known: async () => [],
      named: async (name) => (name === 'WRIT_QUEUE_URL' ? redis.socket : undefined),
    },
  };
}
