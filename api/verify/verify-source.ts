/* Verifies a run's evidence with the verifier's anchors and stored checkpoints. */
import { createHash } from 'node:crypto';
import type { Anchors } from '../../attest/verify/anchors.ts';
import type { PolicyDemand } from '../../attest/verify/certified-source.ts';
import { type EvidenceSource, parseCommit } from '../../attest/verify/evidence-source.ts';
import {
  findRunArtifacts,
  type GivenArtifact,
  withUnknownArtifacts,
} from '../../attest/verify/given-artifact.ts';
import { type VerifyCheck, type VerifyReport, withChecks } from '../../attest/verify/report.ts';
import { verifyRun } from '../../attest/verify/verify-run.ts';
import { systemClock } from '../../core/base/clock.ts';
import { replayRecord } from '../../engine/decide/replay-record.ts';
import type { ArchiveAnswer } from './archive-tree.ts';
import type { Belief, VerifyDemands } from './demands.ts';

/**
 * True where a log entry is demanded of what a key signed: a log's key or a trusted root was given. A trusted root that
 * is given with an identity and a key is about the certificates alone.
 */
export function isLogRequested({ ledgers, trustedRoot, identity, signers }: Anchors): boolean {
  const isForCertificates = identity !== undefined && signers.some(({ from }) => from === 'given');
  return ledgers.some(({ from }) => from === 'given') || (trustedRoot !== undefined && !isForCertificates);
}

/** Verifies a run's evidence from any source, with the verifier's anchors and stored checkpoints. */
export async function verifySource(
  { anchors, memory }: Belief,
  source: EvidenceSource,
  { allowedSigners, specDigest, artifacts, types, replay, summary, source: origin, required }: VerifyDemands,
  runId: string | undefined,
  policy?: PolicyDemand,
): Promise<VerifyReport> {
  const archives = await findRunArchives(source.commit.raw, artifacts);
  const sealed = archives.flatMap(({ artifact, answer }) => ('prefix' in answer ? [artifact] : []));
  const files = artifacts.filter((artifact) => !sealed.includes(artifact));
  const { sha256, rest } = await findRunArtifacts(source, files);
  const report = await verifyRun(source, anchors, {
    clock: systemClock,
    memory,
    artifacts: sha256,
    types,
    ...(replay ? { replay: replayRecord } : {}),
    summary,
    ...(origin === undefined ? {} : { source: origin }),
    requireApprovals: required.includes('approvals'),
    logged: required.includes('log') ? 'continued' : isLogRequested(anchors) ? 'entry' : 'as-contract',
    ...(policy === undefined ? {} : { policy }),
    ...(runId === undefined ? {} : { runId }),
    ...(allowedSigners === undefined ? {} : { allowedSigners }),
    ...(specDigest === undefined ? {} : { specDigest }),
  });
  return withArchives(withUnknownArtifacts(report, rest), archives);
}

/** An artifact that is an archive, and whether it holds the tree of the commit. */
interface RunArchive {
  readonly artifact: GivenArtifact;
  readonly answer: ArchiveAnswer;
}

/** Finds the artifacts that are archives and compares each tar archive with the tree of a commit object. */
async function findRunArchives(
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
    const isSame = !('prefix' in answer) || hash.digest('hex') === artifact.sha256;
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

/**
 * Adds a passed check for each archive of the sealed tree, and the reason for each archive that differs. An archive
 * in an unsupported format refutes nothing.
 */
function withArchives(report: VerifyReport, archives: readonly RunArchive[]): VerifyReport {
  if (archives.length === 0) return report;
  // Without a signed tree id, the archive cannot be compared.
  const isTreeSealed = report.checks.some(({ id, status }) => id === 'subject-tree' && status === 'passed');
  const reasons = new Map<string, string>();
  const unread = new Map<string, string>();
  const found: VerifyCheck[] = [];
  for (const { artifact, answer } of archives) {
    const id = `artifact:${artifact.sha256}`;
    if ('reason' in answer) reasons.set(id, answer.reason);
    else if ('unsupported' in answer) unread.set(id, answer.unsupported);
    else if (!isTreeSealed) found.push({ id, status: 'unverified', code: 'not-run' });
    else {
      const { prefix, files } = answer;
      const detail = { archive_of: 'the sealed tree', files, ...(prefix === '' ? {} : { prefix }) };
      found.push({ id, status: 'passed', detail });
    }
  }
  const checks = report.checks.map((check): VerifyCheck => {
    if (check.status !== 'failed') return check;
    const format = unread.get(check.id);
    if (format !== undefined)
      return {
        id: check.id,
        status: 'unverified',
        code: 'unsupported',
        detail: { found: `a ${format} archive` },
      };
    const archive = reasons.get(check.id);
    return archive === undefined ? check : { ...check, detail: { ...check.detail, archive } };
  });
  const ran = report.ran - checks.filter((check, n) => check.status !== report.checks[n]?.status).length;
  return withChecks({ ...report, checks, ran }, found);
}
