import type { LaidPath } from '../../../../core/contract/judge-reach.ts';
import { readBlob } from '../../../vcs/blobs.ts';
import { writeLooseObject } from '../../../vcs/loose-object.ts';
import { listTree, type TreeEntry } from '../../../vcs/tree.ts';
import { type TreeLeaf, writeTree } from '../../../vcs/write-tree.ts';
import type { Attempt } from '../../state/attempt.ts';
import { findJudge } from './find-judge.ts';
import { layParts } from './lay-parts.ts';

/**
 * The candidate's tree with these paths as the policy commit has them, links and modes included, and without those that
 * it does not have. Where the policy commit is ahead of the base, whatever else is reached from the checks there is
 * laid, too, unless `withReached` is false.
 */
export async function layJudge(
  attempt: Attempt,
  paths: readonly LaidPath[],
  withReached = true,
): Promise<string> {
  const {
    identity: { contract },
    means: { scratch },
    patch,
    ground,
  } = attempt;
  const { tree: policy } = ground.policy;
  const isAhead = withReached && policy !== patch.baseTree;
  const reached = isAhead
    ? (await findJudge(scratch, policy, contract.effective, ground.config.workspace.prepare)).files
    : [];
  const wanted = new Map<string, LaidPath>(
    reached
      .filter(({ role }) => role === 'script' || role === 'config')
      .map(({ path }) => [path, { path }] as const),
  );
  for (const laid of paths) wanted.set(laid.path, laid);
  const entries = new Map((await listTree(scratch, policy)).map((entry) => [entry.path, entry]));
  const leaves = new Map<string, TreeLeaf>();
  for (const laid of wanted.values())
    leaves.set(laid.path, await leafOf(attempt, laid, entries.get(laid.path)));
  return writeTree({ from: scratch, to: scratch }, leaves, patch.candidateTree);
}

async function leafOf(
  { means: { scratch }, patch, ground }: Pick<Attempt, 'means' | 'patch' | 'ground'>,
  { path, parts }: LaidPath,
  entry: TreeEntry | undefined,
): Promise<TreeLeaf> {
  if (entry === undefined || parts === undefined) return entry;
  const own = await readBlob(scratch, patch.candidateTree, path);
  const theirs = await readBlob(scratch, ground.policy.tree, path);
  const text = own && theirs && layParts(own.toString('utf8'), theirs.toString('utf8'), parts);
  if (!text) return entry;
  const object = await writeLooseObject(scratch, { type: 'blob', bytes: Buffer.from(text) }, true);
  return { mode: entry.mode, object };
}
