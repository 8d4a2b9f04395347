import { isWritError } from '../../../core/base/errors.ts';
import {
  type ProjectFile,
  type ProposedCheck,
  projectFiles,
  proposeCheck,
} from '../../spec/propose-check.ts';
import { readBlobs } from '../../vcs/blobs.ts';
import type { Repository } from '../../vcs/repository.ts';

const maxBytes = 16 * 1024 * 1024;

/**
 * The test runner of a project whose report writ reads, by the files at the project's root in a tree; `undefined` if
 * they name none. `root`: the project's directory as `scopeRootOf` returns it.
 */
export async function knownRunner(
  repository: Repository,
  tree: string,
  root: string,
): Promise<ProposedCheck | undefined> {
  const place = root === '' ? '' : `${root}/`;
  const paths = projectFiles.map((name) => `${place}${name}`);
  const blobs = await readBlobs(repository, tree, paths, maxBytes).catch((fault: unknown) => {
    if (isWritError(fault, 'INPUT_TOO_LARGE')) return new Map<string, Buffer>();
    throw fault;
  });
  const files = new Map<ProjectFile, string>();
  for (const name of projectFiles) {
    const bytes = blobs.get(`${place}${name}`);
    if (bytes !== undefined) files.set(name, bytes.toString('utf8'));
  }
  const proposed = proposeCheck(files);
  return proposed?.kind === 'testSuite' ? proposed : undefined;
}
