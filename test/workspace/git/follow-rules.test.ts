import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { followNotices, viewJournal } from '../../../engine/record/journal-view.ts';
import { followTarget, moveTarget, type TargetMove } from '../../../engine/seal/move-target.ts';
import { dirtyPaths, touchedBy } from '../../../workspace/git/dirty-paths.ts';
import { finishFollow } from '../../../workspace/git/follow-target.ts';
import { readLocalContent } from '../../../workspace/git/include-local.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import { type LocalChanges, requireLandable, stuckPaths } from '../../../workspace/git/set-aside.ts';
import { casesOf } from '../../rooms/long.ts';
import { makeRepository, type SampleRepository } from './sample-repository.ts';

const runId = '01a21fa1-8dcd-7528-a91d-ed9ff744cade';
const names = Array.from({ length: 12 }, (_, at) => String(at + 1));

/** How a repository makes files differ from what git stores of them. */
interface Rule {
  readonly lineEnd?: string;
  readonly head?: string;
  readonly encoding?: BufferEncoding;
  /** Runs before the first commit. */
  readonly first?: (sample: SampleRepository) => void;
  /** Runs when the working tree is at the base commit. */
  readonly last?: (sample: SampleRepository) => void;
  /** Other files that the sealed commit changes. */
  readonly others?: (sample: SampleRepository, content: string) => void;
}

const attributes =
  (text: string) =>
  ({ dir }: SampleRepository): void =>
    writeFileSync(join(dir, '.git/info/attributes'), `${text}\n`);
const latin1Name = Buffer.from('n\xe4me', 'latin1');
const rules: Readonly<Record<string, Rule>> = {
  'CRLF in the blob with core.autocrlf=input': {
    lineEnd: '\r\n',
    last: (sample) => sample.git('config', 'core.autocrlf', 'input'),
  },
  'CRLF in the blob with text=auto': { lineEnd: '\r\n', last: attributes('* text=auto') },
  'an executable blob with core.fileMode=false': {
    first: ({ dir }) => {
      writeFileSync(join(dir, 'a'), '');
      chmodSync(join(dir, 'a'), 0o755);
    },
    last: (sample) => {
      sample.git('config', 'core.fileMode', 'false');
      chmodSync(join(sample.dir, 'a'), 0o644);
    },
  },
  'a symlink as a file with core.symlinks=false': {
    others: (sample, content) => {
      sample.git('config', 'core.symlinks', 'true');
      rmSync(join(sample.dir, 'link'), { force: true });
      sample.write({ link: { link: content } });
    },
    last: (sample) => {
      sample.git('config', 'core.symlinks', 'false');
      rmSync(join(sample.dir, 'link'));
      sample.git('checkout', '-q', '--', 'link');
    },
  },
  ident: {
    head: '$Id$',
    first: attributes('a ident'),
    last: (sample) => {
      rmSync(join(sample.dir, 'a'));
      sample.git('checkout', '-q', '--', 'a');
    },
  },
  'working-tree-encoding': { encoding: 'utf16le', first: attributes('a working-tree-encoding=UTF-16LE') },
  'a changed file whose name is not UTF-8': {
    others: ({ dir }, content) => writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), latin1Name]), content),
  },
};

function makeScene(t: Test, rule: Rule) {
  const box = t.testdir();
  const sample = makeRepository(join(box, 'repo'));
  const { lineEnd = '\n', encoding = 'utf8', head = '', others } = rule;
  const path = join(sample.dir, 'a');
  /** The file with `five` and `eleven` in these lines. */
  const lines = (five: string, eleven: string): Buffer => {
    const all = [head, ...names.with(4, five).with(10, eleven), ''];
    return Buffer.from(all.join(lineEnd), encoding);
  };
  /** Replaces text in the file as it is on disk. */
  const edit = (from: string, to: string): void =>
    writeFileSync(
      path,
      readFileSync(path, encoding).replace(`${from}${lineEnd}`, `${to}${lineEnd}`),
      encoding,
    );
  rule.first?.(sample);
  others?.(sample, 'before');
  const base = sample.commit({ a: lines('5', '11') });
  others?.(sample, 'after');
  const commit = sample.commit({ a: lines('five', '11') });
  const both = sample.commit({ a: lines('five', 'mine') });
  sample.git('reset', '-q', '--hard', base);
  rule.last?.(sample);
  t.equal(sample.git('status', '--porcelain'), '', 'clean at first');
  const move = {
    runId,
    target: { ref: 'refs/heads/main', expected: base, checkedOutHere: true },
    files: touchedBy(['a']),
    policy: { commit: undefined },
    when: 'during the run',
  };
  const diff = (): string =>
    sample
      .git('diff', 'HEAD')
      .split('\n')
      .filter((line) => /^[+-](?![+-])/.test(line))
      .map((line) => line.trimEnd())
      .join();
  return { box, sample, base, commit, both, move, edit, diff };
}

