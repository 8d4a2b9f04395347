import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { dirtyPaths, refuseDirty, type Touched } from '../../../workspace/git/dirty-paths.ts';
import { followWorktree, swapTarget } from '../../../workspace/git/follow-target.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { planTarget } from '../../../workspace/git/target.ts';
import { makeRepository, type SampleRepository } from './sample-repository.ts';
import { snapshot } from './snapshot.ts';

const runId = '0198c0de-7abc-7def-8123-456789abcdef';

/** A commit on top of HEAD that no ref and no working tree knows. */
function loose(sample: SampleRepository, files: Readonly<Record<string, string | null>>): string {
  const env = ['-c', 'core.bare=false'];
  const head = sample.git('rev-parse', 'HEAD').trim();
  const index = sample.git('rev-parse', '--absolute-git-dir').trim();
  const saved = readFileSync(join(index, 'index'));
  for (const [path, content] of Object.entries(files)) {
    if (content === null) sample.git(...env, 'update-index', '--force-remove', path);
    else {
      const blob = sample.gitInput(content, 'hash-object', '-w', '--no-filters', '--stdin').trim();
      sample.git(...env, 'update-index', '--replace', '--add', '--cacheinfo', `100644,${blob},${path}`);
    }
  }
  const tree = sample.git('write-tree').trim();
  writeFileSync(join(index, 'index'), saved);
  return sample.git('commit-tree', '-p', head, '-m', 'sealed', tree).trim();
}

t.test('the target is `--onto`, else the base branch, the checked-out branch or a new one', async (t) => {
  const sample = makeRepository(t.testdir());
  const base = sample.commit({ a: '1' });
  sample.git('branch', 'release');
  sample.git('tag', 'v1');
  const repo = await openRepository(sample.dir);
  const plan = (baseRef: string, onto?: string) =>
    planTarget(repo, { baseRef, baseCommit: base, runId, ...(onto === undefined ? {} : { onto }) });
  t.same(await plan('main'), {
    ref: 'refs/heads/main',
    expected: base,
    checkedOutHere: true,
  });
  t.same(await plan('release'), {
    ref: 'refs/heads/release',
    expected: base,
    checkedOutHere: false,
  });
  t.match(await plan('refs/heads/release'), { ref: 'refs/heads/release' });
  t.match(await plan('v1'), { ref: 'refs/heads/main', checkedOutHere: true });
  t.match(await plan(base), { ref: 'refs/heads/main' });
  t.match(await plan('main', 'release'), { ref: 'refs/heads/release' });
  t.same(await plan('main', 'fresh/one'), {
    ref: 'refs/heads/fresh/one',
    expected: undefined,
    checkedOutHere: false,
  });
  await t.rejects(plan('main', '--output=x'), { code: 'REF_INVALID' });
  await t.rejects(plan('main', 'main/below'), {
    code: 'REF_INVALID',
    detail: { taken: 'refs/heads/main' },
  });

  const ahead = sample.commit({ a: '2' });
  t.same(await plan('main'), { ref: 'refs/heads/main', expected: ahead, checkedOutHere: true });
  t.match(await plan('heads/main'), { ref: 'refs/heads/main', expected: ahead });
  t.match(await plan('release', 'main'), { ref: 'refs/heads/main', expected: ahead });
  t.match(await plan('v1'), { ref: `refs/heads/writ/${runId}`, expected: undefined });
  sample.git('checkout', '-q', '--detach', base);
  t.match(await plan(base), { ref: `refs/heads/writ/${runId}` });
  t.match(await plan('HEAD'), { ref: `refs/heads/writ/${runId}` });
  sample.git('branch', 'writ', base);
  await t.rejects(plan(base), { code: 'REF_INVALID', detail: { taken: 'refs/heads/writ' } });
  sample.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/release');
  t.match(await plan('alias'), { ref: 'refs/heads/release' });
});

t.test('on an unborn HEAD the target is its branch, which does not exist yet', async (t) => {
  const sample = makeRepository(t.testdir());
  const repo = await openRepository(sample.dir);
  for (const baseRef of ['main', 'HEAD'])
    t.same(await planTarget(repo, { baseRef, baseCommit: undefined, runId }), {
      ref: 'refs/heads/main',
      expected: undefined,
      checkedOutHere: true,
    });
});

t.test('a branch that is checked out in another working tree is never moved', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'main'));
  const base = sample.commit({ a: '1' });
  sample.git('worktree', 'add', '-q', '-b', 'side', join(dir, 'side'));
  const repo = await openRepository(join(dir, 'side'));
  t.same(await planTarget(repo, { baseRef: 'main', baseCommit: base, runId }), {
    ref: 'refs/heads/side',
    expected: base,
    checkedOutHere: true,
  });
  await t.rejects(planTarget(repo, { baseRef: 'side', baseCommit: base, runId, onto: 'main' }), {
    code: 'TARGET_CHECKED_OUT',
  });
});

