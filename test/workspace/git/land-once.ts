/* A child process of the vcs tests: moves a branch to a sealed commit and sets local changes aside. */
import { followTarget, moveTarget, type TargetMove } from '../../../engine/seal/move-target.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { dropSetAside } from '../../../workspace/git/set-aside.ts';

const [dir = '', move = ''] = process.argv.slice(2);
const given = JSON.parse(move) as TargetMove;
const repository = await openRepository(dir);
await moveTarget(repository, given);
const { merged } = await followTarget(repository, given.runId, given.target, given.commit, true);
if (merged !== undefined) await dropSetAside(repository, given.runId, merged);
