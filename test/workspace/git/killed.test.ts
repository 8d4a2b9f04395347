import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import t from 'tap';
import { finishFollow, swapTarget } from '../../../workspace/git/follow-target.ts';
import { settleGit } from '../../../workspace/git/locks.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import type { Target } from '../../../workspace/git/target.ts';
import { long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { lookOn } from '../../waiting/look-on.ts';
import { until } from '../../waiting/until.ts';
import { bundleScript } from './bundle.ts';
import { locksBelow } from './locks-below.ts';
import { makeRepository, type SampleRepository } from './sample-repository.ts';

t.setTimeout(180_000);
const script = await bundleScript('follow-once.ts');
const rounds = 30;
const fileCount = 50;
const fileBytes = 50_000;

/** Follows in a process of its own; `kill` ends it alone, or with the gits that it started. */
function startFollow(
  dir: string,
  how: 'swap' | 'finish',
  target: Target,
  commit: string,
  env: NodeJS.ProcessEnv = process.env,
) {
  const child = spawn(process.execPath, [script, dir, how, target.ref, target.expected ?? '', commit], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env,
  });
  let printed = '';
  const waiting: (() => void)[] = [];
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    for (const resume of waiting.splice(0)) resume();
  });
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  return {
    ended,
    printed: () => printed,
    async sees(word: string) {
      while (!printed.includes(word) && child.exitCode === null && child.signalCode === null)
        await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), ended]);
    },
    kill: (group: boolean) => killHard(child, group),
  };
}

function killHard(child: ChildProcess, group: boolean): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null) return;
  try {
    process.kill(group ? -pid : pid, 'SIGKILL');
  } catch {
    // Ended by itself.
  }
}

/** Two commits that differ in many large files, in modes, links, directories that become files and the reverse. */
function twoCommits(sample: SampleRepository): { readonly base: string; readonly sealed: string } {
  const big = (seed: number): string => `${seed}\n${'0123456789abcdef\n'.repeat(fileBytes / 17)}`;
  const files = (seed: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: fileCount }, (_, n) => [`big/${n}`, big(n * 10 + seed)]));
  const base = sample.commit({
    ...files(1),
    '.gitattributes': '*.crlf text eol=crlf\n',
    'a.crlf': 'one\ntwo\n',
    'gone/x': 'x\n',
    'turns/f': 'f\n',
    flat: 'flat\n',
    mode: '#!/bin/sh\n',
    link: { link: 'flat' },
    kept: 'kept\n',
    'name with "quotes"': 'q\n',
  });
  sample.git('rm', '-q', '-r', 'gone', 'turns', 'flat', 'link');
  const sealed = sample.commit({
    ...files(2),
    'a.crlf': 'one\nthree\n',
    turns: 'now a file\n',
    'flat/inside': 'now a directory\n',
    mode: { exec: '#!/bin/sh\n' },
    link: { link: 'kept' },
    'name with "quotes"': 'r\n',
    'new/file': 'n\n',
  });
  return { base, sealed };
}

for (const [name, linked] of Object.entries({ linked: true, main: false })) {
  long(`a later process completes a swap and follow that was killed (${name} working tree)`, async (t) => {
    const dir = t.testdir();
    const sample = makeRepository(join(dir, 'main'));
    const { base, sealed } = twoCommits(sample);
    const place = linked ? join(dir, 'side') : sample.dir;
    if (linked) sample.git('worktree', 'add', '-q', '-b', 'side', place);
    const ref = linked ? 'refs/heads/side' : 'refs/heads/main';
    const target: Target = { ref, expected: base, checkedOutHere: true };
    const git = (...args: string[]): string => sample.git('-C', place, ...args);
    const repo = await openRepository(place);
    const toBase = (): void => {
      git('reset', '-q', '--hard', base);
      git('clean', '-qfd');
    };

    toBase();
    const whole = startFollow(place, 'swap', target, sealed);
    await whole.sees('ready');
    const began = performance.now();
    await whole.ended;
    const wholeMs = performance.now() - began;
    t.match(whole.printed(), /"followed"/);

    let torn = 0;
    let locked = 0;
    // On a machine that others share the instants fall elsewhere: more of them, until enough were torn.
    for (let round = 0; round < rounds / 2 || (torn <= 3 && round < 3 * rounds); round += 1) {
      toBase();
      const run = startFollow(place, 'swap', target, sealed);
      await run.sees('ready');
      await instant((wholeMs * (round % (rounds / 2))) / (rounds / 2));
      run.kill(round % 2 === 0);
      await run.ended;
      if (git('status', '--porcelain') !== '') torn += 1;
      if (locksBelow(join(sample.dir, '.git')).some((name) => name.endsWith('.lock'))) locked += 1;
      // The process that ends it may be killed as well.
      if (round % 3 === 0) {
        const again = startFollow(place, 'finish', target, sealed);
        await again.sees('ready');
        await instant((wholeMs * ((round * 7) % 15)) / 15);
        again.kill(round % 2 === 0);
        await again.ended;
      }
      const swap = await swapTarget(repo, target, sealed, 'test');
      t.equal(swap.moved, true);
      t.same(await finishFollow(repo, target, sealed), { state: 'followed' }, `round ${round}`);
      t.equal(git('status', '--porcelain'), '', `round ${round}: clean`);
      t.equal(git('rev-parse', 'HEAD').trim(), sealed);
      t.equal(statSync(join(place, 'mode')).mode & 0o100, 0o100);
      t.equal(readFileSync(join(place, 'a.crlf'), 'latin1'), 'one\r\nthree\r\n');
      t.same(locksBelow(join(sample.dir, '.git')), [], `round ${round}: nothing left`);
    }
    t.ok(torn > 3, `${torn} rounds left a torn work tree`);
    t.comment(`${torn} torn, ${locked} with a lock, of ${rounds / 2}; undisturbed ${Math.round(wholeMs)} ms`);
    sample.git('fsck', '--strict');
    t.same(await finishFollow(repo, target, sealed), { state: 'followed' }, 'once more changes nothing');
    t.equal(git('status', '--porcelain'), '');
  });
}

