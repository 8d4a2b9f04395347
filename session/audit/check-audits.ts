import { isWritError } from '../../core/base/errors.ts';
import type { JournalWitness } from '../../store/journal-witness.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { threadDirectory } from '../thread/open-thread.ts';
import { listThreadIds } from '../thread/thread-ids.ts';
import { listAuditFiles } from './audit-files.ts';
import { type AuditProblem, judgeAudit } from './judge-audit.ts';
import { auditName } from './open-audit.ts';

/**
 * Judges the audit log of every thread here, also while a session writes one. A thread whose directory is gone is not
 * known of any more. KEY_INSECURE.
 */
export async function checkAudits(
  repository: Pick<Repository, 'commonDir'>,
  witness: Pick<JournalWitness, 'look'>,
): Promise<{ readonly lines: number; readonly problems: readonly AuditProblem[] }> {
  const problems: AuditProblem[] = [];
  let lines = 0;
  for (const threadId of await threadsOf(repository)) {
    // Asked first: what a session adds meanwhile makes the files longer than that, never shorter.
    const known = await witness.look(auditName(threadId));
    const directory = threadDirectory(repository, threadId);
    const judged = await judgeAudit(directory, await listAuditFiles(directory), known);
    lines += judged.lines;
    problems.push(...judged.problems);
  }
  return { lines, problems };
}

/** None where they do not lie in a directory of their own: that is told of the threads. */
async function threadsOf(repository: Pick<Repository, 'commonDir'>): Promise<readonly string[]> {
  const { ids } = await listThreadIds(repository).catch((fault: unknown) => {
    if (isWritError(fault, 'STORAGE_PATH_INVALID')) return { ids: [] };
    throw fault;
  });
  return ids;
}
