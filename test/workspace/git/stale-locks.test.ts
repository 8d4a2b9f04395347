import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { finishFollow, swapTarget } from '../../../workspace/git/follow-target.ts';
import { withIndex } from '../../../workspace/git/held-index.ts';
import { askLockingGit, removeStaleLocks, settleGit } from '../../../workspace/git/locks.ts';
import { readRef, updateRefs } from '../../../workspace/git/refs.ts';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { identityOf, ownIdentity, toNamePart } from '../../../workspace/process/process-lock.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';
import { bundleScript } from './bundle.ts';
import { locksBelow } from './locks-below.ts';
import { makeRepository, type SampleRepository } from './sample-repository.ts';

t.setTimeout(120_000);
const script = await bundleScript('follow-once.ts');
const realGit = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
const free = 4_194_303;

interface Held {
  readonly sample: SampleRepository;
  readonly repo: Repository;
  readonly base: string;
  readonly next: string;
}

async function makeTwo(dir: string): Promise<Held> {
  const sample = makeRepository(dir);
  const base = sample.commit({ a: 'one\n' });
  const next = sample.commit({ a: 'two\n' });
  sample.git('reset', '-q', '--hard', base);
  return { sample, repo: await openRepository(dir), base, next };
}

/**
 * A git that stops for a while with its ref locks taken and written: in the hook that git asks before it moves the
 * refs.
 */
function slowGit(dir: string, seconds: number): string {
  const hooks = join(dir, 'hooks');
  mkdirSync(hooks, { recursive: true });
  const mark = join(dir, 'holds');
  const put = (path: string, text: string): void => {
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  };
  put(
    join(hooks, 'reference-transaction'),
    `if [ "$1" = prepared ]; then echo $PPID > '${mark}'; sleep ${seconds}; fi`,
  );
  put(join(dir, 'git'), `exec '${realGit}' -c core.hooksPath='${hooks}' "$@"`);
  return mark;
}

