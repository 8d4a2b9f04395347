import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readRef, updateRefs } from '../../../workspace/git/refs.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';
import { bundleScript } from './bundle.ts';
import { locksBelow } from './locks-below.ts';
import { makeRepository } from './sample-repository.ts';

t.setTimeout(180_000);
const script = await bundleScript('move-refs.ts');
const rounds = 15;
/** Far more than the other's turn takes, far less than the five seconds after which a lock is given up. */
const longestMs = 3_000;

interface Mover {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly printed: () => string;
}

function startMover(dir: string, name: string, branch: string, count: number): Mover {
  const child = spawn(process.execPath, [script, dir, name, branch, String(count)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  return { child, ended: new Promise((resolve) => child.on('close', resolve)), printed: () => printed };
}

const places = { 'one work tree': false, 'two linked work trees': true };

for (const [name, linked] of Object.entries(places)) {
  long(`two processes in ${name} lose no update and do not block each other`, async (t) => {
    const dir = t.testdir();
    const sample = makeRepository(join(dir, 'main'));
    sample.commit({ one: '0\n', two: '0\n', other: 'o\n' });
    const side = join(dir, 'side');
    if (linked) sample.git('worktree', 'add', '-q', '-b', 'side', side);
    const movers = [
      startMover(sample.dir, 'one', 'refs/heads/main', rounds),
      startMover(linked ? side : sample.dir, 'two', linked ? 'refs/heads/side' : 'refs/heads/main', rounds),
    ];
    for (const mover of movers) {
      t.equal(await mover.ended, 0, mover.printed());
      const longest = Number(/longest (\S+)/.exec(mover.printed())?.[1]);
      t.ok(longest < longestMs, `longest call ${Math.round(longest)} ms`);
    }
    const count = (ref: string): string => sample.git('rev-list', '--count', ref).trim();
    t.equal(count('refs/ai/counter'), String(2 * rounds));
    t.equal(count('main'), String((linked ? rounds : 2 * rounds) + 1));
    if (linked) t.equal(count('side'), String(rounds + 1));
    for (const place of linked ? [sample.dir, side] : [sample.dir])
      t.equal(sample.git('-C', place, 'status', '--porcelain'), '');
    t.equal(readFileSync(join(linked ? side : sample.dir, 'two'), 'utf8'), `two ${rounds - 1}\n`);
    sample.git('fsck', '--strict');
    t.same(locksBelow(join(sample.dir, '.git')), []);
  });
}

long('a process killed while it moves refs does not block the next process', async (t) => {
  const sample = makeRepository(t.testdir());
  sample.commit({ one: '0\n' });
  const repo = await openRepository(sample.dir);
  let locked = 0;
  for (let round = 0; round < 15; round += 1) {
    sample.git('reset', '-q', '--hard');
    sample.git('pack-refs', '--all');
    const mover = startMover(sample.dir, 'one', 'refs/heads/main', 1000);
    await until(() => mover.printed().includes('ready'));
    await instant(20 + ((round * 37) % 90));
    process.kill(-(mover.child.pid ?? 0), 'SIGKILL');
    await mover.ended;
    if (locksBelow(join(sample.dir, '.git')).some((name) => name.includes('.lock'))) locked += 1;
    for (const ref of ['refs/ai/counter', 'refs/ai/own/one', 'refs/heads/main']) {
      const old = await readRef(repo, ref);
      const head = sample.git('rev-parse', 'HEAD').trim();
      t.same(await updateRefs(repo, [{ ref, old, new: head }], 'after'), { moved: true }, `${round} ${ref}`);
    }
    t.same(
      await updateRefs(
        repo,
        [{ ref: 'refs/ai/own/one', old: await readRef(repo, 'refs/ai/own/one'), new: undefined }],
        'gone',
      ),
      { moved: true },
    );
    t.same(locksBelow(join(sample.dir, '.git')), [], `round ${round}: nothing left`);
  }
  t.comment(`${locked} of 15 left a lock`);
  sample.git('fsck', '--strict');
});
