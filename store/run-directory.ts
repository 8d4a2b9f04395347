import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeId } from '../workspace/git/ref-name.ts';
import type { Repository } from '../workspace/git/repository.ts';

/**
 * The directory of a run's own files (journal, lock), shared by linked work trees: `<git-common-dir>/writ/runs/<run>`.
 */
export function runDirectory(repo: Pick<Repository, 'commonDir'>, runId: string): string {
  return join(repo.commonDir, 'writ', 'runs', encodeId(runId));
}

/** In a run's directory: its journal. */
export const journalFile = 'journal.jsonl';

/** Where a run's journal is. */
export function journalPath(repo: Pick<Repository, 'commonDir'>, runId: string): string {
  return join(runDirectory(repo, runId), journalFile);
}

/** Names of the run directories here (encoded run ids), sorted; none where nothing ever ran. */
export async function listRunDirectories(repo: Pick<Repository, 'commonDir'>): Promise<readonly string[]> {
  try {
    const entries = await readdir(join(repo.commonDir, 'writ', 'runs'), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return [];
    throw fault;
  }
}
