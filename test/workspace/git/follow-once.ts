/* A child process of the vcs tests: swaps and follows, or takes a follow up again, in the work tree named. */
import { writeSync } from 'node:fs';
import { finishFollow, followWorktree, swapTarget } from '../../../workspace/git/follow-target.ts';
import { openRepository } from '../../../workspace/git/repository.ts';

const [dir = '', how = '', ref = '', from = '', commit = ''] = process.argv.slice(2);
const repo = await openRepository(dir);
const target = { ref, expected: from === '' ? undefined : from, checkedOutHere: true };
writeSync(1, 'ready\n');
if (how === 'finish') writeSync(1, `${JSON.stringify(await finishFollow(repo, target, commit))}\n`);
else {
  await swapTarget(repo, target, commit, 'test');
  writeSync(1, 'swapped\n');
  writeSync(1, `${JSON.stringify(await followWorktree(repo, target, commit))}\n`);
}
