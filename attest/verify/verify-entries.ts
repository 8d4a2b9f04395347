import type { KeyObject } from 'node:crypto';
import type { AnyBundle } from '../bundle/any-bundle.ts';
import { parseTlogEntry } from '../bundle/bundled-proof.ts';
import { decodeTlogEntry } from '../bundle/tlog-entry.ts';
import type { JsonObject } from '../encoding/expect-json.ts';
import { isOurs } from '../encoding/public-key.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import type { LedgerKey } from '../log/ledger-key.ts';
import { entryKind, verifyLogEntry } from '../log/log-entry.ts';
import { isNoteName } from '../log/note-key.ts';
import { type Anchors, ledgerKeysFor } from './anchors.ts';
import type { CheckList } from './check-list.ts';
import { judgeSeen } from './judge-seen.ts';
import type { Signed } from './judge-signature.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { type CheckDetail, unavailable } from './report.ts';
import { describeInclusion, verifyBundledProof } from './verify-log.ts';
import { type SigstoreProof, verifyWithSigstore } from './verify-with-sigstore.ts';

/** A bundle by a key, once its signature was verified. */
export interface KeyedBundle {
  readonly bundle: AnyBundle;
  readonly key: KeyObject;
  readonly signed: Signed;
  /** The user gave somebody to believe about logs. */
  readonly demanded: boolean;
  /** A log entry was asked for by name: no time stamp stands for it. */
  readonly required: boolean;
  /** What the user has seen of logs. */
  readonly memory: CheckpointMemory | undefined;
  /** What time it is for the reader. Milliseconds since the epoch. */
  readonly nowMs: number;
  /** The log that its signer vouches for. */
  readonly vouched: ProvenanceClaims['ledger'];
}

/**
 * Every log entry of a bundle by key holds: ours and those of Rekor v2 by our own code, others by the library and a
 * trusted root. A root that names time-stamp authorities and no log asks for a time stamp instead, unless a log is
 * `required`. Where no log is demanded, an entry that cannot be verified is reported and counts for nothing, as anyone
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
    return verifyWithSigstore(bundle, { root, key, signed });
  };
  if (isByTimeOnly && timestampAuthorities.length > 0) {
    if (!required) list.waive('log', 'not-required');
    list.expect('time');
    await list.judge(
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
    // An entry off its form makes the bundle malformed, whoever is trusted.
    await list.judge('log', () => {
      throw fault;
    });
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
    const inclusion = await judgeLog(
      list,
      isDemanded,
      () => {
        const proof = parseTlogEntry(entry, entryAt);
        verifyLogEntry(proof.body, { payloadType, payload, signature, keyId: '' }, key);
        return verifyBundledProof(proof, anchors, vouched, nowMs);
      },
      describeInclusion,
    );
    if (inclusion === undefined) return;
    list.grounds.log = describeInclusion(inclusion);
    await judgeSeen(list, inclusion, memory, required);
    return;
  }
  await judgeLog(list, isDemanded, () => {
    if (tlogs.length === 0)
      throw unavailable('untrusted-log', {
        expected: '`--trusted-root FILE`',
        found: `${String(kind)} ${String(version)}`,
      });
    return bySigstore();
  });
}

/** Runs the check `log`. Unless a log is demanded, what could not be verified is reported and does not count. */
async function judgeLog<T>(
  list: CheckList,
  isDemanded: boolean,
  work: () => T | Promise<T>,
  describe?: (value: T) => CheckDetail,
): Promise<T | undefined> {
  const value = await list.judge('log', work, describe);
  if (!isDemanded && list.statusOf('log') === 'unverified') list.excuse('log');
  return value;
}

/** True if the entry names a log whose key is trusted here. ATTESTATION_MALFORMED. */
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
