import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from 'node:crypto';
import { initializeCA, initializeCTLog, initializeTLog } from '@sigstore/mock';
import { preAuthEncoding } from '../../../attest/encoding/dsse.ts';
import { keyIdOf } from '../../../attest/encoding/public-key.ts';
import { generateKey } from '../../../attest/keys/key-signer.ts';
import { parseTrustedRoot } from '../../../attest/public/trusted-root.ts';
import type { Anchors } from '../../../attest/verify/anchors.ts';
import type { GivenArtifact } from '../../../attest/verify/given-artifact.ts';
import type { VerifyReport } from '../../../attest/verify/report.ts';
import { type AttestationOptions, verifyAttestation } from '../../../attest/verify/verify-attestation.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';

/** Whatever JSON holds: bundles are taken apart here to be forged. */
export type Loose = ReturnType<typeof JSON.parse>;

export const artifact = Buffer.from('the artifact\n');
export const artifactDigest = sha256Hex(artifact);
export const inToto = 'application/vnd.in-toto+json';
export const identity = 'https://ci.example.org/build.yml@refs/heads/main';
export const issuer = 'https://accounts.example.org';

/** A stranger's statement about {@link artifact}. */
export function statement(changes: Loose = {}): Loose {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'app.tgz', digest: { sha256: artifactDigest } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://example.org/build',
        externalParameters: {},
        resolvedDependencies: [],
      },
      runDetails: { builder: { id: 'https://example.org/builder' } },
    },
    ...changes,
  };
}

export const signerKey = generateKey('ecdsa-p256-sha256');
export const signerId = keyIdOf(createPublicKey(signerKey));

/** A DSSE envelope by a key, over a statement or over any bytes. */
export function envelopeBy(key: KeyObject, payload: Loose, payloadType = inToto, keyid?: string): Loose {
  const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload));
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return {
    payload: bytes.toString('base64'),
    payloadType,
    signatures: [
      {
        sig: sign(digest, preAuthEncoding(payloadType, bytes), key).toString('base64'),
        keyid: keyid ?? keyIdOf(createPublicKey(key)),
      },
    ],
  };
}

/** A bundle v0.3 by {@link signerKey} or another one. */
export function bundleBy(payload: Loose, changes: Loose = {}, key = signerKey): Loose {
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: keyIdOf(createPublicKey(key)) }, tlogEntries: [] },
    dsseEnvelope: envelopeBy(key, payload),
    ...changes,
  };
}

/** Whom the verifier believes: {@link signerKey}, unless told. */
export function anchorsOf(changes: Partial<Anchors> = {}): Anchors {
  return {
    signers: [{ keyId: signerId, key: createPublicKey(signerKey), from: 'given' }],
    ledgers: [],
    ownLedgers: [],
    ...changes,
  };
}

export const given: GivenArtifact & { readonly sha256: string } = {
  name: 'app.tgz',
  sha256: artifactDigest,
  read: async () => artifact,
};

/** Verifies a bundle as somebody who has the artifact. */
export function verifyStranger(
  bundle: Loose,
  options: Partial<AttestationOptions> = {},
  anchors = anchorsOf(),
): Promise<VerifyReport> {
  const bytes = Buffer.isBuffer(bundle) ? bundle : Buffer.from(JSON.stringify(bundle));
  return verifyAttestation(bytes, anchors, {
    nowMs: Date.now(),
    artifacts: [given],
    types: [],
    logged: false,
    summary: { levels: [] },
    replay: false,
    ...options,
  });
}

/**
 * Fulcio, Rekor and certificate log of our own, with the trusted root that names them; a little later than now, as the
 * mock's authorities are valid from when they are made.
 */
