import type { Anchors } from '../../attest/verify/anchors.ts';
import type { EvidenceSource } from '../../attest/verify/evidence-source.ts';
import { findRunArtifacts, withUnknownArtifacts } from '../../attest/verify/find-run-artifacts.ts';
import type { VerifyReport } from '../../attest/verify/report.ts';
import type { PolicyDemand } from '../../attest/verify/verify-policy.ts';
import { verifyRun } from '../../attest/verify/verify-run.ts';
import { systemClock } from '../../core/base/clock.ts';
import { replayRecord } from '../../engine/run/decide/replay-record.ts';
import type { Belief } from './belief.ts';
import type { VerifyDemands } from './demands.ts';
import { findRunArchives, withArchives } from './run-archives.ts';

/**
 * True where a log entry is demanded of what a key signed: a log's key or a trusted root was given. A trusted root that
 * is given with an identity and a key is about the certificates alone.
 */
export function isLogAsked({ ledgers, trustedRoot, identity, signers }: Anchors): boolean {
  const isForCertificates = identity !== undefined && signers.some(({ from }) => from === 'given');
  return ledgers.some(({ from }) => from === 'given') || (trustedRoot !== undefined && !isForCertificates);
}

/** A run's evidence, wherever it comes from, by whom a verifier believes and what they have seen. */
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
    logged: required.includes('log') ? 'continued' : isLogAsked(anchors) ? 'entry' : 'as-contract',
    ...(policy === undefined ? {} : { policy }),
    ...(runId === undefined ? {} : { runId }),
    ...(allowedSigners === undefined ? {} : { allowedSigners }),
    ...(specDigest === undefined ? {} : { specDigest }),
  });
  return withArchives(withUnknownArtifacts(report, rest), archives);
}
