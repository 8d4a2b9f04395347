import type { HashedTree } from '../../core/interfaces/store.ts';
import type { CheckList } from './check-list.ts';
import type { EvidenceSource } from './evidence-source.ts';
import { refuted, unavailable } from './report.ts';

/** The check that is expected where the repository is at hand: an exported file holds no tree. */
export function treeChecks({ hashTree }: EvidenceSource): readonly string[] {
  return hashTree ? ['tree-objects'] : [];
}

/**
 * The files below the sealed tree are those that its id names, by their bytes: `mismatch` for others, `missing` where
 * they should be here and are not, `unsupported` for more than is looked at. What a partial clone left behind is
 * counted (`promised`).
 */
export async function verifyTree(list: CheckList, source: EvidenceSource, tree: string): Promise<void> {
  const { hashTree } = source;
  if (!hashTree) return;
  await list.judge(
    'tree-objects',
    async () => {
      const found = await hashTree(tree);
      requireOwnBytes(found);
      return found;
    },
    ({ trees, files, promised, borrowed }) => ({
      trees,
      files,
      ...(promised === 0 ? {} : { promised }),
      ...(borrowed.length === 0 ? {} : { borrowed }),
    }),
  );
}

/** Refuses a tree whose objects are not all those that their ids name. */
export function requireOwnBytes({ wrong, absent, isCut }: HashedTree): void {
  if (wrong.length > 0) throw refuted('mismatch', { found: wrong });
  if (absent.length > 0) throw unavailable('missing', { found: absent });
  if (isCut) throw unavailable('unsupported', { found: 'a tree that is too large to be hashed' });
}
