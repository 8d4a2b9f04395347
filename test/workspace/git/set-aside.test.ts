import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import t, { type Test } from 'tap';
import { followTarget, moveTarget, type TargetMove } from '../../../engine/seal/move-target.ts';
import { dirtyPaths } from '../../../workspace/git/dirty-paths.ts';
import { readLocalContent } from '../../../workspace/git/include-local.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import {
  dropSetAside,
  setAsideNoticeOf,
  setAsideNotices,
  setAsideRef,
  storeSetAside,
} from '../../../workspace/git/set-aside.ts';
import { everyThird, long } from '../../rooms/long.ts';
import { bundleScript } from './bundle.ts';
import { makeRepository } from './sample-repository.ts';

const runId = '01a21fa1-8dcd-7528-a91d-ed9ff744cade';
const ref = setAsideRef(runId);
const lines = (first: string, last: string): string => `${first}\n2\n3\n4\n5\n6\n7\n8\n${last}\n`;
const realGit = spawnSync('sh', ['-c', 'command -v git']).stdout.toString().trim();

/** A sealed commit that waits for its branch, and a working tree with local changes at its paths. */
function makeScene(t: Test) {
  const box = t.testdir({ bin: {} });
  const sample = makeRepository(join(box, 'repo'));
  const base = sample.commit({
    both: lines('one', 'nine'),
    mode: lines('one', 'nine'),
    gone: 'gone\n',
    moved: lines('one', 'nine'),
    other: 'other\n',
  });
  sample.git('mv', 'moved', 'renamed');
  sample.git('rm', '-q', 'gone');
  const commit = sample.commit({
    both: lines('ONE', 'nine'),
    mode: lines('ONE', 'nine'),
    same: 'the same\n',
    other: 'sealed\n',
  });
  sample.git('reset', '-q', '--hard', base);
  const move: TargetMove = {
    runId,
    target: { ref: 'refs/heads/main', expected: base, checkedOutHere: true },
    commit,
    files: [
      ...['both', 'mode', 'other'].map((path) => ({ path, changeType: 'modify' as const })),
      { path: 'gone', changeType: 'delete' },
      { path: 'renamed', oldPath: 'moved', changeType: 'rename' },
      { path: 'same', changeType: 'add' },
    ],
    policy: { commit: undefined },
    when: 'during the run',
    local: { choice: 'set-aside', atMs: 1_700_000_000_000 },
  };
  const read = (path: string): string => readFileSync(join(sample.dir, path), 'utf8');
  return { box, sample, base, commit, move, read };
}

type Scene = ReturnType<typeof makeScene>;

/** Staged, unstaged, mode, deletion and untracked: each at a path of the change. */
function changeLocally({ sample }: Scene): void {
  sample.write({ both: lines('one', 'staged') });
  sample.git('add', 'both');
  sample.write({ both: lines('one', 'mine'), moved: lines('one', 'MOVED'), same: 'the same\n' });
  chmodSync(join(sample.dir, 'mode'), 0o755);
  rmSync(join(sample.dir, 'gone'));
}

async function land({ sample, move }: Scene, isAgain = false, drops = true) {
  const repository = await openRepository(sample.dir);
  const { lost } = await moveTarget(repository, move);
  if (lost !== undefined) return { lost };
  const follow = await followTarget(repository, runId, move.target, move.commit, isAgain);
  if (follow.merged !== undefined && drops) await dropSetAside(repository, runId, follow.merged);
  return follow;
}

function hasMerged(t: Test, { sample, read, commit }: Scene, about: string): void {
  t.equal(sample.git('rev-parse', 'HEAD').trim(), commit, `${about}: sealed`);
  t.equal(
    sample.git('status', '--porcelain', '-uall'),
    'MM both\n M mode\n M renamed\n',
    `${about}: staged and unstaged as before`,
  );
  t.equal(read('both'), lines('ONE', 'mine'), about);
  t.equal(sample.git('show', ':both'), lines('ONE', 'staged'), about);
  t.equal(statSync(join(sample.dir, 'mode')).mode & 0o100, 0o100, about);
  t.equal(read('renamed'), lines('one', 'MOVED'), about);
  t.equal(read('same'), 'the same\n', about);
  t.notOk(existsSync(join(sample.dir, 'gone')), about);
  t.equal(read('other'), 'sealed\n', about);
  t.equal(sample.git('for-each-ref', 'refs/writ'), '', `${about}: the ref is gone`);
}

t.test('local changes are merged back after the working tree followed', async (t) => {
  const scene = makeScene(t);
  changeLocally(scene);
  t.strictSame(Object.keys(await land(scene, false, false)), ['state', 'merged']);
  const again = await land(scene, true, false);
  t.strictSame(
    Object.keys(again),
    ['state', 'merged'],
    'killed before the step was recorded: nothing is left',
  );
  scene.sample.write({ other: 'later\n' });
  t.match(await land(scene, true), { state: 'followed' }, 'a path that the user edited since is not touched');
  scene.sample.write({ other: 'sealed\n' });
  hasMerged(t, scene, 'once more');
});

