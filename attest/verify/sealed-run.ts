/* The signer of a sealed run, and the facts that the steps of its verification share. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Seal } from '../bundle/bundle.ts';
import { verifyEnvelope } from '../encoding/dsse.ts';
import type { Root } from '../public/trusted-root.ts';
import { type Anchors, findSigner } from './anchors.ts';
import {
  type CertifiedSource,
  isForSigning,
  readCertificateClaims,
  readCertifiedSource,
} from './certificate-claims.ts';
import type { EvidenceSource, GitCommit } from './evidence-source.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { type CheckList, refuted, type SignerGround, unavailable } from './report.ts';
import type { VerifiedSpec } from './verify-spec.ts';
import { verifyWithSigstore } from './verify-with-sigstore.ts';

/** The verified signer of a run. The other statements of the run must have the same one. */
export interface RunSigner {
  readonly keyId: string;
  readonly key: KeyObject;
  /** DER, where the key is trusted by its certificate alone. */
  readonly certificate?: Buffer;
  /** The source of the signer's workflow, as the certificate names it. */
  readonly source?: CertifiedSource;
  readonly ground: SignerGround;
}

/** The facts about one run that the steps of its verification share. */
export interface RunFacts {
  readonly list: CheckList;
  readonly source: EvidenceSource;
  readonly signer: RunSigner;
  readonly claims: ProvenanceClaims;
  /** `undefined` where the commit is not a commit object. */
  readonly commit: GitCommit | undefined;
  /** `undefined` where the spec could not be tied to the statement. */
  readonly spec: VerifiedSpec | undefined;
  /** Files that were made after the seal; other steps verify them. */
  readonly later: readonly string[];
  /** The time of the verifier, milliseconds since the epoch. */
  readonly nowMs: number;
}

/**
 * Verifies that an anchored key signed the envelope, or the holder of a certificate that the trusted root, the identity
 * and the issuer of the anchors admit, at a time that the log or a time-stamp authority signed
 * (`docs/decisions/0007-keyless.md`). Throws refusals for a check list.
 */
export async function verifySigner(seal: Seal, anchors: Anchors): Promise<RunSigner> {
  const { envelope, certificate } = seal.bundle;
  if (certificate !== undefined) return verifyCertified(seal, certificate, anchors);
  const { keyId } = envelope;
  const anchor = findSigner(anchors, keyId);
  if (anchor === undefined)
    throw unavailable('untrusted-signer', { key_id: keyId, trusted: anchors.signers.length });
  // A user who names an identity does not trust a pinned key for it.
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
  { bundle: { envelope }, read }: Seal,
  der: Buffer,
  { trustedRoot: root, identity: wanted }: Anchors,
): Promise<RunSigner> {
  const { identity = 'none', issuer = 'none' } = readCertificateClaims(der);
  if (root === undefined || wanted === undefined)
    throw unavailable('untrusted-signer', {
      expected: '`--trusted-root FILE`, `--identity` and `--issuer`',
      identity,
      issuer,
    });
  requireCertificateLog(root.root);
  const { root: used } = await verifyWithSigstore(read, { root });
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
  // The library verified by its own decoding of the certificate; the platform's must agree.
  verifyEnvelope(envelope, key);
  const source = readCertifiedSource(der);
  return { keyId: envelope.keyId, key, certificate: der, source, ground: { identity, issuer } };
}

function requireCertificateLog({ ctlogs }: Root): void {
  if (ctlogs.length > 0) return;
  throw unavailable('untrusted-signer', {
    expected: 'a certificate log in the trusted root',
    found: 'none',
  });
}