t.test('after the swap the index and files follow, and other local changes stay', async (t) => {
  const sample = makeRepository(t.testdir());
  const base = sample.commit({ a: 'one\n', gone: 'x\n', mine: 'm\n', staged: 's\n' });
  sample.write({ mine: 'my change\n', staged: 'my stage\n', untracked: 'u\n' });
  sample.git('add', 'staged');
  const repo = await openRepository(sample.dir);
  const target = await planTarget(repo, { baseRef: 'main', baseCommit: base, runId });
  const sealed = loose(sample, { a: 'two\n', gone: null, 'dir/new': 'n\n', staged: 's\n' });
  t.same(await swapTarget(repo, target, sealed, 'writ: commit'), { moved: true });
  t.same(await followWorktree(repo, target, sealed), { state: 'followed' });
  t.equal(sample.git('rev-parse', 'main').trim(), sealed);
  t.equal(sample.git('status', '--porcelain', '-uall'), ' M mine\nM  staged\n?? untracked\n');
  t.equal(readFileSync(join(sample.dir, 'a'), 'utf8'), 'two\n');
  t.equal(existsSync(join(sample.dir, 'gone')), false);
  t.equal(readFileSync(join(sample.dir, 'dir/new'), 'utf8'), 'n\n');
  t.match(sample.git('reflog', '-1', 'main'), /writ: commit/);
});

t.test('a target that moved meanwhile is reported, and nothing is changed', async (t) => {
  const sample = makeRepository(t.testdir());
  const base = sample.commit({ a: 'one\n' });
  const repo = await openRepository(sample.dir);
  const target = await planTarget(repo, { baseRef: 'main', baseCommit: base, runId });
  const sealed = loose(sample, { a: 'two\n' });
  const moved = sample.commit({ a: 'three\n' });
  mkdirSync(join(repo.commonDir, 'writ', 'git-locks'), { recursive: true });
  const before = snapshot(sample.dir);
  t.same(await swapTarget(repo, target, sealed, 'x'), {
    moved: false,
    stale: [{ ref: 'refs/heads/main', expected: base, found: moved }],
  });
  t.equal(snapshot(sample.dir), before);
});

t.test('files stay unchanged if HEAD is elsewhere or git would overwrite local changes', async (t) => {
  const sample = makeRepository(t.testdir());
  const base = sample.commit({ a: 'one\n' });
  const repo = await openRepository(sample.dir);
  const sealed = loose(sample, { a: 'two\n', b: 'new\n' });
  const onto = await planTarget(repo, { baseRef: 'main', baseCommit: base, runId, onto: 'side' });
  await swapTarget(repo, onto, sealed, 'x');
  t.same(await followWorktree(repo, onto, sealed), { state: 'not-checked-out' });
  const target = await planTarget(repo, { baseRef: 'main', baseCommit: base, runId });
  sample.write({ a: 'mine\n' });
  await swapTarget(repo, target, sealed, 'x');
  t.match(await followWorktree(repo, target, sealed), { state: 'failed', reason: /a/ });
  t.equal(readFileSync(join(sample.dir, 'a'), 'utf8'), 'mine\n');
  sample.git('checkout', '-q', '--detach');
  t.same(await followWorktree(repo, target, sealed), { state: 'not-checked-out' });
});

t.test('the working tree follows the first commit of an unborn branch', async (t) => {
  const sample = makeRepository(t.testdir());
  const repo = await openRepository(sample.dir);
  const target = await planTarget(repo, { baseRef: 'main', baseCommit: undefined, runId });
  const blob = sample.gitInput('x\n', 'hash-object', '-w', '--stdin').trim();
  const sealed = sample
    .git('commit-tree', '-m', 'x', sample.gitInput(`100644 blob ${blob}\tf\n`, 'mktree').trim())
    .trim();
  t.same(await swapTarget(repo, target, sealed, 'x'), { moved: true });
  t.same(await followWorktree(repo, target, sealed), { state: 'followed' });
  t.equal(sample.git('status', '--porcelain'), '');
  t.equal(readFileSync(join(sample.dir, 'f'), 'utf8'), 'x\n');
});

const modify = (path: string): Touched => ({ path, changeType: 'modify' });
const add = (path: string): Touched => ({ path, changeType: 'add' });
const remove = (path: string): Touched => ({ path, changeType: 'delete' });
/** git's object of this content. */
const blobOf = (text: string): string =>
  createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex');
const write = (path: string, changeType: Touched['changeType'] = 'modify'): Touched => ({
  path,
  changeType,
  newMode: '100644',
  newBlob: blobOf('mine'),
});

