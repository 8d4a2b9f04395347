/* Verifies log entries: of a run, and of a bundle by key. */
import type { KeyObject } from 'node:crypto';
import { systemClock } from '../../core/base/clock.ts';
import type { AnyBundle } from '../bundle/any-bundle.ts';
import { type Bundle, type BundledProof, decodeTlogEntry, parseTlogEntry } from '../bundle/bundle.ts';
import type { JsonObject } from '../encoding/expect-json.ts';
import { isOurs } from '../encoding/public-key.ts';
import {
  parseCheckpoint,
  parseTlogProof,
  type SignedCheckpoint,
  verifyCheckpoint,
} from '../log/checkpoint.ts';
import { type CheckpointMemory, compareSeen, forked } from '../log/checkpoint-memory.ts';
import { entryKind, verifyEntryOf } from '../log/log-entry.ts';
import { leafHash, rootFromInclusion } from '../log/merkle.ts';
import { isNoteName, type LedgerKey } from '../log/note.ts';
import { verifyByPolicy } from '../log/witness-policy.ts';
import { type PublicLogKey, publicLogsOf } from '../public/trusted-root.ts';
import {
  isTrustedAt,
  type PublicInclusion,
  verifyPublicInclusion,
  verifyPublicProof,
} from '../public/verify-public-proof.ts';
import { type Anchors, ledgerKeysFor } from './anchors.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { type CheckDetail, type CheckList, refuted, unavailable } from './report.ts';
import type { RunSigner } from './sealed-run.ts';
import type { Signed } from './signature-verdict.ts';
import { type SigstoreProof, verifyWithSigstore } from './verify-with-sigstore.ts';

/** The logs that a verifier trusts, and when it verifies. */
interface LogTrust {
  readonly anchors: Anchors;
  /** The log that the verified signer vouches for. */
  readonly vouched: LedgerKey | undefined;
  /** Milliseconds since the epoch; by default the clock of this machine. */
  readonly nowMs?: number;
  /** Verified times of the entry. Milliseconds since the epoch. */
  readonly timesMs?: readonly number[];
}

/** What was found to hold of the log. */
export interface VerifiedInclusion {
  readonly index: number;
  readonly checkpoint: SignedCheckpoint;
  readonly keys: readonly LedgerKey[];
  /** Where it is a public log. */
  readonly log?: PublicLogKey;
}

/**
 * Verifies that the envelope is in a trusted log: an entry about this envelope, key and certificate, and a path to the
 * root of a checkpoint that a trusted ledger key signed. Bundle and proof file must show the same entry of the same
 * tree, so that later checks cover both. `undefined` where that is not shown.
 */
export async function verifyLog(
  list: CheckList,
  bundle: Bundle,
  proofFile: Uint8Array | undefined,
  signer: Pick<RunSigner, 'key' | 'certificate'>,
  trust: LogTrust,
): Promise<VerifiedInclusion | undefined> {
  const { proof } = bundle;
  await list.run('log-entry', () => {
    if (proof === undefined) throw unavailable('not-logged');
    verifyEntryOf(proof, bundle.envelope, signer.key, signer.certificate);
  });
  const bundled = await list.run(
    'log-inclusion',
    () => {
      if (proof === undefined) throw unavailable('not-logged');
      return verifyBundledProof(proof, trust);
    },
    describeInclusion,
  );
  const filed = await list.run('log-proof', () => {
    if (proofFile === undefined) throw unavailable('not-logged');
    const file = parseTlogProof(proofFile);
    const body = proof?.body ?? file.body;
    if (body === undefined) throw unavailable('not-logged');
    if (file.body?.equals(body) === false)
      throw refuted('mismatch', { found: 'the file is about another entry' });
    verifyEntryOf({ ...proof, body }, bundle.envelope, signer.key, signer.certificate);
    const { index, hashes, checkpoint } = file;
    const log = bundled?.log;
    // Without a valid public log, the file cannot be verified.
    if (!log && proof?.promise) throw unavailable('untrusted-log');
    const filed = log
      ? fromPublic(verifyPublicInclusion(body, index, hashes, checkpoint, log))
      : verifyInclusion({ body, logIndex: index, hashes, checkpoint }, trust);
    if (bundled) requireSameEntry(bundled, filed);
    return filed;
  });
  if (bundled === undefined || filed === undefined) return undefined;
  return bundled;
}

