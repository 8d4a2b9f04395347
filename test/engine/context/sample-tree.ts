import type { Test } from 'tap';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { listTree, type TreeEntry } from '../../../workspace/git/tree.ts';
import { makeRepository, type SampleFile } from '../../workspace/git/sample-repository.ts';

/** A committed tree in a real repository. */
export interface SampleTree {
  readonly objects: Repository;
  readonly tree: string;
  readonly entries: readonly TreeEntry[];
}

export async function sampleTree(t: Test, files: Readonly<Record<string, SampleFile>>): Promise<SampleTree> {
  const sample = makeRepository(t.testdir());
  sample.commit(files);
  const objects = await openRepository(sample.dir);
  const tree = sample.git('rev-parse', 'HEAD^{tree}').trim();
  return { objects, tree, entries: await listTree(objects, tree) };
}
