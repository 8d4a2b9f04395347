import { createPublicKey } from 'node:crypto';
import { systemClock } from '../../core/base/clock.ts';
import type { SealedEvidence, SealingParties } from '../../core/interfaces/sealing.ts';
import { parseVkey } from '../log/ledger-key.ts';
import { noMemory } from '../log/no-memory.ts';
import { parseTrustedRoot } from '../public/trusted-root.ts';
import type { Anchors } from './anchors.ts';
import { readCertificateClaims } from './certificate-claims.ts';
import type { EvidenceSource } from './evidence-source.ts';
import type { VerifyReport } from './report.ts';
import { verifyRun } from './verify-run.ts';

/**
 * Asks the verifier about a set, as `writ verify RUN --allowed-signers F --replay` does: by the key, or the identity it
 * was certified for, and the log that made it, and by the signers at the policy commit; each refusal as `check status
 * code`.
 */
export async function verifyOwnSeal(
  evidence: SealedEvidence,
  { signer, log }: SealingParties,
): Promise<readonly string[]> {
  const vkey = await log?.vkey();
  const { identity, issuer } = signer.certificate ? readCertificateClaims(signer.certificate()) : {};
  const anchors: Anchors = {
    // A certified key is believed by its certificate or not at all.
    signers: signer.certificate
      ? []
      : [{ keyId: signer.keyId, key: createPublicKey(signer.publicKeyPem), from: 'given' }],
    ...(identity !== undefined && issuer !== undefined && { identity: { identity, issuer } }),
    ledgers: vkey === undefined ? [] : [{ ...parseVkey(vkey), from: 'given' }],
    ownLedgers: [],
    ...(log?.trustedRoot && { trustedRoot: parseTrustedRoot(log.trustedRoot) }),
  };
  const report = await verifyRun(toOwnSource(evidence), anchors, {
    clock: systemClock,
    // A seal that is only being made has no history to compare with; the log held its own when it appended.
    memory: noMemory,
    runId: evidence.runId,
    allowedSigners: evidence.allowedSigners,
    replay: evidence.replay,
  });
  return refusalsIn(report);
}

/** What is about to be stored, as if it were stored already. */
export function toOwnSource({
  commit,
  files,
  contentPaths,
  readContent,
  readAt,
  listPeople,
  carry,
}: SealedEvidence): EvidenceSource {
  return {
    commit,
    listRun: async () => [...files.keys()],
    readRun: async (path) => files.get(path),
    listContent: async () => contentPaths,
    readContent,
    ...(readAt ? { readAt } : {}),
    ...(listPeople ? { listPeople } : {}),
    ...(carry ? { carry } : {}),
  };
}

/** Each refusal as `check status code`, with what was found; none where everything holds. */
export function refusalsIn(report: VerifyReport): readonly string[] {
  if (report.verified) return [];
  const refused = report.checks.filter(({ status }) => status !== 'passed' && status !== 'expired');
  return refused.map(({ id, status, code, detail }) => {
    const words = [id, status, code].filter((part) => part !== undefined).join(' ');
    return id === 'approvals' && detail ? `${words} ${JSON.stringify(detail).slice(0, 600)}` : words;
  });
}
