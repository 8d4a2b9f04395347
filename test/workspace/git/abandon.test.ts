import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { commitMessage, createCommit } from '../../../workspace/git/create-commit.ts';
import { dirtyPaths, isIgnoredPath } from '../../../workspace/git/dirty-paths.ts';
import { followWorktree, swapTarget } from '../../../workspace/git/follow-target.ts';
import { importObjects } from '../../../workspace/git/import-objects.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { planTarget } from '../../../workspace/git/target.ts';
import { exportTree, removeWorkspace } from '../../../workspace/git/workspace.ts';
import { benchFor, freshDirectory } from '../patch/patched.ts';
import { makeRepository } from './sample-repository.ts';
import { snapshot } from './snapshot.ts';

const runId = '0198c0de-7abc-7def-8123-456789abcdef';

/** Everything that a run does up to its decision, by a person with local changes of their own. */
async function workUpToDecision() {
  const sample = makeRepository(freshDirectory());
  sample.commit({ 'src/a.txt': 'one\n', mine: 'm\n', staged: 's\n', '.gitignore': 'cache\n' });
  sample.write({ mine: 'edited\n', staged: 'edited\n', 'cache/x': 'c', untracked: 'u' });
  sample.git('add', 'staged');
  const before = snapshot(sample.dir);
  const bench = await benchFor(sample);
  const { repo, base, scratch } = bench;
  const target = await planTarget(repo, { baseRef: 'main', baseCommit: base.commit, runId });
  const patch = await bench.apply(
    '--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/src/b.txt\n@@ -0,0 +1 @@\n+new\n',
  );
  t.strictSame(await dirtyPaths(repo, patch.files), []);
  const work = join(freshDirectory(), 'work');
  await exportTree(scratch, patch.candidateTree, work, base.commit);
  const commit = await createCommit(scratch, {
    tree: patch.candidateTree,
    parents: base.commit === undefined ? [] : [base.commit],
    message: commitMessage({
      changeType: 'bugfix',
      summary: 's',
      intentId: 'i',
      runId,
      intentSpecDigest: 'd',
    }),
    author: { name: 'a', email: 'a@example.com' },
    committer: { name: 'a', email: 'a@example.com' },
    authoredAtMs: 0,
    committedAtMs: 0,
  });
  return { sample, before, repo, scratch, target, work, commit };
}

t.test('an abandoned run leaves refs, objects, index and files bit for bit unchanged', async (t) => {
  const { sample, before, scratch, work, commit } = await workUpToDecision();
  t.equal(snapshot(sample.dir), before, 'up to the decision nothing was touched');
  await removeWorkspace(work);
  await rm(scratch.gitDir, { recursive: true });
  t.equal(snapshot(sample.dir), before);
  t.throws(() => sample.git('cat-file', '-e', commit));
});

t.test('a committed run moves the branch, index and files, and leaves local changes alone', async (t) => {
  const { sample, repo, scratch, target, commit } = await workUpToDecision();
  const own = sample.git('status', '--porcelain');
  await importObjects(scratch, repo);
  await rm(scratch.gitDir, { recursive: true });
  t.same(await swapTarget(repo, target, commit, `writ: run ${runId}`), { moved: true });
  t.same(await followWorktree(repo, target, commit), { state: 'followed' });
  t.equal(sample.git('rev-parse', 'HEAD').trim(), commit);
  t.equal(sample.git('status', '--porcelain'), own);
  t.equal(readFileSync(join(sample.dir, 'src/a.txt'), 'utf8'), 'two\n');
  t.equal(sample.git('fsck', '--full', '--strict').includes('missing'), false);
});

t.test('a path is ignored only if git tracks nothing below it', async (t) => {
  const sample = makeRepository(freshDirectory());
  sample.commit({ '.gitignore': 'cache\nkept\n[x]\n', a: '1' });
  sample.write({ 'kept/file': 'x', 'cache/file': 'x', '[x]/f': 'x' });
  sample.git('add', '-f', 'kept/file');
  const repo = await openRepository(sample.dir);
  t.equal(await isIgnoredPath(repo, 'cache'), true);
  t.equal(await isIgnoredPath(repo, 'kept'), false);
  t.equal(await isIgnoredPath(repo, 'a'), false);
  t.equal(await isIgnoredPath(repo, '--output=x'), false);
});