interface Case {
  readonly name: string;
  readonly prepare: (sample: SampleRepository) => void;
  readonly files: readonly Touched[];
  readonly dirty: readonly Readonly<Record<string, string>>[];
}

const cases: readonly Case[] = [
  {
    name: 'a clean tree',
    prepare: () => {},
    files: [modify('a'), add('new'), add('d/new'), remove('d/f')],
    dirty: [],
  },
  {
    name: 'a changed file that is not touched',
    prepare: (s) => s.write({ a: 'mine' }),
    files: [modify('b')],
    dirty: [],
  },
  {
    name: 'a changed file',
    prepare: (s) => s.write({ a: 'mine' }),
    files: [modify('a')],
    dirty: [{ path: 'a', reason: 'modified' }],
  },
  {
    name: 'a deleted file',
    prepare: (s) => rmSync(join(s.dir, 'a')),
    files: [modify('a')],
    dirty: [{ path: 'a', reason: 'modified' }],
  },
  {
    name: 'a changed mode',
    prepare: (s) => chmodSync(join(s.dir, 'a'), 0o755),
    files: [modify('a')],
    dirty: [{ path: 'a', reason: 'modified' }],
  },
  {
    name: 'what the patch writes is staged, and edited further in the file',
    prepare: (s) => {
      s.write({ a: 'mine', new: 'mine', b: 'mine' });
      s.git('add', 'a', 'new', 'b');
      s.write({ a: 'later', new: 'later' });
      rmSync(join(s.dir, 'b'));
      s.git('rm', '-q', '--cached', 'd/f');
      s.git('mv', 'd/g', 'd/h');
    },
    files: [
      write('a'),
      write('new', 'add'),
      write('b'),
      remove('d/f'),
      { path: 'd/h', oldPath: 'd/g', changeType: 'rename', newMode: '100644', newBlob: blobOf('g\n') },
    ],
    dirty: [],
  },
  {
    name: 'something else than what the patch writes is staged',
    prepare: (s) => {
      s.write({ a: 'other', b: 'mine', 'd/f': 'mine' });
      s.git('add', 'a', 'd/f');
      s.git('add', '--chmod=+x', 'b');
    },
    files: [write('a'), write('b'), remove('d/f')],
    dirty: [
      { path: 'a', reason: 'staged' },
      { path: 'b', reason: 'staged' },
      { path: 'd/f', reason: 'staged' },
    ],
  },
  {
    name: 'a staged change',
    prepare: (s) => {
      s.write({ a: 'mine' });
      s.git('add', 'a');
    },
    files: [modify('a')],
    dirty: [{ path: 'a', reason: 'staged' }],
  },
  {
    name: 'a staged change with the file put back',
    prepare: (s) => {
      s.write({ a: 'mine' });
      s.git('add', 'a');
      s.write({ a: 'a\n' });
    },
    files: [modify('a')],
    dirty: [{ path: 'a', reason: 'staged' }],
  },
  {
    name: 'a staged new file where one is added',
    prepare: (s) => {
      s.write({ n: 'mine' });
      s.git('add', 'n');
    },
    files: [add('n')],
    dirty: [{ path: 'n', reason: 'staged' }],
  },
  {
    name: 'the old side of a rename',
    prepare: (s) => s.write({ a: 'mine' }),
    files: [{ path: 'n', oldPath: 'a', changeType: 'rename' }],
    dirty: [{ path: 'a', reason: 'modified' }],
  },
  {
    name: 'an untracked file in the way',
    prepare: (s) => s.write({ 'd/n': 'mine' }),
    files: [add('d/n')],
    dirty: [{ path: 'd/n', reason: 'untracked' }],
  },
  {
    name: 'an ignored file in the way',
    prepare: (s) => s.write({ 'x.log': 'mine' }),
    files: [add('x.log')],
    dirty: [{ path: 'x.log', reason: 'untracked' }],
  },
  {
    name: 'an untracked file where a directory is needed',
    prepare: (s) => s.write({ n: 'mine' }),
    files: [add('n/f')],
    dirty: [{ path: 'n', reason: 'obstructed' }],
  },
  {
    name: 'an untracked directory where a file is needed',
    prepare: (s) => s.write({ 'n/mine': 'm' }),
    files: [add('n')],
    dirty: [{ path: 'n/mine', reason: 'obstructed' }],
  },
  {
    name: 'an empty directory where a file is needed',
    prepare: (s) => mkdirSync(join(s.dir, 'n')),
    files: [add('n')],
    dirty: [],
  },
  {
    name: 'a tracked file that becomes a directory',
    prepare: () => {},
    files: [remove('a'), add('a/f')],
    dirty: [],
  },
  {
    name: 'a tracked directory that becomes a file',
    prepare: () => {},
    files: [remove('d/f'), remove('d/g'), add('d')],
    dirty: [],
  },
  {
    name: 'a tracked directory with a stray file that becomes a file',
    prepare: (s) => s.write({ 'd/stray': 'x' }),
    files: [remove('d/f'), remove('d/g'), add('d')],
    dirty: [{ path: 'd/stray', reason: 'obstructed' }],
  },
  {
    name: 'a directory replaced by a symlink',
    prepare: (s) => {
      rmSync(join(s.dir, 'd'), { recursive: true });
      symlinkSync('/tmp', join(s.dir, 'd'));
    },
    files: [add('d/n')],
    dirty: [{ path: 'd', reason: 'obstructed' }],
  },
  {
    name: 'a change hidden by assume-unchanged',
    prepare: (s) => {
      s.git('update-index', '--assume-unchanged', 'a');
      s.write({ a: 'mine' });
    },
    files: [modify('a')],
    dirty: [{ path: 'a', reason: 'modified' }],
  },
  {
    name: 'a file whose times alone differ',
    prepare: (s) => utimesSync(join(s.dir, 'a'), 1e9, 1e9),
    files: [modify('a')],
    dirty: [],
  },
  {
    name: 'a hidden change in a file named like a pattern',
    prepare: (s) => {
      s.commit({ '?': 'q\n', 0: '0\n' });
      s.git('--literal-pathspecs', 'update-index', '--assume-unchanged', '?');
    },
    files: [modify('?')],
    dirty: [],
  },
  {
    name: 'an unmerged path anywhere',
    prepare: (s) => {
      s.git('checkout', '-q', '-b', 'x');
      s.commit({ b: 'x\n' });
      s.git('checkout', '-q', 'main');
      s.commit({ b: 'y\n' });
      try {
        s.git('merge', '-q', 'x');
      } catch {
        /* the conflict that is wanted */
      }
    },
    files: [modify('a')],
    dirty: [{ path: 'b', reason: 'unmerged' }],
  },
  {
    name: 'line ends that git converts',
    prepare: (s) => {
      s.git('config', 'core.autocrlf', 'true');
      rmSync(join(s.dir, 'a'));
      s.git('checkout', '-q', 'a');
    },
    files: [modify('a')],
    dirty: [],
  },
  {
    name: 'another commit of a submodule that is checked out',
    prepare: (s) => {
      s.write({ 'sub/file': 'x\n' });
      s.git('-C', 'sub', 'init', '-q', '-b', 'main');
      s.git('-C', 'sub', 'add', '.');
      s.git('-C', 'sub', 'commit', '-q', '-m', 'sub');
      s.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'sub');
      s.git('commit', '-q', '-m', 'with sub');
    },
    files: [{ ...modify('sub'), oldMode: '160000', newMode: '160000' }],
    dirty: [],
  },
  {
    name: 'a submodule at another commit, or one that becomes a file',
    prepare: (s) => {
      s.write({ 'sub/file': 'x\n', 'other/file': 'x\n' });
      for (const name of ['sub', 'other']) {
        s.git('-C', name, 'init', '-q', '-b', 'main');
        s.git('-C', name, 'add', '.');
        s.git('-C', name, 'commit', '-q', '-m', 'sub');
        s.git('-c', 'advice.addEmbeddedRepo=false', 'add', name);
      }
      s.git('commit', '-q', '-m', 'with sub');
      s.git('-C', 'sub', 'commit', '-q', '--allow-empty', '-m', 'mine');
    },
    files: [
      { ...modify('sub'), oldMode: '160000', newMode: '160000' },
      { ...modify('other'), oldMode: '160000', newMode: '100644' },
    ],
    dirty: [
      { path: 'other/.git/COMMIT_EDITMSG', reason: 'obstructed' },
      { path: 'sub', reason: 'modified' },
    ],
  },
  {
    name: 'names that look like patterns',
    prepare: (s) => s.write({ '*': 'mine', a: 'mine' }),
    files: [modify('b'), add('*')],
    dirty: [{ path: '*', reason: 'untracked' }],
  },
];

for (const { name, prepare, files, dirty } of cases) {
  t.test(`dirty paths are found before any work (${name})`, async (t) => {
    const sample = makeRepository(t.testdir());
    sample.commit({ a: 'a\n', b: 'b\n', 'd/f': 'f\n', 'd/g': 'g\n', '.gitignore': '*.log\n' });
    prepare(sample);
    const before = snapshot(sample.dir);
    const repo = await openRepository(sample.dir);
    const found = await dirtyPaths(repo, files);
    t.same(found, dirty);
    if (dirty.length > 0)
      t.throws(() => refuseDirty(found), {
        code: 'WORKTREE_DIRTY',
        detail: { count: dirty.length, paths: dirty },
      });
    else refuseDirty(found);
    t.equal(snapshot(sample.dir), before, 'looking changes nothing, the index included');
  });
}
