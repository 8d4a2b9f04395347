import { userCheckpointMemory } from '../../attest/log/user-checkpoint-memory.ts';
import type { Environment } from '../../attest/signer/user-config-dir.ts';
import type { Anchors } from '../../attest/verify/anchors.ts';
import type { EvidenceSource } from '../../attest/verify/evidence-source.ts';
import { findRunArtifacts, withUnknownArtifacts } from '../../attest/verify/find-run-artifacts.ts';
import type { VerifyReport } from '../../attest/verify/report.ts';
import type { PolicyDemand } from '../../attest/verify/verify-policy.ts';
import { verifyRun } from '../../attest/verify/verify-run.ts';
import { systemClock } from '../../core/base/clock.ts';
import { replayRecord } from '../../engine/run/decide/replay-record.ts';
import type { VerifyDemands } from './demands.ts';

/** Who gives somebody to believe about logs asks for a log entry of whatever is verified. */
export function isLogAsked({ ledgerKeys, trustedRoot }: VerifyDemands['given']): boolean {
  return ledgerKeys.length > 0 || trustedRoot !== undefined;
}

/** A run's evidence, wherever it comes from, by what this user trusts and has seen. */
export async function verifySource(
  { env }: { readonly env: Environment },
  source: EvidenceSource,
  anchors: Anchors,
  { allowedSigners, specDigest, artifacts, types, replay, summary, required, given }: VerifyDemands,
  runId: string | undefined,
  policy?: PolicyDemand,
): Promise<VerifyReport> {
  const { sha256, rest } = await findRunArtifacts(source, artifacts);
  const report = await verifyRun(source, anchors, {
    clock: systemClock,
    memory: userCheckpointMemory(env),
    artifacts: sha256,
    types,
    ...(replay ? { replay: replayRecord } : {}),
    summary,
    requireApprovals: required.includes('approvals'),
    logged: required.includes('log') ? 'continued' : isLogAsked(given) ? 'entry' : 'as-contract',
    ...(policy === undefined ? {} : { policy }),
    ...(runId === undefined ? {} : { runId }),
    ...(allowedSigners === undefined ? {} : { allowedSigners }),
    ...(specDigest === undefined ? {} : { specDigest }),
  });
  return withUnknownArtifacts(report, rest);
}
