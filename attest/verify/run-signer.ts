import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Seal } from '../bundle/bundle.ts';
import { verifyEnvelope } from '../encoding/dsse.ts';
import type { Root } from '../public/trusted-root.ts';
import { type Anchors, findSigner } from './anchors.ts';
import { type CertifiedSource, isForSigning, readCertificateClaims } from './certificate-claims.ts';
import { refuted, type SignerGround, unavailable } from './report.ts';
import { verifyWithSigstore } from './verify-with-sigstore.ts';

/** Who was shown to have signed a logged statement of a run, and by what its companions are judged. */
export interface RunSigner {
  readonly keyId: string;
  readonly key: KeyObject;
  /** DER, where the key is believed by it alone. */
  readonly certificate?: Buffer;
  /** Where the certificate says that the signer's workflow ran. */
  readonly source?: CertifiedSource;
  readonly ground: SignerGround;
}

/**
 * An anchored key signed the envelope, or the holder of a certificate that the trusted root, the identity and the
 * issuer of the anchors stand for, at a time that the log signed (`docs/decisions/0007-keyless.md`). Refusals for a
 * check list.
 */
export async function verifySigner(seal: Seal, anchors: Anchors): Promise<RunSigner> {
  const { envelope, certificate } = seal.bundle;
  if (certificate !== undefined) return verifyCertified(seal, certificate, anchors);
  const { keyId } = envelope;
  const anchor = findSigner(anchors, keyId);
  if (anchor === undefined)
    throw unavailable('untrusted-signer', { key_id: keyId, trusted: anchors.signers.length });
  // Whoever asks for an identity does not mean a key that happens to be pinned.
  if (anchors.identity !== undefined && anchor.from !== 'given')
    throw unavailable('untrusted-signer', {
      key_id: keyId,
      expected: [anchors.identity.identity, anchors.identity.issuer],
      found: 'a key without certificate',
    });
  verifyEnvelope(envelope, anchor.key);
  return { keyId, key: anchor.key, ground: { key_id: keyId, anchor: anchor.from } };
}

async function verifyCertified(
  { bundle: { envelope, proof }, read }: Seal,
  der: Buffer,
  { trustedRoot: root, identity: wanted }: Anchors,
): Promise<RunSigner> {
  const { identity = 'none', issuer: claimed = 'none' } = readCertificateClaims(der);
  if (root === undefined || wanted === undefined)
    throw unavailable('untrusted-signer', {
      expected: '`--trusted-root FILE`, `--identity` and `--issuer`',
      identity,
      issuer: claimed,
    });
  requireCertificateLog(root.root);
  if (proof?.promise === undefined)
    throw unavailable('missing', { expected: 'a log entry whose time the log signed (Rekor v1)' });
  const { issuer = 'none', source, root: used } = await verifyWithSigstore(read, { root });
  // Of several roots another one may name certificate logs.
  requireCertificateLog(used);
  const isWanted = identity === wanted.identity && issuer === wanted.issuer;
  if (!isWanted || identity === 'none' || issuer === 'none')
    throw unavailable('untrusted-signer', {
      expected: [wanted.identity, wanted.issuer],
      found: [identity, issuer],
    });
  const certificate = new X509Certificate(der);
  if (!isForSigning(certificate))
    throw refuted('malformed', { found: 'a certificate that is not for code signing' });
  const { publicKey: key } = certificate;
  // The library judged by its own decoding of the certificate; the platform's must agree.
  verifyEnvelope(envelope, key);
  return { keyId: envelope.keyId, key, certificate: der, source, ground: { identity, issuer } };
}

function requireCertificateLog({ ctlogs }: Root): void {
  if (ctlogs.length > 0) return;
  throw unavailable('untrusted-signer', {
    expected: 'a certificate log in the trusted root',
    found: 'none',
  });
}
