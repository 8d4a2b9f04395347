/*
 * `npm run bench:workers`: checks on one and two worker processes against bare sandboxes of the same number, and the
 * cost of the queue. Ratios of one run; exit 1 where one is missed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { readWorkers } from '../attest/statement/job-result.ts';
import { systemClock } from '../core/base/clock.ts';
import { openContent } from '../plugins/workers/content.ts';
import { openDispatcher } from '../plugins/workers/dispatch.ts';
import { describePlatform, type Job } from '../plugins/workers/job.ts';
import { endsWithin, listenToQueue, openQueue, type QueueNews } from '../plugins/workers/queue.ts';
import { makeSample } from '../test/engine/sample.ts';
import { noRedis, startRedis, startWorker } from '../test/engine/workers/local-queue.ts';
import { openRepository } from '../workspace/git/repository.ts';
import { createScratch } from '../workspace/git/scratch.ts';
import { pickSandbox } from '../workspace/process/version-control.ts';
import { figure, median, printTable } from './measure.ts';
import { sized } from './sized.ts';

if (noRedis) {
  process.stdout.write(`left out: ${noRedis}\n`);
  process.exit(0);
}
const box = mkdtempSync(join(tmpdir(), 'writ-bench-workers-'));
const sample = makeSample();
const redis = await startRedis(join(box, 'redis'));
const held: boolean[] = [];
try {
  held.push(await queueCost(), await rebased(), ...(await throughput()));
  printTable();
} finally {
  await redis.stop();
  sample.remove();
  rmSync(box, { recursive: true, force: true });
}
process.exit(held.every(Boolean) ? 0 : 1);

/** From adding a message to hearing that it ended, with a worker that does nothing. */
async function queueCost(): Promise<boolean> {
  const ended = new Map<string, () => void>();
  const queue = await openQueue(redis.socket, (action, news) => {
    if (news === 'ended') ended.get(action)?.();
  });
  const listener = await listenToQueue(
    redis.socket,
    1,
    async () => {},
    () => {},
  );
  const times: number[] = [];
  for (let at = 0; at < sized(200, 5); at += 1) {
    const action = at.toString(16).padStart(64, '0');
    const begun = performance.now();
    const heard = new Promise<void>((done) => ended.set(action, done));
    await queue.add({ action, fence: 1 });
    // The first ones may end before events are heard.
    if (await endsWithin(2000, heard)) times.push(performance.now() - begun);
  }
  await listener.close();
  await queue.close();
  return figure('queue cost of a check', median(times), 5, 'ms', `median of ${times.length}`);
}

/** Checks of commits that were evaluated on one base, and again on another: how many are reused. */
async function rebased(): Promise<boolean> {
  const place = makeSample();
  const commit = (path: string, text: string): string => {
    mkdirSync(join(place.root, path, '..'), { recursive: true });
    writeFileSync(join(place.root, path), text);
    place.git('add', '-f', path);
    place.git('commit', '-qm', `Change ${path}`);
    return place.git('rev-parse', 'HEAD');
  };
  commit('.writ/config.toml', '[verdicts]\nreuse = "own"\nsample_percent = 0\n');
  const count = sized(20, 1);
  const names = Array.from({ length: count }, (_, at) => `src/part-${at}.js`);
  for (const name of names) commit(name, 'export const part = 0;\n');
  const bases = [place.git('rev-parse', 'HEAD'), commit('docs/notes.md', 'Other notes.\n')];
  const commands = [
    'node src/price.js',
    'node --check src/price.js',
    'cat docs/notes.md',
    'node --test --test-isolation=none',
  ];
  const checks = commands.map((command, at) => ({
    ...{
      id: `check-${at}`,
      kind: 'command',
      command,
      timeoutSeconds: 60,
      required: true,
      artifactsProduced: at === 3 ? ['test-log'] : [],
    },
  }));
  const spec = {
    intent: { changeType: 'chore' },
    acceptance: { verificationPlan: { fastChecks: checks } },
    artifacts: {
      required: ['patchset', 'test-log'].map((name) => ({ name, stage: 'per-task', required: true })),
    },
  };
  let [ran, reused] = [0, 0];
  for (const base of bases)
    for (const name of names) {
      place.git('reset', '-q', '--hard', base);
      const bytes = Buffer.from(
        `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-export const part = 0;\n+export const part = 1;\n`,
      );
      const view = await place.run({ source: { kind: 'patch', bytes } }, spec);
      if (base === bases[0]) continue;
      for (const { ranOn } of view.stages[0]?.checks ?? []) {
        ran += 1;
        if (ranOn && 'action' in ranOn && ranOn.reused) reused += 1;
      }
    }
  place.remove();
  const share = (100 * (ran - reused)) / Math.max(1, ran);
  return figure(
    'checks of rebased commits that run again',
    share,
    40,
    '%',
    `${reused} of ${ran} matched, ${count} commits`,
  );
}