/** Starts a swap in a process of its own and answers when its git holds the locks. */
async function holdLocks({ sample, base, next }: Held, box: string, seconds: number) {
  const mark = slowGit(box, seconds);
  const child = spawn(process.execPath, [script, sample.dir, 'swap', 'refs/heads/main', base, next], {
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, PATH: `${box}:${process.env.PATH}` },
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await until(() => existsSync(mark) && readFileSync(mark, 'utf8') !== '');
  return {
    git: Number(readFileSync(mark, 'utf8')),
    async kill(group: boolean) {
      process.kill(group ? -(child.pid ?? 0) : (child.pid ?? 0), 'SIGKILL');
      await ended;
    },
    ended,
  };
}

t.test('locks left by a git killed inside a ref update are removed by the next process', async (t) => {
  const dir = t.testdir();
  const held = await makeTwo(join(dir, 'repo'));
  const { sample, repo, base, next } = held;
  const run = await holdLocks(held, join(dir, 'box'), 60);
  await run.kill(true);
  const left = locksBelow(join(sample.dir, '.git'));
  t.match(left, ['HEAD.lock', 'refs/heads/main.lock', /^writ\/git-locks\//]);
  t.equal(sample.git('rev-parse', 'main').trim(), base);
  const target = { ref: 'refs/heads/main', expected: base, checkedOutHere: true };
  t.same(await swapTarget(repo, target, next, 'x'), { moved: true });
  t.same(locksBelow(join(sample.dir, '.git')), []);
  t.same(await swapTarget(repo, target, next, 'x'), { moved: true, already: true });
});

t.test('a git that outlives its parent keeps its locks, and the ref is moved once', async (t) => {
  const dir = t.testdir();
  const held = await makeTwo(join(dir, 'repo'));
  const { sample, repo, base, next } = held;
  const run = await holdLocks(held, join(dir, 'box'), 1);
  await run.kill(false);
  await removeStaleLocks(repo);
  t.ok(existsSync(join(sample.dir, '.git/refs/heads/main.lock')), 'its git lives');
  const target = { ref: 'refs/heads/main', expected: base, checkedOutHere: true };
  t.match(await swapTarget(repo, target, next, 'x'), { moved: true });
  await settleGit(repo);
  t.same(locksBelow(join(sample.dir, '.git')), []);
  t.equal(sample.git('reflog', 'main').match(/: (?:test|x)$/gm)?.length, 1, 'moved once');
});

t.test('a follow waits until every git of a killed process has ended', async (t) => {
  const { sample, repo, base } = await makeTwo(t.testdir());
  const child = spawn('sleep', ['0.5'], { stdio: 'ignore' });
  const claim = await writeClaim(repo, join(sample.dir, '.git/index.lock'), free);
  const who = await identityOf(child.pid ?? 0);
  appendFileSync(claim, `${JSON.stringify({ who })}\n{"who":`);
  const target = { ref: 'refs/heads/main', expected: base, checkedOutHere: true };
  await removeStaleLocks(repo);
  t.ok(existsSync(claim));
  t.match(await finishFollow(repo, target, base), { state: 'followed' });
  t.equal(child.exitCode, 0, 'it was waited for');
  t.notOk(existsSync(claim));
  const stuck = spawn('sleep', ['60'], { stdio: 'ignore' });
  t.teardown(() => stuck.kill());
  const next = await writeClaim(repo, join(sample.dir, '.git/index.lock'), free);
  appendFileSync(next, `${JSON.stringify({ who: await identityOf(stuck.pid ?? 0) })}\n`);
  await t.rejects(settleGit(repo, 100), { code: 'GIT_FAILED', detail: { pids: [stuck.pid] } });
  t.ok(existsSync(next));
});

t.test('a git that is killed alone leaves no lock while its parent lives', async (t) => {
  const dir = t.testdir();
  const held = await makeTwo(join(dir, 'repo'));
  const run = await holdLocks(held, join(dir, 'box'), 1);
  process.kill(run.git, 'SIGKILL');
  await run.ended;
  t.same(locksBelow(join(held.sample.dir, '.git')), []);
  t.equal(held.sample.git('rev-parse', 'main').trim(), held.base);
});

t.test('a killed deletion does not lock others out of the packed refs', async (t) => {
  const dir = t.testdir();
  const { sample, repo, base } = await makeTwo(join(dir, 'repo'));
  for (const name of ['one', 'two']) sample.git('update-ref', `refs/ai/${name}`, base);
  sample.git('pack-refs', '--all');
  const mark = slowGit(join(dir, 'box'), 60);
  const source = `
    import { openRepository } from '${new URL('../../../workspace/git/repository.ts', import.meta.url).pathname}';
    import { updateRefs } from '${new URL('../../../workspace/git/refs.ts', import.meta.url).pathname}';
    const repo = await openRepository(${JSON.stringify(sample.dir)});
    await updateRefs(repo, [{ ref: 'refs/ai/one', old: '${base}', new: undefined }], 'x');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, PATH: `${join(dir, 'box')}:${process.env.PATH}` },
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await until(() => existsSync(mark));
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await ended;
  t.match(locksBelow(join(sample.dir, '.git')), [
    'packed-refs.lock',
    'packed-refs.new',
    'refs/ai/one.lock',
    /git-locks/,
  ]);
  t.same(await updateRefs(repo, [{ ref: 'refs/ai/two', old: base, new: undefined }], 'x'), { moved: true });
  t.same(locksBelow(join(sample.dir, '.git')), []);
  t.equal(await readRef(repo, 'refs/ai/one'), base);
  t.equal(await readRef(repo, 'refs/ai/two'), undefined);
});

/** Writes a claim by hand, as a process `pid` would have left it, that names `lock`. */
async function writeClaim(repo: Repository, lock: string, pid: number, contents?: readonly string[]) {
  const who = { ...(await ownIdentity()), pid };
  const path = join(repo.commonDir, 'writ/git-locks', `${toNamePart(who)}+${'0'.repeat(24)}.json`);
  mkdirSync(dirname(path), { recursive: true });
  const entry = contents === undefined ? { path: lock } : { path: lock, contents };
  writeFileSync(
    path,
    `${JSON.stringify({ locks: [entry], litter: [], sinceMs: Date.now() - 1_000, who })}\n`,
  );
  return path;
}

t.test('a lock is removed only if a dead process claimed it and left the file unchanged', async (t) => {
  const { sample, repo, next } = await makeTwo(t.testdir());
  const lock = join(sample.dir, '.git/refs/heads/main.lock');
  const contents = [`${next}\n`];
  const cases: readonly [string, boolean, () => Promise<unknown>][] = [
    ['no claim', true, async () => writeFileSync(lock, '')],
    [
      'a claim of the living',
      true,
      async () => {
        await writeClaim(repo, lock, process.pid, contents);
        writeFileSync(lock, '');
      },
    ],
    [
      'a claim of the dead, the lock taken after their time',
      true,
      async () => {
        const claim = await writeClaim(repo, lock, free, contents);
        writeFileSync(lock, '');
        const past = new Date(Date.now() - 10_000);
        utimesSync(claim, past, past);
      },
    ],
    [
      'a claim of the dead, the lock older than it',
      true,
      async () => {
        await writeClaim(repo, lock, free, contents);
        writeFileSync(lock, '');
        const past = new Date(Date.now() - 10_000);
        utimesSync(lock, past, past);
      },
    ],
    [
      'a claim of the dead, another content',
      true,
      async () => {
        await writeClaim(repo, lock, free, contents);
        writeFileSync(lock, `${'1'.repeat(40)}\n`);
      },
    ],
    [
      'a claim of the dead for a lock that must be theirs by inode',
      true,
      async () => {
        await writeClaim(repo, lock, free);
        writeFileSync(lock, '');
      },
    ],
    [
      'a claim of the dead, empty',
      false,
      async () => {
        await writeClaim(repo, lock, free, contents);
        writeFileSync(lock, '');
      },
    ],
    [
      'a claim of the dead, half written',
      false,
      async () => {
        await writeClaim(repo, lock, free, contents);
        writeFileSync(lock, next.slice(0, 7));
      },
    ],
    [
      'a claim of the dead, the same inode',
      false,
      async () => linkSync(await writeClaim(repo, lock, free), lock),
    ],
  ];
  for (const [what, stays, prepare] of cases) {
    await prepare();
    await removeStaleLocks(repo);
    t.equal(existsSync(lock), stays, what);
    rmSync(lock, { force: true });
    rmSync(join(repo.commonDir, 'writ/git-locks'), { recursive: true, force: true });
  }
  const cut = await writeClaim(repo, lock, free);
  writeFileSync(cut, '{"lo');
  const begun = await writeClaim(repo, lock, process.pid);
  writeFileSync(begun, '');
  await removeStaleLocks(repo);
  t.notOk(existsSync(cut), 'a claim that its dead maker had not finished');
  t.ok(existsSync(begun), 'a claim that its living maker has not finished');
  rmSync(begun);
  const outside = join(t.testdirName, '..', 'outside.lock');
  writeFileSync(outside, '');
  await writeClaim(repo, outside, free, []);
  await removeStaleLocks(repo);
  t.ok(existsSync(outside), 'a claim reaches nothing outside the git directory');
  rmSync(outside);
});

t.test('a lock of the user’s own git is waited for, then reported, and never removed', async (t) => {
  const { sample, repo, base, next } = await makeTwo(t.testdir());
  const lock = join(sample.dir, '.git/refs/heads/main.lock');
  writeFileSync(lock, '');
  const input = `start\0update refs/heads/main\0${next}\0${base}\0prepare\0commit\0`;
  const call = { input, locks: [{ path: lock, contents: [`${next}\n`] }], waitMs: 250 };
  t.match(await askLockingGit(repo, ['update-ref', '-z', '--stdin'], call), { code: 128, lock });
  t.ok(existsSync(lock));
  void instant(150).then(() => rmSync(lock));
  t.match(await askLockingGit(repo, ['update-ref', '-z', '--stdin'], { ...call, waitMs: 60_000 }), {
    code: 0,
  });

  const indexLock = join(sample.dir, '.git/index.lock');
  writeFileSync(indexLock, '');
  const never = async () => t.fail('worked on an index that another holds');
  await t.rejects(withIndex(repo, never, 200), {
    code: 'GIT_FAILED',
    detail: { lock: indexLock },
  });
  t.ok(existsSync(indexLock));
  rmSync(indexLock);
  t.same(locksBelow(join(sample.dir, '.git')), []);
});

t.test('a held index lock keeps other git processes out, and a replaced lock is kept', async (t) => {
  const { sample, repo } = await makeTwo(t.testdir());
  const lock = join(sample.dir, '.git/index.lock');
  sample.write({ b: 'b\n' });
  await withIndex(repo, async () => {
    t.throws(() => sample.git('add', 'b'), /index\.lock/);
    await removeStaleLocks(repo);
    t.ok(existsSync(lock), 'we live');
    rmSync(lock);
    writeFileSync(lock, 'another');
  });
  t.equal(readFileSync(lock, 'utf8'), 'another');
});

t.test('a killed remover with nothing left to remove leaves no files behind', async (t) => {
  const { sample, repo } = await makeTwo(t.testdir());
  const directory = join(sample.dir, '.git/writ/git-locks');
  mkdirSync(directory, { recursive: true });
  const dead = { ...(await ownIdentity()), pid: free, started: '' };
  const remover = join(directory, 'remover');
  const living = JSON.stringify({ ...(await ownIdentity()), token: 'living' });
  writeFileSync(remover, living);
  await removeStaleLocks(repo);
  t.equal(readFileSync(remover, 'utf8'), living, 'a living one is neither removed nor waited for');
  writeFileSync(remover, JSON.stringify({ ...dead, token: 'dead' }));
  await removeStaleLocks(repo);
  t.same(locksBelow(join(sample.dir, '.git')), []);
  for (const name of [`${toNamePart(dead)}+0a`, 'after-00']) {
    writeFileSync(`${remover}.${name}`, '');
    await removeStaleLocks(repo);
    t.same(locksBelow(join(sample.dir, '.git')), [], name);
  }
});