t.test(
  'local changes made meanwhile are kept and listed, and half-written new files are completed',
  async (t) => {
    const sample = makeRepository(t.testdir());
    const { base, sealed } = twoCommits(sample);
    sample.git('reset', '-q', '--hard', base);
    sample.git('update-ref', 'refs/heads/main', sealed);
    const half = sample.git('cat-file', 'blob', `${sealed}:big/3`).slice(0, 20_000);
    sample.write({
      'big/1': 'my own\n',
      'big/3': half,
      'gone/x': 'mine\n',
      'turns/f': 'f\n',
      'turns/mine': 'untracked\n',
      kept: 'my change elsewhere\n',
    });
    sample.write({ 'big/5': 'staged by me\n' });
    sample.git('add', 'big/5');
    const target: Target = { ref: 'refs/heads/main', expected: base, checkedOutHere: true };
    const repo = await openRepository(sample.dir);
    const outcome = await finishFollow(repo, target, sealed);
    t.same(outcome, { state: 'followed', left: ['big/1', 'big/5', 'gone/x', 'turns'] });
    t.equal(
      sample.git('status', '--porcelain', '-uall'),
      ' M big/1\nM  big/5\n M kept\n D turns\n?? gone/x\n?? turns/mine\n',
    );
    t.equal(readFileSync(join(sample.dir, 'big/1'), 'utf8'), 'my own\n');
    t.equal(readFileSync(join(sample.dir, 'gone/x'), 'utf8'), 'mine\n');
    t.equal(readFileSync(join(sample.dir, 'flat/inside'), 'utf8'), 'now a directory\n');
  },
);

t.test('files outside the working tree are never changed through a symlink', async (t) => {
  const dir = t.testdir({ outside: { x: 'precious\n', file: 'precious\n' } });
  const sample = makeRepository(join(dir, 'repo'));
  const { base, sealed } = twoCommits(sample);
  sample.git('reset', '-q', '--hard', base);
  sample.git('update-ref', 'refs/heads/main', sealed);
  rmSync(join(sample.dir, 'gone'), { recursive: true });
  symlinkSync(join(dir, 'outside'), join(sample.dir, 'gone'));
  symlinkSync(join(dir, 'outside'), join(sample.dir, 'new'));
  const target: Target = { ref: 'refs/heads/main', expected: base, checkedOutHere: true };
  t.same(await finishFollow(await openRepository(sample.dir), target, sealed), {
    state: 'followed',
    left: ['new/file'],
  });
  t.equal(readFileSync(join(dir, 'outside/x'), 'utf8'), 'precious\n');
  t.equal(readFileSync(join(dir, 'outside/file'), 'utf8'), 'precious\n');
});

t.test('finishing a follow waits for a git process that outlives its parent', async (t) => {
  const dir = t.testdir({ bin: {} });
  const sample = makeRepository(join(dir, 'main'));
  const { base, sealed } = twoCommits(sample);
  sample.git('reset', '-q', '--hard', base);
  const repo = await openRepository(sample.dir);
  const target: Target = { ref: 'refs/heads/main', expected: base, checkedOutHere: true };
  const [begun, release] = [join(dir, 'begun'), join(dir, 'release')];
  const run = startFollow(sample.dir, 'swap', target, sealed, holdReadTree(join(dir, 'bin'), begun, release));
  await until(() => existsSync(begun), 'the read-tree that follows the swap');
  run.kill(false);
  await run.ended;
  t.ok(locksBelow(join(sample.dir, '.git')).includes('index.lock'), 'the index is locked');
  let isSettled = false;
  const settled = settleGit(repo).then(() => {
    isSettled = true;
  });
  await lookOn(100);
  t.notOk(isSettled, 'the git is still at work');
  writeFileSync(release, '');
  await settled;
  t.same(locksBelow(join(sample.dir, '.git')), []);
  t.same(await finishFollow(repo, target, sealed), { state: 'followed' });
  t.equal(sample.git('status', '--porcelain'), '');
});

/** Puts a `git` before the real one on PATH. Its read-tree makes the file `begun`, then waits for the file `release`. */
function holdReadTree(bin: string, begun: string, release: string): NodeJS.ProcessEnv {
  const real = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'git'))
    .find((path) => existsSync(path));
  const lines = [
    '#!/bin/sh',
    `case " $* " in *" read-tree "*) : > '${begun}'; until [ -e '${release}' ]; do sleep 0.01; done;; esac`,
    `exec '${real}' "$@"`,
  ];
  writeFileSync(join(bin, 'git'), lines.join('\n'), { mode: 0o755 });
  return { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
}

t.test('nothing is changed after another commit on top or a checkout of something else', async (t) => {
  const sample = makeRepository(t.testdir());
  const { base, sealed } = twoCommits(sample);
  const repo = await openRepository(sample.dir);
  const target: Target = { ref: 'refs/heads/main', expected: base, checkedOutHere: true };
  sample.commit({ top: 't\n' });
  t.same(await finishFollow(repo, target, sealed), { state: 'followed' }, 'index and files agree with both');
  writeFileSync(join(sample.dir, 'big/1'), '');
  t.match(await finishFollow(repo, target, sealed), { state: 'failed' });
  sample.git('checkout', '-q', '-f', '--detach', sealed);
  t.match(await finishFollow(repo, target, sealed), { state: 'not-checked-out' });
  t.equal(sample.git('status', '--porcelain'), '');
});