t.test('local changes that the commit includes leave a clean working tree, also after a kill', async (t) => {
  const scene = makeScene(t);
  const { sample, move } = scene;
  const repository = await openRepository(sample.dir);
  const sealed = { both: lines('ONE', 'nine'), same: 'the same\n' };
  sample.write({ ...sealed, mode: lines('ONE', 'nine') });
  sample.git('add', 'both');
  const dirty = await dirtyPaths(repository, move.files);
  const scratch = await createScratch(join(scene.box, 'scratch'), repository);
  const included = await readLocalContent(repository, scratch, scene.base, move.target, dirty);
  t.same(included.paths, ['both', 'mode', 'same']);
  t.throws(() => sample.git('cat-file', '-e', included.tree), 'nothing is written into the repository');
  const including = { ...move, local: { choice: 'include' as const, atMs: 1, included } };

  for (const [path, content] of [
    ['both', lines('one', 'later')],
    ['other', 'later\n'],
  ] as const) {
    const before = scene.read(path);
    sample.write({ [path]: content });
    const { lost } = await moveTarget(repository, including);
    t.match(lost, new RegExp(`\`${path}\`.* changed in the working tree during the run`));
    t.equal(scene.read(path), content);
    t.equal(sample.git('for-each-ref', 'refs/writ'), '');
    sample.write({ [path]: before });
  }
  t.same(await moveTarget(repository, including), {});
  for (const isAgain of [false, true]) {
    const followed = await followTarget(repository, runId, move.target, move.commit, isAgain, true);
    t.match(followed, { state: 'followed', merged: /^[0-9a-f]{40}$/ });
    t.equal(sample.git('status', '--porcelain', '-uall'), '');
    t.equal(scene.read('both'), sealed.both);
  }
});

t.test('after a conflict the ref holds the local changes, and git applies them', async (t) => {
  const scene = makeScene(t);
  scene.sample.write({ both: lines('mine', 'nine'), same: 'not the same\n' });
  const outcome = await land(scene);
  t.match(outcome, { state: 'followed', kept: { ref, why: /`both`.*conflict/ } });
  t.equal(scene.sample.git('status', '--porcelain', '-uall'), '', 'the sealed content and nothing else');
  t.equal(scene.sample.git('show', `${ref}:both`), lines('mine', 'nine'));
  t.equal(scene.sample.git('show', `${ref}:same`), 'not the same\n', 'also the untracked file');
  t.match(await setAsideNotices(await openRepository(scene.sample.dir)), [`git stash apply ${ref}`]);
  const applied = spawnSync('git', ['stash', 'apply', ref], { cwd: scene.sample.dir });
  t.equal(applied.status, 1);
  t.match(scene.read('both'), /<<<<<<<[\s\S]*ONE[\s\S]*mine[\s\S]*>>>>>>>/);
  t.match(scene.read('same'), /the same[\s\S]*not the same/);
});

t.test('a file that is edited after it was stored is not overwritten', async (t) => {
  const scene = makeScene(t);
  scene.sample.write({ both: lines('one', 'mine') });
  const repository = await openRepository(scene.sample.dir);
  t.same(await moveTarget(repository, scene.move), {});
  scene.sample.write({ both: lines('one', 'newer') });
  const outcome = await followTarget(repository, runId, scene.move.target, scene.commit, false);
  t.match(outcome, { kept: { ref, why: /`both` was changed meanwhile/ } });
  t.equal(scene.read('both'), lines('one', 'newer'));
  t.equal(scene.sample.git('show', `${ref}:both`), lines('one', 'mine'));
  t.equal(scene.read('other'), 'sealed\n');
});

t.test('what a killed process stored stays in a ref if the user has edited the file since', async (t) => {
  const scene = makeScene(t);
  scene.sample.write({ both: lines('one', 'first') });
  const repository = await openRepository(scene.sample.dir);
  await storeSetAside(repository, { runId, base: scene.base, paths: ['both'], atMs: 0 });
  scene.sample.write({ both: lines('one', 'second') });
  t.match(await land(scene), { state: 'followed' });
  t.equal(scene.read('both'), lines('ONE', 'second'));
  const [earlier = '', ...others] = scene.sample
    .git('for-each-ref', '--format=%(refname)', 'refs/writ')
    .trim()
    .split('\n');
  t.same(others, []);
  t.equal(scene.sample.git('show', `${earlier}:both`), lines('one', 'first'));
  t.match(await setAsideNotices(repository), [`git stash apply ${earlier}`]);
});

