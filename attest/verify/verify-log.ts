import type { Bundle } from '../bundle/bundle.ts';
import type { BundledProof } from '../bundle/bundled-proof.ts';
import { parseCheckpoint, type SignedCheckpoint, verifyCheckpoint } from '../log/checkpoint.ts';
import { forked } from '../log/checkpoint-memory.ts';
import type { LedgerKey } from '../log/ledger-key.ts';
import { leafHash } from '../log/merkle/hash.ts';
import { rootFromInclusion } from '../log/merkle/verify-inclusion.ts';
import { parseTlogProof } from '../log/tlog-proof.ts';
import { verifyByPolicy } from '../log/verify-by-policy.ts';
import { type PublicLogKey, publicLogsOf } from '../public/public-log-key.ts';
import { verifyEntryOf } from '../public/verify-entry.ts';
import {
  type PublicInclusion,
  verifyPublicInclusion,
  verifyPublicProof,
} from '../public/verify-public-proof.ts';
import { type Anchors, ledgerKeysFor } from './anchors.ts';
import type { CheckList } from './check-list.ts';
import { refuted, unavailable } from './report.ts';
import type { RunSigner } from './run-signer.ts';

/** What was found to hold of the log. */
export interface VerifiedInclusion {
  readonly index: number;
  readonly checkpoint: SignedCheckpoint;
  readonly keys: readonly LedgerKey[];
  /** Where it is a public log. */
  readonly log?: PublicLogKey;
}

/**
 * The envelope stands in a trusted log: entry about this envelope, key and certificate, path to the root of a
 * checkpoint that a trusted ledger key signed. Bundle and proof file show the same entry of the same tree, so that what
 * is found out about the one holds for the other. `undefined` where that is not shown.
 */
export async function verifyLog(
  list: CheckList,
  bundle: Bundle,
  proofFile: Uint8Array | undefined,
  signer: Pick<RunSigner, 'key' | 'certificate'>,
  anchors: Anchors,
  vouched: LedgerKey | undefined,
  nowMs: number,
): Promise<VerifiedInclusion | undefined> {
  const { proof } = bundle;
  await list.judge('log-entry', () => {
    if (proof === undefined) throw unavailable('not-logged');
    verifyEntryOf(proof, bundle.envelope, signer.key, signer.certificate);
  });
  const bundled = await list.judge(
    'log-inclusion',
    () => {
      if (proof === undefined) throw unavailable('not-logged');
      return verifyBundledProof(proof, anchors, vouched, nowMs);
    },
    describeInclusion,
  );
  const filed = await list.judge('log-proof', () => {
    if (proofFile === undefined) throw unavailable('not-logged');
    const file = parseTlogProof(proofFile);
    const body = proof?.body ?? file.body;
    if (body === undefined) throw unavailable('not-logged');
    if (file.body?.equals(body) === false)
      throw refuted('mismatch', { found: 'the file is about another entry' });
    verifyEntryOf({ ...proof, body }, bundle.envelope, signer.key, signer.certificate);
    const { index, hashes, checkpoint } = file;
    const log = bundled?.log;
    // Without a public log that holds there is none to judge the file by.
    if (!log && proof?.promise) throw unavailable('untrusted-log');
    const filed = log
      ? fromPublic(verifyPublicInclusion(body, index, hashes, checkpoint, log))
      : verifyInclusion(body, index, hashes, checkpoint, anchors, vouched, nowMs);
    if (bundled) requireSameEntry(bundled, filed);
    return filed;
  });
  if (bundled === undefined || filed === undefined) return undefined;
  return bundled;
}

/** The proof file was made with the bundle: another tree, even of the same log, is held to nothing that was seen. */
function requireSameEntry(bundled: VerifiedInclusion, filed: VerifiedInclusion): void {
  const [expected, found] = [bundled.checkpoint, filed.checkpoint];
  const isSameLog = found.origin === expected.origin && found.keyId.equals(expected.keyId);
  const isSameSize = isSameLog && found.size === expected.size;
  if (isSameSize && !found.root.equals(expected.root)) throw forked(expected, found);
  if (isSameSize && filed.index === bundled.index) return;
  throw refuted('mismatch', {
    expected: `the entry of the bundle: ${placeOf(bundled)}`,
    found: placeOf(filed),
  });
}

function placeOf({ index, checkpoint: { origin, size } }: VerifiedInclusion): string {
  return `entry ${index} of ${size} in ${origin}`;
}

function fromPublic({ index, checkpoint, log }: PublicInclusion): VerifiedInclusion {
  return { index, checkpoint: { ...checkpoint, keyId: Buffer.from(log.logId) }, keys: [], log };
}

/**
 * An entry of a bundle leads to the root of a checkpoint that a trusted ledger key signed, and names that very
 * checkpoint and log.
 */
export function verifyBundledProof(
  proof: BundledProof,
  anchors: Anchors,
  vouched: LedgerKey | undefined,
  nowMs?: number,
): VerifiedInclusion {
  const isGiven = anchors.ledgers.some(({ keyId }) => keyId.equals(proof.logId));
  const logs = anchors.trustedRoot === undefined ? [] : publicLogsOf(anchors.trustedRoot);
  if (!isGiven && (proof.promise !== undefined || logs.some(({ logId }) => logId.equals(proof.logId))))
    return fromPublic(verifyPublicProof(proof, logs, nowMs));
  const inclusion = verifyInclusion(
    proof.body,
    proof.logIndex,
    proof.hashes,
    proof.checkpoint,
    anchors,
    vouched,
    nowMs,
  );
  const { checkpoint, keys } = inclusion;
  const same =
    proof.treeSize === checkpoint.size &&
    checkpoint.root.equals(proof.rootHash) &&
    keys.some((key) => key.name === checkpoint.origin && key.keyId.equals(proof.logId));
  if (!same) throw refuted('mismatch', { found: 'size, root or log id differ from the checkpoint' });
  return inclusion;
}

/**
 * An entry leads to the root of a checkpoint that a trusted ledger key signed, and that witnesses cosigned as the
 * user's policies demand.
 */
export function verifyInclusion(
  body: Uint8Array,
  index: number,
  hashes: readonly Uint8Array[],
  source: string,
  anchors: Anchors,
  vouched: LedgerKey | undefined,
  nowMs?: number,
): VerifiedInclusion {
  const keys = ledgerKeysFor(anchors, parseCheckpoint(source).origin, vouched);
  const checkpoint = verifyCheckpoint(source, keys);
  for (const policy of anchors.witnessPolicies ?? [])
    if (policy.logs.length === 0 || policy.logs.some(({ name }) => name === checkpoint.origin))
      verifyByPolicy(source, policy, keys, nowMs);
  const root = rootFromInclusion(index, checkpoint.size, leafHash(body), hashes);
  if (root?.equals(checkpoint.root) !== true) {
    throw refuted('mismatch', { found: 'the path does not lead to the root', index, size: checkpoint.size });
  }
  return { index, checkpoint, keys };
}

/** Log, size and index, for people. */
export function describeInclusion({ checkpoint, index }: VerifiedInclusion): {
  readonly origin: string;
  readonly size: number;
  readonly index: number;
} {
  return { origin: checkpoint.origin, size: checkpoint.size, index };
}
