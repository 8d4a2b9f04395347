import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type Checkpoint, verifyCheckpoint } from './checkpoint.ts';
import { type Cosignature, verifyCosignatures } from './cosignature.ts';
import type { LedgerKey } from './ledger-key.ts';
import { isQuorum, type TlogPolicy } from './tlog-policy.ts';

/** A checkpoint that its log signed and enough witnesses cosigned. */
export interface WitnessedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly cosignatures: readonly Cosignature[];
}

/**
 * Verifies a checkpoint by a policy: signed by one of `logs` (default those of the policy) and cosigned by a quorum,
 * not later than `nowMs`. VERIFY_REFUTED with `detail.reason` `untrusted-log`, `bad-signature` or `no-quorum`, the
 * latter with the witnesses that signed, and those that signed at a time that has not come.
 */
export function verifyByPolicy(
  source: string,
  policy: TlogPolicy,
  logs: readonly LedgerKey[] = policy.logs,
  nowMs: number = systemClock.now(),
): WitnessedCheckpoint {
  const checkpoint = verifyCheckpoint(source, logs);
  const cosignatures = verifyCosignatures(source, policy.witnesses, nowMs);
  const signed = cosignatures.map(({ witness }) => witness);
  if (isQuorum(policy.quorum, signed)) return { checkpoint, cosignatures };
  const early = verifyCosignatures(source, policy.witnesses, Number.MAX_SAFE_INTEGER)
    .map(({ witness }) => witness)
    .filter((witness) => !signed.includes(witness));
  throw new WritError('VERIFY_REFUTED', {
    message: `the checkpoint lacks a quorum: ${signed.length} of ${policy.witnesses.length} known witnesses signed it`,
    detail: {
      reason: 'no-quorum',
      origin: checkpoint.origin,
      signed: signed.map(({ name }) => name),
      ...(early.length > 0 && { later_than_now: early.map(({ name }) => name) }),
    },
  });
}