/**
 * The proof file was created with the bundle. A different tree, even of the same log, was never compared with the
 * stored checkpoints.
 */
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
function verifyBundledProof(proof: BundledProof, trust: LogTrust): VerifiedInclusion {
  const { anchors, nowMs = systemClock.now(), timesMs = [] } = trust;
  const given = anchors.ledgers.filter(({ keyId }) => keyId.equals(proof.logId));
  const isGiven = given.length > 0;
  const logs = anchors.trustedRoot === undefined ? [] : publicLogsOf(anchors.trustedRoot);
  const periods = logs.filter(({ logId }) => logId.equals(proof.logId)).map(({ validFor }) => validFor);
  if (
    isGiven &&
    given.every(({ from }) => from === 'root') &&
    !periods.some((one) => isTrustedAt(one, timesMs, nowMs))
  )
    throw unavailable('untrusted-log', { expected: 'a time at which the root trusts the log' });
  if (!isGiven && (proof.promise !== undefined || logs.some(({ logId }) => logId.equals(proof.logId))))
    return fromPublic(verifyPublicProof(proof, logs, nowMs));
  const inclusion = verifyInclusion(proof, trust);
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
  {
    body,
    logIndex: index,
    hashes,
    checkpoint: source,
  }: Pick<BundledProof, 'body' | 'logIndex' | 'hashes' | 'checkpoint'>,
  { anchors, vouched, nowMs }: LogTrust,
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

/** A bundle by a key, once its signature was verified. */
interface KeyedBundle {
  readonly bundle: AnyBundle;
  readonly key: KeyObject;
  readonly signed: Signed;
  /** The user named logs to trust. */
  readonly demanded: boolean;
  /** The user required a log entry by name; no time stamp replaces it. */
  readonly required: boolean;
  /** What the user has seen of logs. */
  readonly memory: CheckpointMemory | undefined;
  /** What time it is for the reader. Milliseconds since the epoch. */
  readonly nowMs: number;
  /** The log that its signer vouches for. */
  readonly vouched: ProvenanceClaims['ledger'];
}

/**
 * Verifies every log entry of a bundle by key: ours and those of Rekor v2 by our own code, others by the library and a
 * trusted root. A root with time-stamp authorities and no log requires a time stamp instead, unless a log is
 * `required`. If no log is demanded, an entry that cannot be verified is reported and does not count, because anyone
 * can remove it; one that a trusted log contradicts is refused.
 */
export async function verifyEntries(list: CheckList, keyed: KeyedBundle, anchors: Anchors): Promise<void> {
  const { bundle, key, signed, demanded, required, vouched, memory, nowMs } = keyed;
  const { trustedRoot: root } = anchors;
  const { tlogs = [], timestampAuthorities = [] } = root?.root ?? {};
  const isByTimeOnly =
    root !== undefined && tlogs.length === 0 && anchors.ledgers.every(({ from }) => from !== 'given');
  const bySigstore = (): Promise<SigstoreProof> => {
    if (root === undefined) throw unavailable('untrusted-log', { expected: '`--trusted-root FILE`' });
    return verifyWithSigstore(bundle, { root, key, signed, nowMs });
  };
  if (isByTimeOnly && timestampAuthorities.length > 0) {
    if (!required) list.waive('log', 'not-required');
    list.expect('time');
    await list.run(
      'time',
      async () => {
        const { times } = await bySigstore();
        if (times.length === 0)
          throw unavailable('missing', {
            expected: 'a time stamp by an authority of the trusted root',
            found: bundle.timestamps.length,
          });
        return times;
      },
      (times) => ({ times }),
    );
    if (!required) return;
  }
  const isDemanded = required || (demanded && !isByTimeOnly);
  const [entry, ...more] = bundle.entries;
  if (entry === undefined) {
    if (isDemanded) list.settle('log', 'missing', 'not-logged');
    else list.waive('log', 'not-required');
    return;
  }
  const { content } = bundle;
  const { kind, version } = Object(entry.kindVersion) as { kind?: unknown; version?: unknown };
  const isOurKind = kind === entryKind.kind && version === entryKind.version && more.length === 0;
  const isOurForm = isOurKind && isOurs(key) && content.kind === 'envelope';
  const entryAt = '/verificationMaterial/tlogEntries/0';
  let isTrusted: boolean;
  try {
    if (isOurForm) parseTlogEntry(entry, entryAt);
    isTrusted = bundle.entries.some((one) => isOfTrustedLog(one, anchors, vouched));
  } catch (fault) {
    // An entry off its form makes the bundle malformed, whichever log is trusted.
    list.refuse('log', fault);
    return;
  }
  if (!isDemanded && !isTrusted) {
    list.waive('log', 'not-required', {
      found: 'an entry that was not verified: its log is not trusted here',
      expected: '`--trusted-root FILE` or `--ledger-key KEY`',
    });
    return;
  }
  if (isOurForm) {
    const { payloadType, payload, signatures } = content;
    const [{ signature }] = signatures;
    const inclusion = await verifyEntry(
      list,
      isDemanded,
      async () => {
        const proof = parseTlogEntry(entry, entryAt);
        verifyEntryOf({ body: proof.body }, { payloadType, payload, signature, keyId: '' }, key);
        const isStamped = bundle.timestamps.length > 0 && timestampAuthorities.length > 0;
        const { times } = isStamped ? await bySigstore() : { times: [] };
        return verifyBundledProof(proof, { anchors, vouched, nowMs, timesMs: times.map(Date.parse) });
      },
      describeInclusion,
    );
    if (inclusion === undefined) return;
    list.grounds.log = describeInclusion(inclusion);
    await verifySeen(list, inclusion, memory, required);
    return;
  }
  await verifyEntry(list, isDemanded, () => {
    if (tlogs.length === 0)
      throw unavailable('untrusted-log', {
        expected: '`--trusted-root FILE`',
        found: `${String(kind)} ${String(version)}`,
      });
    return bySigstore();
  });
}

/** Runs the check `log`. Unless a log is demanded, what could not be verified is reported and does not count. */
async function verifyEntry<T>(
  list: CheckList,
  isDemanded: boolean,
  work: () => T | Promise<T>,
  describe?: (value: T) => CheckDetail,
): Promise<T | undefined> {
  const value = await list.run('log', work, describe);
  if (!isDemanded && list.statusOf('log') === 'unverified') list.excuse('log');
  return value;
}

/** True if the entry names a log with a trusted key. Throws ATTESTATION_MALFORMED. */
function isOfTrustedLog(entry: JsonObject, anchors: Anchors, vouched: LedgerKey | undefined): boolean {
  const { logId, proof } = decodeTlogEntry(entry, '/verificationMaterial/tlogEntries');
  if (logId === undefined) return false;
  const origin = /^[^\n]{1,255}/.exec(proof?.checkpoint ?? '')?.[0] ?? '';
  const ids = [
    ...(anchors.trustedRoot?.root.tlogs ?? []).map((log) => (log.checkpointKeyId ?? log.logId)?.keyId),
    ...(isNoteName(origin) ? ledgerKeysFor(anchors, origin, vouched) : []).map(({ keyId }) => keyId),
  ];
  return ids.some((id) => id?.equals(logId));
}

/**
 * Compares the log of one attestation or proof with the user's stored checkpoints (`log-history`). A fork is always
 * refused. No checkpoint is stored, because one attestation proves only its own position in the log.
 *
 * If no comparison is possible, that counts only if the log is `required`. It never counts for a public log: that
 * grows every second, and its sizes cannot be compared offline.
 */
export async function verifySeen(
  list: CheckList,
  { checkpoint, log }: VerifiedInclusion,
  memory: CheckpointMemory | undefined,
  required: boolean,
): Promise<void> {
  if (memory === undefined) return;
  list.expect('log-history');
  try {
    if ((await compareSeen(checkpoint, memory)) !== 'unknown') return list.settle('log-history', 'passed');
  } catch (fault) {
    list.refuse('log-history', fault);
    return;
  }
  const seen = (await memory.latest(checkpoint))?.size ?? 0;
  const open = { seen, found: checkpoint.size, ...(log && { log: 'public' }) };
  if (required && log === undefined) list.settle('log-history', 'unverified', 'not-comparable', open);
  else list.waive('log-history', 'not-comparable', open);
}