for (const [name, rule] of casesOf(rules, ['CRLF in the blob with core.autocrlf=input']))
  t.test(`the working tree follows the sealed commit: ${name}`, async (t) => {
    await t.test('local changes that were set aside are merged back', async (t) => {
      const { sample, commit, move, edit, diff } = makeScene(t, rule);
      edit('11', 'mine');
      const repository = await openRepository(sample.dir);
      const setAside: TargetMove = { ...move, commit, local: { choice: 'set-aside', atMs: 1 } };
      t.same(await moveTarget(repository, setAside), {});
      const followed = await followTarget(repository, runId, move.target, commit, false);
      t.match(followed, { state: 'followed', left: undefined, kept: undefined, merged: /^[0-9a-f]{40}$/ });
      t.equal(sample.git('status', '--porcelain'), ' M a\n');
      t.equal(diff(), '-11,+mine');
    });
    await t.test('local changes that the commit includes', async (t) => {
      const { box, sample, base, both, move, edit } = makeScene(t, rule);
      edit('11', 'mine');
      const repository = await openRepository(sample.dir);
      const dirty = await dirtyPaths(repository, move.files);
      const scratch = await createScratch(join(box, 'scratch'), repository);
      const included = await readLocalContent(repository, scratch, base, move.target, dirty);
      const including: TargetMove = {
        ...move,
        commit: both,
        local: { choice: 'include', atMs: 1, included },
      };
      t.same(await moveTarget(repository, including), {});
      const followed = await followTarget(repository, runId, move.target, both, false, true);
      t.match(followed, { state: 'followed', left: undefined, merged: /^[0-9a-f]{40}$/ });
      t.equal(sample.git('status', '--porcelain'), '');
    });
    await t.test('a clean working tree after a kill', async (t) => {
      const { sample, commit, move, edit } = makeScene(t, rule);
      const repository = await openRepository(sample.dir);
      sample.git('update-ref', 'refs/heads/main', commit);
      for (const about of ['at once', 'again']) {
        t.same(await finishFollow(repository, move.target, commit), { state: 'followed' }, about);
        t.equal(sample.git('status', '--porcelain'), '', about);
      }
      edit('11', 'mine');
      const before = sample.git('status', '--porcelain');
      t.same(await finishFollow(repository, move.target, commit), { state: 'followed' });
      t.equal(sample.git('status', '--porcelain'), before, 'a later edit stays');
    });
  });

t.test('a path that did not follow is a notice, and the ref with the local changes stays', async (t) => {
  const { box, sample, base, both, move, edit } = makeScene(t, {});
  edit('11', 'mine');
  const repository = await openRepository(sample.dir);
  const dirty = await dirtyPaths(repository, move.files);
  const scratch = await createScratch(join(box, 'scratch'), repository);
  const included = await readLocalContent(repository, scratch, base, move.target, dirty);
  const including: TargetMove = { ...move, commit: both, local: { choice: 'include', atMs: 1, included } };
  t.same(await moveTarget(repository, including), {});
  sample.git('checkout', '-q', base, '--', 'a');
  edit('8', 'later');
  const followed = await followTarget(repository, runId, move.target, both, true, true);
  t.match(followed, { state: 'followed', left: ['a'], kept: { why: /`a`/ }, merged: undefined });
  t.match(sample.git('for-each-ref', 'refs/writ'), runId);
  const journal = viewJournal([
    { type: 'step-ended', data: { step: 'seal/follow', answer: followed } },
  ] as unknown as Parameters<typeof viewJournal>[0]);
  t.match(followNotices(journal.follow ?? { state: 'not-checked-out' }), [
    /`a` changed meanwhile and did not follow/,
    /not merged back: `a` was changed meanwhile/,
  ]);
});

