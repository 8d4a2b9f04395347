import { adoptObjects } from '../../workspace/git/adopt-objects.ts';
import { gitLine } from '../../workspace/git/git.ts';
import { readRef } from '../../workspace/git/refs.ts';
import type { BlobRetention, RetainedRun } from './blob-retention.ts';
import { commitBlobs } from './commit-blobs.ts';
import { moveRef } from './move-ref.ts';

/** A commit per run on a ref of its own, `<prefix>context/<run>`. */
export const refAnchoring: BlobRetention = {
  merges: true,
  async trees(run) {
    const commit = await readRef(run.repository, refOf(run));
    return commit === undefined
      ? []
      : [await gitLine(run.repository, ['rev-parse', '--verify', `${commit}^{tree}`])];
  },
  async keep(run, { scratch, tree }) {
    const commit = await commitBlobs(run, scratch, tree);
    await adoptObjects(scratch, run.repository);
    await moveRef(run.repository, refOf(run), await readRef(run.repository, refOf(run)), commit);
  },
  async release(run) {
    await moveRef(run.repository, refOf(run), await readRef(run.repository, refOf(run)), undefined);
  },
};

function refOf({ refStem, name }: RetainedRun): string {
  return `${refStem}/context/${name}`;
}
