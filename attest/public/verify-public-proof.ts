/* Verifies the log proof of a public log. */
import { canonicalize } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { BundledProof } from '../bundle/bundle.ts';
import { isSignedBy } from '../encoding/public-key.ts';
import { type Checkpoint, parseCheckpoint, refutedLog } from '../log/checkpoint.ts';
import { leafHash, rootFromInclusion } from '../log/merkle.ts';
import { parseNote } from '../log/note.ts';
import type { PublicLogKey } from './trusted-root.ts';

/** What a public log was shown to hold. */
export interface PublicInclusion {
  readonly index: number;
  readonly checkpoint: Checkpoint;
  readonly log: PublicLogKey;
  /** The time that the log promised for the entry (Rekor v1). Milliseconds since the epoch. */
  readonly integratedAtMs?: number;
}

/**
 * Verifies that an entry is in a log of the trusted root: the path to the root of a checkpoint that this log signed,
 * and for Rekor v1 its signature over the time. The content of the entry is not verified. VERIFY_REFUTED with
 * `detail.reason` `untrusted-log`, `bad-signature`, `stale` or `mismatch`; ATTESTATION_MALFORMED.
 */
export function verifyPublicProof(
  proof: BundledProof,
  logs: readonly PublicLogKey[],
  nowMs: number = systemClock.now(),
): PublicInclusion {
  const named = logs.filter(({ logId }) => logId.equals(proof.logId));
  if (named.length === 0)
    throw refutedLog('untrusted-log', 'the trusted root names no log of that id', {
      found: Buffer.from(proof.logId).toString('hex'),
    });
  const { promise } = proof;
  const momentMs = promise === undefined ? undefined : promise.integratedTime * 1000;
  const times = momentMs === undefined ? [] : [momentMs];
  const log = named.find(({ validFor }) => isTrustedAt(validFor, times, nowMs));
  if (log === undefined)
    throw refutedLog('stale', 'the key of the log was not valid at that time', {
      at: new Date(momentMs ?? nowMs).toISOString(),
    });
  if (promise !== undefined) verifyPromise(proof, promise, log);
  const inclusion = verifyPublicInclusion(proof.body, proof.logIndex, proof.hashes, proof.checkpoint, log);
  const { checkpoint } = inclusion;
  if (proof.treeSize !== checkpoint.size || !checkpoint.root.equals(proof.rootHash))
    throw refutedLog('mismatch', 'size or root differ from the checkpoint', {
      expected: checkpoint.size,
      found: proof.treeSize,
    });
  return { ...inclusion, ...(momentMs === undefined ? {} : { integratedAtMs: momentMs }) };
}

/** An entry leads to the root of a checkpoint that `log` signed. */
export function verifyPublicInclusion(
  body: Uint8Array,
  index: number,
  hashes: readonly Uint8Array[],
  source: string,
  log: PublicLogKey,
): PublicInclusion {
  const checkpoint = verifyPublicCheckpoint(source, log);
  const root = rootFromInclusion(index, checkpoint.size, leafHash(body), hashes);
  if (root?.equals(checkpoint.root) !== true)
    throw refutedLog('mismatch', 'the path does not lead to the root', { index, size: checkpoint.size });
  return { index, checkpoint, log };
}

/**
 * Whether a log is trusted at one of the verified times of an entry, in milliseconds since the epoch. Without any, only
 * the start of the period is checked: signatures of a retired log stay valid.
 */
export function isTrustedAt(
  { startMs, endMs }: PublicLogKey['validFor'],
  timesMs: readonly number[],
  nowMs: number,
): boolean {
  return timesMs.length === 0
    ? startMs <= nowMs
    : timesMs.some((timeMs) => startMs <= timeMs && timeMs <= endMs);
}

/** Rekor v1 names a tree after its own name: `rekor.example - 1193050959916656506`. */
function isOriginOf({ name }: PublicLogKey, origin: string): boolean {
  return (
    origin === name || (origin.startsWith(`${name} - `) && /^\d{1,20}$/.test(origin.slice(name.length + 3)))
  );
}

function verifyPublicCheckpoint(source: string, log: PublicLogKey): Checkpoint {
  const checkpoint = parseCheckpoint(source, (origin) => isOriginOf(log, origin));
  const { text, signatures } = parseNote(source);
  const own = signatures.filter(
    ({ name, keyHint }) => name === log.name && keyHint.equals(log.logId.subarray(0, 4)),
  );
  if (own.length === 0)
    throw refutedLog('untrusted-log', 'the log did not sign the checkpoint', { origin: checkpoint.origin });
  // If a known signer's signature is wrong, the note is invalid.
  if (!own.every(({ signature }) => isSignedBy(log.key, Buffer.from(text), signature)))
    throw refutedLog('bad-signature', 'a signature of the checkpoint is wrong', {
      origin: checkpoint.origin,
    });
  return checkpoint;
}

function verifyPromise(
  { body, logId }: BundledProof,
  { integratedTime, logIndex, signature }: NonNullable<BundledProof['promise']>,
  log: PublicLogKey,
): void {
  const signed = canonicalize({
    body: Buffer.from(body).toString('base64'),
    integratedTime,
    logIndex,
    logID: Buffer.from(logId).toString('hex'),
  });
  if (isSignedBy(log.key, Buffer.from(signed), signature)) return;
  throw refutedLog('bad-signature', 'the log did not sign time and number of the entry', {
    origin: log.name,
  });
}