t.test('files that could not follow have a notice with advice that does not depend on the reason', (t) => {
  t.match(followNotices({ state: 'failed', reason: '`main` has moved on since' }), [
    /\(`main` has moved on since\): `git status` shows .* `git restore --staged --worktree PATH`/,
  ]);
  t.end();
});

t.test('mixed line endings can be set aside with core.safecrlf=true', async (t) => {
  const { sample, commit, move } = makeScene(t, { first: attributes('a text') });
  sample.git('config', 'core.safecrlf', 'true');
  writeFileSync(join(sample.dir, 'a'), sample.git('show', 'HEAD:a').replace('11\n', 'mine\r\n'));
  const repository = await openRepository(sample.dir);
  t.same(await moveTarget(repository, { ...move, commit, local: { choice: 'set-aside', atMs: 1 } }), {});
  const followed = await followTarget(repository, runId, move.target, commit, false);
  t.match(followed, { state: 'followed', merged: /^[0-9a-f]{40}$/ });
});

t.test('local changes that git would store wrongly are found before work, and are stuck', async (t) => {
  const stuckOf = async (sample: SampleRepository, path: string): Promise<readonly string[]> => {
    const repository = await openRepository(sample.dir);
    const dirty = await dirtyPaths(repository, [{ path, changeType: 'add' }]);
    const stuck = await stuckPaths(repository, { expected: sample.git('rev-parse', 'HEAD').trim() }, dirty);
    return stuck.map((one) => `${one.path} ${one.reason}`);
  };
  await t.test('a name that is not UTF-8', async (t) => {
    const rule = rules['a changed file whose name is not UTF-8'] ?? {};
    const { sample } = makeScene(t, rule);
    rule.others?.(sample, 'mine');
    const text = latin1Name.toString('utf8');
    t.same(await stuckOf(sample, text), [`${text} modified`]);
    sample.git('rm', '-q', '--cached', '-r', '.');
    sample.git('commit', '-q', '-m', 'untracked');
    t.same(await stuckOf(sample, text), [`${text} untracked`]);
  });
  await t.test('a path that goes through a filter', async (t) => {
    const { sample, edit } = makeScene(t, { first: attributes('a filter=secret') });
    sample.git('config', 'filter.secret.clean', 'sed s/mine/hidden/');
    edit('11', 'mine');
    t.same(await stuckOf(sample, 'a'), ['a modified']);
  });
  await t.test('a submodule, of which no choice is offered that would be refused', async (t) => {
    const { sample, edit } = makeScene(t, {});
    const head = sample.git('rev-parse', 'HEAD').trim();
    sample.git('update-index', '--add', '--cacheinfo', `160000,${head},sub`);
    sample.git('commit', '-q', '-m', 'sub');
    sample.git('update-index', '--cacheinfo', `160000,${'1'.repeat(40)},sub`);
    edit('11', 'mine');
    const repository = await openRepository(sample.dir);
    const refusal = (choice: LocalChanges, paths: readonly string[]) =>
      t.rejects(requireLandable(repository, { expected: head }, touchedBy(paths), choice), {
        code: 'WORKTREE_DIRTY',
        hints: [/^writ can neither include nor set aside .* at `sub`: .*`git submodule update`/],
      });
    await refusal('stop', ['a', 'sub']);
    await refusal('set-aside', ['a', 'sub']);
    const plain = requireLandable(repository, { expected: head }, touchedBy(['a']));
    await t.rejects(plain, { code: 'WORKTREE_DIRTY', hints: [/--local-changes/] });
  });
  await t.test('a file that --skip-worktree hides', async (t) => {
    const { sample, edit } = makeScene(t, {});
    sample.git('update-index', '--skip-worktree', 'a');
    t.same(await stuckOf(sample, 'a'), [], 'without a change');
    edit('11', 'mine');
    t.same(await stuckOf(sample, 'a'), ['a modified']);
    rmSync(join(sample.dir, 'a'));
    t.same(await stuckOf(sample, 'a'), [], 'as in a sparse checkout');
  });
});
