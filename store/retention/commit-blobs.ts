import { writeCommit } from '../../workspace/git/create-commit.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import type { RetainedRun } from './blob-retention.ts';

const writ = { name: 'writ', email: 'writ@localhost' };

/** A commit without parents over a run's blobs: the same blobs, the same commit. */
export async function commitBlobs(run: RetainedRun, scratch: Scratch, tree: string): Promise<string> {
  const commit = {
    tree,
    parents: [],
    message: `context of run ${run.name}\n`,
    author: writ,
    committer: writ,
    authoredAtMs: run.atMs,
    committedAtMs: run.atMs,
  };
  return writeCommit(scratch, commit, true);
}
