/* A repository whose checks run on workers: a remote for content, a Redis of its own, and worker processes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { fixtures, makeSample, type Sample } from '../sample.ts';
import { noRedis, startRedis, startWorker, type WorkerProcess } from './local-queue.ts';

export { noRedis };

export const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

export interface Scene {
  readonly sample: Sample;
  readonly content: string;
  stopRedis(): Promise<void>;
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

export async function openScene(t: Test, sample = makeSample()): Promise<Scene> {
  const box = mkdtempSync(join(tmpdir(), 'writ-workers-'));
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
    stopRedis: () => redis.stop('SIGKILL'),
    async restartRedis() {
      await redis.stop('SIGKILL');
      redis = await startRedis(join(box, 'redis'));
    },
    async worker(name, options = [], home = join(box, name)) {
      const worker = await startWorker(name, {
        content,
        queue: redis.socket,
        home,
        env: sample.env,
        options,
      });
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
