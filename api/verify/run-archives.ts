import { createHash } from 'node:crypto';
import { parseCommit } from '../../attest/verify/git-commit.ts';
import type { GivenArtifact } from '../../attest/verify/given-artifact.ts';
import { type VerifyCheck, type VerifyReport, withChecks } from '../../attest/verify/report.ts';
import type { ArchiveAnswer } from './archive-tree.ts';

/** An artifact that is a tar archive, and whether it holds the tree of the commit. */
export interface RunArchive {
  readonly artifact: GivenArtifact;
  readonly answer: ArchiveAnswer;
}

/** Finds the artifacts that are tar archives and compares each with the tree of a commit object. */
export async function findRunArchives(
  commit: Uint8Array,
  artifacts: readonly GivenArtifact[],
): Promise<readonly RunArchive[]> {
  const { tree } = parseCommit(commit) ?? {};
  const archives: RunArchive[] = [];
  for (const artifact of artifacts) {
    if (tree === undefined || artifact.open === undefined) continue;
    const { findTreeInArchive } = await import('./archive-tree.ts');
    const hash = createHash('sha256');
    const answer = await findTreeInArchive(hashed(artifact.open(), hash), tree);
    if (answer === undefined) continue;
    const isSame = 'reason' in answer || hash.digest('hex') === artifact.sha256;
    archives.push({ artifact, answer: isSame ? answer : { reason: 'it changed while it was read' } });
  }
  return archives;
}

async function* hashed(
  chunks: AsyncIterable<Buffer>,
  hash: { update(chunk: Buffer): unknown },
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** The report with a passed check for each archive of the sealed tree, and the reason beside one that is not it. */
export function withArchives(report: VerifyReport, archives: readonly RunArchive[]): VerifyReport {
  if (archives.length === 0) return report;
  // Without the signer's word for the tree the archive is compared with nothing.
  const isTreeSealed = report.checks.some(({ id, status }) => id === 'subject-tree' && status === 'passed');
  const reasons = new Map<string, string>();
  const found: VerifyCheck[] = [];
  for (const { artifact, answer } of archives) {
    const id = `artifact:${artifact.sha256}`;
    if ('reason' in answer) reasons.set(id, answer.reason);
    else if (!isTreeSealed) found.push({ id, status: 'unverified', code: 'not-run' });
    else {
      const { prefix, files } = answer;
      const detail = { archive_of: 'the sealed tree', files, ...(prefix === '' ? {} : { prefix }) };
      found.push({ id, status: 'passed', detail });
    }
  }
  const checks = report.checks.map((check) => {
    const archive = reasons.get(check.id);
    return archive === undefined || check.status !== 'failed'
      ? check
      : { ...check, detail: { ...check.detail, archive } };
  });
  return withChecks({ ...report, checks }, found);
}