async function throughput(): Promise<readonly boolean[]> {
  const address = join(box, 'content.git');
  sample.git('init', '--quiet', '--bare', address);
  const repository = await openRepository(sample.root);
  const scratch = await createScratch(join(box, 'scratch'), repository);
  await using engine = await sample.engine();
  const sandbox = await pickSandbox('auto', engine.slots.sandbox);
  const { enforced } = await sandbox.probe();
  const platform = await describePlatform();
  const [commit, tree] = sample.git('log', '-1', '--format=%H %T').split(' ') as [string, string];
  const argv = ['sh', '-c', 'sleep 0.2'];
  const limits = { timeoutMs: 60_000, maxOutputBytes: 10_000, maxMemoryBytes: 1e9 };
  const count = sized(24, 2);
  const one = await startWorker('one', { content: address, queue: redis.socket, home: join(box, 'one') });
  const two = await startWorker('two', { content: address, queue: redis.socket, home: join(box, 'two') });
  await two.stop();
  let workers = [one];
  const lines = [one.line, two.line];
  const signers = readWorkers(Buffer.from(`${lines.join('\n')}\n`));
  const found: boolean[] = [];
  const bare = async (parallel: number): Promise<number> => {
    const begun = performance.now();
    const left = Array.from({ length: count }, (_, at) => at);
    const work = async (): Promise<void> => {
      for (let at = left.pop(); at !== undefined; at = left.pop()) {
        const [workspace, reports] = ['w', 'r'].map((name) => join(box, `${name}-${parallel}-${at}`)) as [
          string,
          string,
        ];
        mkdirSync(join(workspace, '.git'), { recursive: true });
        mkdirSync(reports);
        writeFileSync(join(workspace, 'a'), 'a');
        await sandbox.run({ argv, workspace, reports, binds: [], env: {}, network: 'none', ...limits });
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
    for (const name of ['w', 'r'])
      for (let at = 0; at < count; at += 1)
        rmSync(join(box, `${name}-${parallel}-${at}`), { recursive: true });
    return performance.now() - begun;
  };
  let run = 0;
  const onWorkers = async (): Promise<number> => {
    run += 1;
    const directory = join(box, `engine-${run}`);
    const content = await openContent(
      directory,
      { address, shown: 'content' },
      { over: scratch, network: repository },
    );
    const begun = performance.now();
    const dispatcher = openDispatcher({
      content,
      queue: (hear: QueueNews) => openQueue(redis.socket, hear),
      workers: signers,
      afterMs: 60_000,
      signal: new AbortController().signal,
      fences: { current: async () => 1, end: async () => {} },
      monotonic: () => systemClock.monotonic(),
    });
    const jobOf = (at: number): Job => ({
      schema: 'urn:writ:job:v1',
      for: { repository: 'r', run: `${run}`, attempt: 'a', stage: 'fast', check: `check-${at}`, turn: 1 },
      ...{ candidate: tree, policy: tree, rules: 'a'.repeat(64), history: [{ commit, tree }], given: [] },
      ...{ argv, env: {}, tools: [], platform, sandbox: { name: sandbox.name, enforced }, limits },
    });
    await Promise.all(Array.from({ length: count }, (_, at) => dispatcher.run(jobOf(at))));
    const took = performance.now() - begun;
    await dispatcher.close();
    return took;
  };
  await onWorkers();
  for (const parallel of [1, 2]) {
    if (parallel === 2)
      workers = [
        one,
        await startWorker('two', { content: address, queue: redis.socket, home: join(box, 'two') }),
      ];
    const ratios: number[] = [];
    const all: string[] = [];
    for (let round = 0; round < sized(3, 1); round += 1) {
      const [before, there, after] = [await bare(parallel), await onWorkers(), await bare(parallel)];
      ratios.push((2 * there) / (before + after));
      all.push(`${Math.round(there)}/${Math.round((before + after) / 2)}`);
    }
    // 0.85 of the ideal throughput is 1.18 times its time.
    found.push(
      figure(
        `${count} checks of 200 ms on ${parallel} worker${parallel > 1 ? 's' : ''}`,
        median(ratios),
        1 / 0.85,
        'x',
        `bare sandboxes: ${all.join(' ')} ms`,
      ),
    );
  }
  for (const worker of workers) await worker.stop();
  return found;
}