export async function makeAuthorities(now = new Date(Date.now() + 60_000)): Promise<{
  readonly root: Loose;
  readonly sign: (payload: Loose, changes?: Loose) => Promise<Loose>;
  readonly signMessage: () => Promise<Loose>;
}> {
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ctLog = await initializeCTLog(pair(), now);
  const ca = await initializeCA(pair(), ctLog, now);
  const tlog: Loose = await initializeTLog('https://rekor.example.org', pair(), now);
  const start = new Date(now.getTime() - 86_400_000).toISOString();
  const log = (baseUrl: string, publicKey: Buffer) => ({
    baseUrl,
    hashAlgorithm: 'SHA2_256',
    publicKey: {
      rawBytes: publicKey.toString('base64'),
      keyDetails: 'PKIX_ECDSA_P256_SHA_256',
      validFor: { start },
    },
    logId: { keyId: createHash('sha256').update(publicKey).digest('base64') },
  });
  const root = {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [log('https://rekor.example.org', tlog.publicKey)],
    ctlogs: [log('https://ct.example.org', ctLog.publicKey)],
    certificateAuthorities: [
      {
        uri: 'https://fulcio.example.org',
        certChain: { certificates: [{ rawBytes: toBase64(ca.rootCertificate) }] },
        validFor: { start },
      },
    ],
    timestampAuthorities: [],
  };

  async function issue(name = identity, by: string | undefined = issuer) {
    const { publicKey, privateKey } = pair();
    const certificate = await ca.issueCertificate({
      publicKey: publicKey.export({ format: 'der', type: 'spki' }) as Loose,
      subjectAltName: name,
      extensions: by === undefined ? [] : [{ oid: '1.3.6.1.4.1.57264.1.8', value: by }],
    });
    const der = Buffer.from(toBase64(certificate), 'base64');
    return { der, pem: new X509Certificate(der).toString(), privateKey };
  }

  async function material(der: Buffer, entry: Loose): Promise<Loose> {
    const [logged] = Object.values(await tlog.log(entry)) as Loose[];
    const { inclusionProof: proof, signedEntryTimestamp } = logged.verification;
    return {
      certificate: { rawBytes: der.toString('base64') },
      tlogEntries: [
        {
          logIndex: String(logged.logIndex),
          logId: { keyId: Buffer.from(logged.logID, 'hex').toString('base64') },
          kindVersion: { kind: entry.kind, version: entry.apiVersion },
          integratedTime: String(logged.integratedTime),
          inclusionPromise: { signedEntryTimestamp },
          inclusionProof: {
            logIndex: '0',
            rootHash: Buffer.from(proof.rootHash, 'hex').toString('base64'),
            treeSize: String(proof.treeSize),
            hashes: [],
            checkpoint: { envelope: proof.checkpoint },
          },
          canonicalizedBody: logged.body,
        },
      ],
    };
  }

  return {
    root,
    async sign(payload, { name, by = issuer } = {}) {
      const { der, pem, privateKey } = await issue(name, by);
      const envelope = envelopeBy(
        createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })),
        payload,
        inToto,
        '',
      );
      const [{ sig }] = envelope.signatures;
      const entry = {
        apiVersion: '0.0.1',
        kind: 'dsse',
        spec: {
          envelopeHash: { algorithm: 'sha256', value: sha256Hex(JSON.stringify(envelope)) },
          payloadHash: { algorithm: 'sha256', value: sha256Hex(Buffer.from(envelope.payload, 'base64')) },
          signatures: [{ signature: sig, verifier: Buffer.from(pem).toString('base64') }],
        },
      };
      return {
        mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
        verificationMaterial: await material(der, entry),
        dsseEnvelope: envelope,
      };
    },
    async signMessage() {
      const { der, pem, privateKey } = await issue();
      const signature = sign('sha256', artifact, privateKey).toString('base64');
      const entry = {
        apiVersion: '0.0.1',
        kind: 'hashedrekord',
        spec: {
          data: { hash: { algorithm: 'sha256', value: artifactDigest } },
          signature: { content: signature, publicKey: { content: Buffer.from(pem).toString('base64') } },
        },
      };
      return {
        mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
        verificationMaterial: await material(der, entry),
        messageSignature: {
          messageDigest: {
            algorithm: 'SHA2_256',
            digest: Buffer.from(artifactDigest, 'hex').toString('base64'),
          },
          signature,
        },
      };
    },
  };
}

/** Anchors of somebody who believes a root, and one identity of it. */
export function rootAnchors(root: Loose, wanted: Anchors['identity'] = { identity, issuer }): Anchors {
  return {
    signers: [],
    ledgers: [],
    ownLedgers: [],
    trustedRoot: parseTrustedRoot(Buffer.from(JSON.stringify(root))),
    ...(wanted && { identity: wanted }),
  };
}

function toBase64(bytes: Loose): string {
  return Buffer.from(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength).toString('base64');
}
