import type { HashedTree } from '../../core/interfaces/store.ts';
import { readObjects } from './blobs.ts';
import { hashTree } from './hash-tree.ts';
import { listPeopleHere } from './list-people.ts';
import { formatIdentity } from './mailbox.ts';
import type { Repository } from './repository.ts';

/** What a verifier asks of the repository that a sealed commit stands in. */
export interface EvidenceReader {
  hashTree(tree: string): Promise<HashedTree>;
  /** A file of a commit; no `bytes` where it holds none there, `undefined` where there is no such commit. */
  readAt(commit: string, path: string): Promise<{ readonly bytes?: Uint8Array } | undefined>;
  /** Authors and committers of `base..tip` as `Name <mail>`; nobody where the commits are not all here. */
  listPeople(base: string | null, tip: string): Promise<readonly string[]>;
}

/** The same answers for whoever verifies before the branch moves and for whoever does afterwards. */
export function evidenceReader(repository: Repository): EvidenceReader {
  return {
    hashTree: (tree) => hashTree(repository, tree),
    readAt: async (commit, path) => {
      const [known, file] = await readObjects(repository, [commit, `${commit}:${path}`]);
      if (known?.type !== 'commit') return undefined;
      return file?.type === 'blob' ? { bytes: file.bytes } : {};
    },
    listPeople: async (base, tip) => {
      const { authors, committers } = await listPeopleHere(repository, base ?? undefined, tip);
      return [...authors, ...committers].map(formatIdentity);
    },
  };
}
