import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { endMarked, noSandbox } from '../../../plugins/sandbox/none.ts';
import { long } from '../../rooms/long.ts';
import { lookOn } from '../../waiting/look-on.ts';
import { until } from '../../waiting/until.ts';
import { openScene, outputOf, processesWith, uniqueSleep } from './sandbox-scene.ts';

const none = noSandbox();

t.test('the unconfined backend enforces nothing and refuses isolation it cannot give', async (t) => {
  const scene = openScene(t);
  t.strictSame(await none.probe(), { works: true, enforced: [] });
  t.strictSame(none.pathsInside(scene), { workspace: scene.workspace, reports: scene.reports });
  await t.rejects(scene.run(none, 'true', { network: 'none' }), { code: 'SANDBOX_NONE_REFUSED' });
  await t.rejects(scene.run(none, 'true', { env: { LD_PRELOAD: '/x' } }), { code: 'SANDBOX_UNSAFE' });
});

t.test('a command runs in the workspace with a temporary home that is deleted afterwards', async (t) => {
  const scene = openScene(t);
  const { facts } = scene;
  const result = await scene.run(
    noSandbox(facts),
    'pwd; echo "$HOME"; echo "$TMPDIR"; echo x >"$HOME/a"; echo x >"$TMPDIR/a"; echo x >written; exit 3',
  );
  const [pwd, home, temporary] = outputOf(result).split('\n');
  t.equal(result.exitCode, 3);
  t.equal(pwd, scene.workspace);
  t.notOk(home?.startsWith(facts.home));
  t.notOk(existsSync(home ?? '/'));
  t.notOk(existsSync(temporary ?? '/'));
  t.equal(readFileSync(path.join(scene.workspace, 'written'), 'utf8'), 'x\n');
});

t.test('a secret in the parent environment does not reach a command', async (t) => {
  const scene = openScene(t);
  process.env.ANTHROPIC_API_KEY = 'sk-leaked';
  t.teardown(() => delete process.env.ANTHROPIC_API_KEY);
  t.notMatch(outputOf(await scene.run(none, 'env')), 'leaked');
});

t.test('a bind becomes a symlink and does not replace an existing path', async (t) => {
  const scene = openScene(t);
  const source = path.join(scene.root, 'shared');
  mkdirSync(source);
  writeFileSync(path.join(source, 'file'), 'shared');
  const target = path.join(scene.workspace, 'node_modules');
  const binds = [
    { source, target, writable: false },
    { source, target: source, writable: false },
  ];
  t.equal(outputOf(await scene.run(none, 'cat node_modules/file', { binds })), 'shared');
  t.equal(outputOf(await scene.run(none, 'cat node_modules/file', { binds })), 'shared', 'again');
  t.ok(lstatSync(target).isSymbolicLink());
  const taken = { source, target: path.join(scene.workspace, '.git'), writable: false };
  await t.rejects(scene.run(none, 'true', { binds: [taken] }), { code: 'SANDBOX_UNSAFE' });
});

t.test(
  'ends a process that left its group, after exit and after a timeout',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const scene = openScene(t);
    const asleep = uniqueSleep();
    const daemon = `setsid sh -c 'trap "" TERM HUP; (sleep ${asleep} &); while :; do echo x >>beat; sleep 0.01; done' >/dev/null 2>&1 &
    while [ ! -s beat ]; do sleep 0.01; done;`;
    t.equal((await scene.run(none, `${daemon} exit 4`)).exitCode, 4);
    t.strictSame(processesWith(asleep), []);
    const size = statSync(path.join(scene.workspace, 'beat')).size;
    await lookOn(60);
    t.equal(statSync(path.join(scene.workspace, 'beat')).size, size);
    t.match(await scene.run(none, `${daemon} sleep ${asleep}`, { timeoutMs: 2_500 }), {
      timedOut: true,
      signal: 'SIGKILL',
    });
    t.strictSame(processesWith(asleep), []);
  },
);

long(
  'finds and ends a process that keeps replacing itself with another program',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const again = 'exec sh -c "$0" "$0"';
    const started: ChildProcess[] = [];
    t.teardown(() => {
      for (const child of started) child.kill('SIGKILL');
    });
    for (let round = 0; round < 60; round += 1) {
      const mark = uniqueSleep();
      const env = { PATH: process.env.PATH, MARK: mark };
      const child = spawn('sh', ['-c', again, again], { env, stdio: 'ignore' });
      started.push(child);
      await endMarked(`MARK=${mark}`);
    }
    await until(() => started.every(({ signalCode }) => signalCode === 'SIGKILL'), 'the end of all of them');
    t.equal(started.length, 60);
  },
);