t.test('in another work tree the notice names the work tree that the local changes belong to', async (t) => {
  const scene = makeScene(t);
  const { sample, box, base } = scene;
  sample.write({ both: lines('one', 'mine') });
  const repository = await openRepository(sample.dir);
  await storeSetAside(repository, { runId, base, paths: ['both'], atMs: 0 });
  mkdirSync(join(repository.commonDir, 'writ', 'runs', runId, 'scratch'), { recursive: true });
  const linked = join(box, 'the other');
  sample.git('worktree', 'add', '-q', '--detach', linked);
  const other = await openRepository(linked);
  const [here] = await setAsideNotices(repository);
  t.equal(
    here,
    `\`${ref}\` holds local changes that a run set aside: \`writ resume ${runId}\` finishes the run with them; \`git stash apply ${ref}\` restores them, \`git update-ref -d ${ref}\` deletes them`,
  );
  const { root } = repository;
  t.strictSame(await setAsideNotices(other), [
    `\`${ref}\` holds local changes of the work tree \`${root}\` that a run set aside: \`writ --repo ${root} resume ${runId}\` finishes the run with them; \`git -C ${root} stash apply ${ref}\` restores them, \`git update-ref -d ${ref}\` deletes them`,
  ]);
  await storeSetAside(other, { runId, base, paths: [], atMs: 0 });
  t.match(await setAsideNotices(repository), [
    /of the work tree `[^`]*the other` .*writ --repo '[^']*the other' resume/,
    /a run set aside/,
  ]);
  t.match(await setAsideNoticeOf(repository, runId), /git -C '[^']*the other' stash apply/);
  rmSync(linked, { recursive: true });
  t.match((await setAsideNotices(repository))[0], /holds local changes that a run set aside/, 'it is gone');
});

t.test('what cannot be set aside moves nothing', async (t) => {
  const scene = makeScene(t);
  scene.sample.write({ 'same/inside': 'mine\n' });
  const before = scene.sample.git('status', '--porcelain', '-uall');
  t.match(await land(scene), { lost: /`same\/inside`/ });
  t.equal(scene.sample.git('status', '--porcelain', '-uall'), before);
  t.equal(scene.sample.git('for-each-ref', 'refs/writ'), '');
});

t.test('a branch that another process moved leaves the local changes where they are', async (t) => {
  const scene = makeScene(t);
  changeLocally(scene);
  const before = scene.sample.git('status', '--porcelain', '-uall');
  const policy = { ref: 'refs/heads/none', commit: scene.base };
  const repository = await openRepository(scene.sample.dir);
  t.match(await moveTarget(repository, { ...scene.move, policy }), { by: 'swap-lost' });
  t.equal(scene.sample.git('status', '--porcelain', '-uall'), before);
  t.equal(scene.sample.git('for-each-ref', 'refs/writ'), '');
});

/** A directory with a `git` that runs `at` once, from its call number `n` on that `which` matches. */
function shimGit(
  { box: dir }: Scene,
  n: number,
  which: string,
  at: string,
): { readonly dir: string; hit(): boolean } {
  const count = join(dir, 'count');
  const script = `#!/bin/sh
case " $* " in ${which}) echo x >> '${count}'
if [ "$(wc -l < '${count}')" -ge ${n} ] && [ ! -e '${dir}/hit' ]; then : > '${dir}/hit'; ${at}; fi;; esac
exec '${realGit}' "$@"
`;
  writeFileSync(join(dir, 'bin', 'git'), script, { mode: 0o755 });
  return { dir: join(dir, 'bin'), hit: () => existsSync(join(dir, 'hit')) };
}

long('a command that fails between two steps loses nothing, and the next call completes it', async (t) => {
  const path = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = path;
  });
  for (const command of everyThird(['update-ref', 'write-tree', 'checkout-index', 'merge-tree', 'read-tree']))
    await t.test(command, async (t) => {
      const scene = makeScene(t);
      changeLocally(scene);
      const shim = shimGit(scene, 1, `*" ${command} "*`, 'exit 1');
      process.env.PATH = `${shim.dir}${delimiter}${path}`;
      await land(scene).catch(() => undefined);
      process.env.PATH = path;
      t.ok(shim.hit(), 'the command was called');
      t.equal(((await land(scene)) as { state?: string }).state, 'followed');
      hasMerged(t, scene, command);
    });
});

long('a process that is killed before any of its git commands loses nothing', async (t) => {
  const script = await bundleScript('land-once.ts');
  let kills = 0;
  for (let n = 1; ; n += 1) {
    const scene = makeScene(t);
    changeLocally(scene);
    const shim = shimGit(scene, n, '*', 'kill -9 $PPID; exit 1');
    const env = { ...process.env, PATH: `${shim.dir}${delimiter}${process.env.PATH}` };
    spawnSync(process.execPath, [script, scene.sample.dir, JSON.stringify(scene.move)], { env });
    const mine = lines('one', 'mine');
    const stored = spawnSync('git', ['show', `${ref}:both`], { cwd: scene.sample.dir }).stdout.toString();
    t.ok(stored === mine || [mine, lines('ONE', 'mine')].includes(scene.read('both')), `kill ${n}: not lost`);
    if (!shim.hit()) break;
    kills += 1;
    t.equal(((await land(scene)) as { state?: string }).state, 'followed');
    hasMerged(t, scene, `kill ${n}`);
  }
  t.ok(kills > 20, `${kills} kills`);
});
