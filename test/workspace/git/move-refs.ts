/* A child process of the vcs tests: moves refs, and follows them in the work tree named, as fast as it can; prints the longest call in milliseconds. */
import { writeSync } from 'node:fs';
import { systemClock } from '../../../core/base/clock.ts';
import { createCommit } from '../../../workspace/git/create-commit.ts';
import { followWorktree, swapTarget } from '../../../workspace/git/follow-target.ts';
import { gitLine, runGit } from '../../../workspace/git/git.ts';
import { readRef, updateRefs } from '../../../workspace/git/refs.ts';
import { openRepository } from '../../../workspace/git/repository.ts';

const [dir = '', name = '', branch = '', rounds = '0'] = process.argv.slice(2);
const repo = await openRepository(dir);
const who = { name: 'Sample Author', email: 'sample@example.com' };
let longestMs = 0;
writeSync(1, 'ready\n');
for (let round = 0; round < Number(rounds); round += 1) {
  // A counter that both count up: a lost update would shorten the chain.
  await until(async () => {
    const old = await readRef(repo, 'refs/ai/counter');
    const commit = await commitOn(old, `${name} ${round}`);
    return (await timed(() => updateRefs(repo, [{ ref: 'refs/ai/counter', old, new: commit }], 'count')))
      .moved;
  });
  // A ref of its own that comes, is packed and goes: `packed-refs` is locked for it.
  const own = `refs/ai/own/${name}`;
  const [object = ''] = [await readRef(repo, 'refs/ai/counter')];
  await timed(() => updateRefs(repo, [{ ref: own, old: undefined, new: object }], 'come'));
  await timed(() => updateRefs(repo, [{ ref: own, old: object, new: undefined }], 'go'));
  await until(async () => {
    const expected = await readRef(repo, branch);
    const commit = await commitOn(expected, `${name} ${round}`);
    const target = { ref: branch, expected, checkedOutHere: true };
    if (!(await timed(() => swapTarget(repo, target, commit, 'swap'))).moved) return false;
    const { state } = await timed(() => followWorktree(repo, target, commit));
    if (state !== 'followed') throw new Error(`expected followed, found ${state}`);
    return true;
  });
  writeSync(1, `${round}\n`);
}
writeSync(1, `longest ${longestMs}\n`);

async function commitOn(parent: string | undefined, content: string): Promise<string> {
  const blob = await gitLine(repo, ['hash-object', '-w', '--stdin'], { input: `${content}\n` });
  const entries = parent === undefined ? '' : await gitLine(repo, ['ls-tree', parent]);
  const kept = entries.split('\n').filter((line) => line !== '' && !line.endsWith(`\t${name}`));
  const tree = await runGit(repo, ['mktree'], {
    input: [...kept, `100644 blob ${blob}\t${name}`, ''].join('\n'),
  });
  return createCommit(repo, {
    tree: tree.toString('latin1').trim(),
    parents: parent === undefined ? [] : [parent],
    message: `${content}\n`,
    author: who,
    committer: who,
    authoredAtMs: 0,
    committedAtMs: 0,
  });
}

async function until(act: () => Promise<boolean>): Promise<void> {
  while (!(await act()));
}

async function timed<T>(act: () => Promise<T>): Promise<T> {
  const began = systemClock.monotonic();
  try {
    return await act();
  } finally {
    longestMs = Math.max(longestMs, systemClock.monotonic() - began);
  }
}
