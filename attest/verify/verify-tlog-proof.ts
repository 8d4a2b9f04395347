/* Verifies a log proof by itself. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { sha256, sha256Hex } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseAnyBundle } from '../bundle/any-bundle.ts';
import { preAuthEncoding } from '../encoding/dsse.ts';
import { canVerifyBy } from '../encoding/public-key.ts';
import { parseTlogProof } from '../log/checkpoint.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { entryKind, type LogEntry, parseLogEntry } from '../log/log-entry.ts';
import type { Anchors } from './anchors.ts';
import { digestsOf, distinctArtifacts, type GivenArtifact } from './given-artifact.ts';
import { CheckList, refuted, unavailable, type VerifyReport } from './report.ts';
import { type SignatureVerdict, signatureVerdict, signedDigests } from './signature-verdict.ts';
import { describeInclusion, verifyInclusion, verifySeen } from './verify-log.ts';

/**
 * Verifies a C2SP tlog-proof by itself: its entry is in a trusted log and is about the given artifact. This shows
 * that a log entry exists for a key with a verified signature. Only `--key` also checks that the key is trusted.
 *
 * Other demands (`unanswerable`, as check ids) stay unverified. A checkpoint that contradicts the user's stored
 * checkpoints is refused. With `logRequired`, one that cannot be compared is refused too.
 */
export async function verifyTlogProof(
  bytes: Uint8Array,
  anchors: Anchors,
  artifacts: readonly GivenArtifact[],
  unanswerable: readonly string[] = [],
  memory?: CheckpointMemory,
  logRequired = false,
): Promise<VerifyReport> {
  const list = new CheckList('log-inclusion');
  const asked = anchors.signers.filter((anchor) => anchor.from === 'given');
  list.expect('log-proof', 'log-inclusion', 'log-entry', 'subject');
  if (asked.length > 0) list.expect('signer');
  list.expect(...unanswerable);
  for (const id of unanswerable)
    list.settle(id, 'missing', 'missing', { found: 'a log proof says nothing of it' });
  list.grounds.digests.set('log-proof', sha256Hex(bytes));
  const proof = await list.run('log-proof', () => {
    const { body, ...rest } = parseTlogProof(bytes);
    if (body === undefined) throw unavailable('missing', { expected: 'the entry in the `extra` line' });
    return { ...rest, body };
  });
  if (proof === undefined) return list.report();
  const inclusion = await list.run(
    'log-inclusion',
    () => {
      const { index, ...rest } = proof;
      return verifyInclusion({ ...rest, logIndex: index }, { anchors, vouched: undefined });
    },
    describeInclusion,
  );
  if (inclusion === undefined) return list.report();
  list.grounds.log = describeInclusion(inclusion);
  await verifySeen(list, inclusion, memory, logRequired);
  const entry = await list.run(
    'log-entry',
    async () => {
      const entry = parseLogEntry(proof.body);
      const { kind, apiVersion, keyDetails } = entry;
      if (kind !== entryKind.kind || apiVersion !== entryKind.version)
        throw refuted('mismatch', {
          expected: `${entryKind.kind} ${entryKind.version}`,
          found: `${kind} ${apiVersion}`,
        });
      const key = keyOfEntry(entry);
      const key_id = sha256Hex(entry.publicKey);
      if (key === undefined) throw unavailable('unsupported', { key_id, found: keyDetails });
      const verdict = await loggedSignatureVerdict(entry, key, artifacts);
      // A log operator can write any key beside any signature.
      if (verdict === 'does-not') throw refuted('bad-signature', { key_id });
      return { ...entry, verdict };
    },
    ({ kind, apiVersion, publicKey }) => ({ kind, version: apiVersion, key_id: sha256Hex(publicKey) }),
  );
  if (entry === undefined) return list.report();
  await list.run('subject', () => {
    const found = `sha256:${entry.digest.toString('hex')}`;
    const [artifact, ...more] = distinctArtifacts(artifacts);
    if (artifact === undefined)
      throw unavailable('missing', { expected: 'what was logged (`--artifact FILE`)', found });
    const digests = [artifact.sha256, artifact.signed];
    if (artifact.sha256 === undefined)
      throw unavailable('missing', { expected: 'its digest by sha256, or the file itself', found });
    if (more.length > 0 || entry.algorithm !== 'SHA2_256' || !digests.includes(entry.digest.toString('hex')))
      throw refuted('wrong-subject', { expected: artifacts.flatMap(digestsOf), found });
  });
  if (asked.length > 0)
    await list.run('signer', () => {
      const keyId = sha256Hex(entry.publicKey);
      if (!asked.some((anchor) => anchor.keyId === keyId))
        throw unavailable('untrusted-signer', { key_id: keyId });
      if (entry.verdict !== 'holds')
        throw unavailable('unsupported', {
          key_id: keyId,
          expected: 'the artifact as a file: nothing can be said of this signature by its digest',
        });
    });
  return list.report();
}

/** Allowed key details of an entry by key type, if its digest uses SHA-256. */
const detailsOf: Readonly<Record<string, RegExp>> = {
  prime256v1: /^PKIX_ECDSA_P256_SHA_256$/,
  secp384r1: /^PKIX_ECDSA_P384_SHA_(256|384)$/,
  secp521r1: /^PKIX_ECDSA_P521_SHA_(256|512)$/,
  ed25519: /^PKIX_ED25519$/,
  rsa: /^PKIX_RSA_(PKCS1V15|PSS)_(2048|3072|4096)_SHA256$/,
};

/**
 * The key of an entry, where it is of a kind that is verified here and the entry states that kind; else `undefined`.
 */
function keyOfEntry({ publicKey, keyDetails }: LogEntry): KeyObject | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? '';
  const known = Object.hasOwn(detailsOf, kind) ? detailsOf[kind] : undefined;
  return canVerifyBy(key) && known?.test(keyDetails) ? key : undefined;
}

/**
 * Whether an entry's signature is its key's over what it is about: a log is believed about what it holds, never about
 * who signed that. By the digest alone where that suffices; Ed25519 needs the artifact itself.
 */
async function loggedSignatureVerdict(
  entry: LogEntry,
  key: KeyObject,
  artifacts: readonly GivenArtifact[],
): Promise<SignatureVerdict> {
  if (entry.algorithm !== 'SHA2_256' || entry.digest.length !== 32) return 'cannot';
  const digests = await signedDigests(new Map([['sha256', entry.digest]]));
  const byDigest = signatureVerdict(key, digests, entry.signature);
  if (byDigest !== 'cannot') return byDigest;
  const signed = await signedBytes(entry.digest, artifacts);
  return signed ? signatureVerdict(key, signed, entry.signature) : 'cannot';
}

/** The bytes of this digest: an artifact's own, or what an envelope signs. */
async function signedBytes(digest: Buffer, artifacts: readonly GivenArtifact[]): Promise<Buffer | undefined> {
  for (const { read } of artifacts) {
    try {
      const bytes = await read?.();
      if (bytes === undefined) continue;
      if (sha256(bytes).equals(digest)) return bytes;
      const { content } = parseAnyBundle(bytes);
      if (content.kind !== 'envelope') continue;
      const signed = preAuthEncoding(content.payloadType, content.payload);
      if (sha256(signed).equals(digest)) return signed;
    } catch (fault) {
      if (!isWritError(fault, 'INPUT_TOO_LARGE') && !isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    }
  }
  return undefined;
}
