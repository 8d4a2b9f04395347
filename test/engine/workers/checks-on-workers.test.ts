/* Checks run on worker processes with homes of their own, woken by a real Redis: one verdict, whatever fails. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { verifyTargets } from '../../../api/verify/verify-targets.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { CheckRecord } from '../../../core/interfaces/stage.ts';
import { listRuns } from '../../../engine/record/list-runs.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { fix, noRedis, openScene, type Scene } from './scene.ts';

const source = { kind: 'patch', bytes: fix } as const;
/** One check, so that each run is one job. */
const plan = (command: string) => ({
  acceptance: {
    verificationPlan: {
      fastChecks: [
        {
          ...{ id: 'unit', kind: 'command', command, timeoutSeconds: 60, required: true },
          artifactsProduced: ['test-log'],
        },
      ],
    },
  },
});

const ranOn = (check: CheckRecord | undefined) => check?.ranOn;
const leftAtRemote = ({ sample, content }: Scene): string => sample.git('--git-dir', content, 'for-each-ref');

t.test('a check of a sealed run ran on a worker', { skip: noRedis }, async (t) => {
  const scene = await openScene(t);
  const { sample, secrets } = scene;
  const worker = await scene.worker('build-1');
  scene.policy([worker.line]);
  const view = await sample.run({ source, secrets });
  t.equal(view.decision?.type, 'commit');
  const check = view.stages[0]?.checks[0];
  t.match(check, { status: 'passed', exitCode: 0, ranOn: { worker: 'build-1', fence: 1 } });
  t.equal(check?.tests?.failed, 0);
  t.equal(leftAtRemote(scene), '', 'no job and no result is left');
  const repository = await openRepository(sample.root);
  const { store } = await findRun(builtInStores, repository, systemClock, view.runId);
  const action = check?.ranOn && 'action' in check.ranOn ? check.ranOn.action : '';
  const kept = await store.objects.read(store.refs.run(view.runId), `workers/${action}.json`);
  t.match(JSON.parse(`${kept}`), { payloadType: 'application/vnd.in-toto+json' });
  const [target] = await verifyTargets(
    { stores: builtInStores, repoPath: sample.root, cwd: sample.root, env: sample.env },
    [view.runId],
  );
  t.equal(target?.report?.verified, true);
  t.match(
    target?.report?.checks.find(({ id }) => id === 'workers'),
    { status: 'passed', detail: { workers: ['build-1'] } },
  );
  await worker.stop();
  t.equal(worker.child.exitCode, 0, 'it ends well');
  t.match(worker.printed(), /takes no more jobs/);
});

/** A run whose one check lasts until a worker was hit. */
async function struck(
  t: Test,
  strike: (scene: Scene, workers: Awaited<ReturnType<Scene['worker']>>[]) => Promise<void>,
) {
  const scene = await openScene(t);
  const workers = [await scene.worker('build-1'), await scene.worker('build-2')];
  scene.policy(workers.map(({ line }) => line));
  const running = scene.sample.run({ source, secrets: scene.secrets }, plan('sleep 2; test -d .git'));
  await until(() => workers.some(({ printed }) => printed().includes('taken')));
  await strike(scene, workers);
  const view = await running;
  t.equal(view.decision?.type, 'commit', JSON.stringify(view.decision));
  t.equal(view.stages[0]?.checks.length, 1);
  t.match(view.stages[0]?.checks[0], { status: 'passed', ranOn: { action: /^[0-9a-f]{64}$/ } });
  t.equal(scene.sample.git('rev-list', '--count', 'HEAD'), '3', 'one seal');
  t.equal(leftAtRemote(scene), '');
  return { scene, workers, view };
}

const first = (workers: Awaited<ReturnType<Scene['worker']>>[]) =>
  workers.find(({ printed }) => printed().includes('taken'));

long('a worker is killed in the middle of a job', { skip: noRedis, timeout: 300_000 }, async (t) => {
  const { workers, view } = await struck(t, async (_, all) => first(all)?.stop('SIGKILL'));
  const alive = workers.find(({ child }) => child.signalCode === null);
  t.match(alive?.printed(), /published/);
  t.same(view.findings, []);
});

long(
  'a worker is stopped for longer than its lock, and goes on',
  { skip: noRedis, timeout: 300_000 },
  async (t) => {
    const { workers } = await struck(t, async (_, all) => {
      const one = first(all);
      one?.child.kill('SIGSTOP');
      await until(() => all.some((other) => other !== one && other.printed().includes('published')));
      one?.child.kill('SIGCONT');
    });
    await until(() => workers.every(({ printed }) => /published|superseded/.test(printed())));
    t.pass('both ended');
  },
);

long('Redis is killed, and comes back empty', { skip: noRedis, timeout: 300_000 }, async (t) => {
  await struck(t, async (scene, all) => {
    await first(all)?.stop('SIGKILL');
    await scene.restartRedis();
  });
});

long('without Redis a run ends, and so does a worker', { skip: noRedis, timeout: 300_000 }, async (t) => {
  const scene = await openScene(t);
  const worker = await scene.worker('build-1');
  scene.policy([worker.line], 'fallback = "local"\n', 1);
  const running = scene.sample.run({ source, secrets: scene.secrets }, plan('sleep 2'));
  await until(() => worker.printed().includes('taken'));
  await scene.stopRedis();
  t.equal((await running).decision?.type, 'commit');
  await worker.stop();
  t.equal(worker.child.exitCode, 0);
});

