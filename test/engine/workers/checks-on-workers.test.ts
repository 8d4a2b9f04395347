/* A check runs on a worker in another process and home: its signed result is the verdict of a sealed run. */
import t from 'tap';
import { fix, noRedis, openScene } from './scene.ts';

t.test('a check of a sealed run ran on a worker', { skip: noRedis }, async (t) => {
  const scene = await openScene(t);
  const { sample, secrets } = scene;
  const worker = await scene.worker('build-1');
  scene.policy([worker.line]);
  const view = await sample.run({ source: { kind: 'patch', bytes: fix }, secrets });
  t.equal(view.decision?.type, 'commit', JSON.stringify(view, null, 1));
  const check = view.stages[0]?.checks[0];
  t.match(check, { status: 'passed', exitCode: 0, ranOn: { worker: 'build-1', fence: 1 } });
  t.equal(check?.tests?.failed, 0);
  t.match(worker.printed(), /published/);
});