long(
  'without workers a run falls back to this machine, or fails and is resumed',
  { skip: noRedis, timeout: 300_000 },
  async (t) => {
    const scene = await openScene(t);
    const worker = await scene.worker('build-1');
    await worker.stop();
    const { sample, secrets } = scene;
    scene.policy([worker.line], 'fallback = "local"\n', 1);
    const view = await sample.run({ source, secrets }, plan('true'));
    t.equal(view.decision?.type, 'commit');
    t.match(ranOn(view.stages[0]?.checks[0]), { here: /no worker ran it within 1 seconds/ });
    sample.git('reset', '-q', '--hard', 'HEAD~1');
    scene.policy([worker.line], 'fallback = "fail"\n', 1);
    await t.rejects(sample.run({ source, secrets }, plan('true')), {
      code: 'WORKERS_ABSENT',
      message: /check `unit`: no worker ran it within 1 seconds/,
    });
    const runs = await listRuns(builtInStores, await openRepository(sample.root), systemClock);
    const runId = runs.find(({ state }) => state !== 'decided')?.runId ?? '';
    await scene.worker('build-1', [], worker.home);
    const resumed = await sample.resume(runId, { secrets });
    t.equal(resumed.decision?.type, 'commit');
    t.match(ranOn(resumed.stages[0]?.checks[0]), { worker: 'build-1', fence: 2 });
  },
);

long(
  'a resumed run removes the jobs of the process before it',
  { skip: noRedis, timeout: 300_000 },
  async (t) => {
    const scene = await openScene(t);
    const { sample, secrets, content } = scene;
    const worker = await scene.worker('build-1');
    scene.policy([worker.line], 'fallback = "fail"\n', 2);
    const spec = plan('true');
    const [unit] = spec.acceptance.verificationPlan.fastChecks;
    const second = { ...unit, id: 'second', command: 'sleep 1', timeoutSeconds: 4 };
    const running = sample.run(
      { source, secrets },
      {
        acceptance: {
          verificationPlan: { ...spec.acceptance.verificationPlan, integrationChecks: [second] },
        },
      },
    );
    running.catch(() => undefined);
    await until(() => worker.printed().split('taken').length > 2);
    await worker.stop('SIGKILL');
    renameSync(content, `${content}.away`);
    await t.rejects(running, { code: 'WORKERS_ABSENT' });
    renameSync(`${content}.away`, content);
    t.not(leftAtRemote(scene), '');
    const [{ runId } = { runId: '' }] = await listRuns(
      builtInStores,
      await openRepository(sample.root),
      systemClock,
    );
    await scene.worker('build-1', [], worker.home);
    const resumed = await sample.resume(runId, { secrets });
    t.equal(resumed.decision?.type, 'commit');
    t.match(ranOn(resumed.stages[0]?.checks[0]), { fence: 1 }, 'this one did not run again');
    t.equal(leftAtRemote(scene), '');
  },
);

long('a worker that is not listed changes nothing', { skip: noRedis, timeout: 300_000 }, async (t) => {
  const scene = await openScene(t);
  const liar = await scene.worker('liar');
  const honest = await scene.worker('honest');
  scene.policy([honest.line]);
  await honest.stop();
  const running = scene.sample.run({ source, secrets: scene.secrets }, plan('true'));
  await until(() => liar.printed().includes('published'));
  await liar.stop();
  await scene.worker('honest', [], honest.home);
  const view = await running;
  t.equal(view.decision?.type, 'commit');
  t.match(ranOn(view.stages[0]?.checks[0]), { worker: 'honest' });
});

long('a check has the same output on a worker as here', { skip: noRedis, timeout: 300_000 }, async (t) => {
  const scene = await openScene(t);
  const { sample, secrets } = scene;
  const worker = await scene.worker('build-1');
  const modules = join(sample.root, 'node_modules');
  for (const directory of ['pkg/empty', '.bin']) mkdirSync(join(modules, directory), { recursive: true });
  writeFileSync(join(modules, 'pkg', 'run.sh'), '#!/bin/sh\necho runs\n', { mode: 0o755 });
  writeFileSync(join(modules, '.gitignore'), '*\n');
  symlinkSync('../pkg/run.sh', join(modules, '.bin', 'run'));
  writeFileSync(join(sample.root, '.gitignore'), 'node_modules/\n');
  sample.git('add', '.gitignore');
  const shared = '[workspace]\nshare = ["node_modules"]\nhistory = 2\n';
  const command =
    'cat .git/HEAD .git/shallow src/price.js node_modules/.gitignore 2>&1; test -d node_modules/pkg/empty && sh node_modules/.bin/run && echo x > left && cat $WORKSPACE/left';
  scene.policy([worker.line], `fallback = "local"\n${shared}`, 5);
  await worker.stop();
  sample.git('tag', 'base');
  const logs: (string | undefined)[] = [];
  for (const where of [{ here: /no worker/ }, { worker: 'build-1' }]) {
    if ('worker' in where) await scene.worker('build-1', [], worker.home);
    const view = await sample.run({ source, secrets }, plan(command));
    const check = view.stages[0]?.checks[0];
    t.equal(view.decision?.type, 'commit', JSON.stringify(check));
    t.match(ranOn(check), where);
    t.same(check?.wroteOutside?.paths, [{ path: 'left', was: 'added' }]);
    logs.push(check?.artifacts.find(({ name }) => name === 'test-log')?.sha256);
    sample.git('reset', '-q', '--hard', 'base');
  }
  t.ok(logs[0]);
  t.equal(logs[1], logs[0]);
});

long('without a Redis, the demonstrations say what is missing', async (t) => {
  const script = join(import.meta.dirname, '../../../scripts/local-workers.ts');
  for (const flags of [[], ['--demo']]) {
    const { status, stderr } = spawnSync(process.execPath, [script, ...flags], { env: { PATH: '/nowhere' } });
    t.equal(status, 1);
    t.match(`${stderr}`, /^redis-server is not installed.+apt-get install redis-server/);
  }
});
