import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from 'node:crypto';
import { initializeCA, initializeCTLog, initializeTLog, initializeTSA } from '@sigstore/mock';
import { preAuthEncoding } from '../../../attest/encoding/dsse.ts';
import { toSpki } from '../../../attest/encoding/public-key.ts';
import { leafHash, nodeHash } from '../../../attest/log/merkle.ts';
import { ledgerKeyFor } from '../../../attest/log/note.ts';
import { parseTrustedRoot } from '../../../attest/public/trusted-root.ts';
import type { Anchors } from '../../../attest/verify/anchors.ts';
import { canonicalize } from '../../../core/base/canonical.ts';
import { artifact, inToto, type Loose, statement } from '../verify/strangers.ts';

export const builder = 'https://github.com/example/app/.github/workflows/release.yml@refs/tags/v1.0.0';
export const github = 'https://token.actions.githubusercontent.com';

const hashOids = { sha256: '2.16.840.1.101.3.4.2.1', sha512: '2.16.840.1.101.3.4.2.3' } as const;

/** How a bundle is made; what is left out is what a keyless client makes today. */
export interface Made {
  readonly version?: '0.1' | '0.2' | '0.3';
  /** Kind of the log entry; `v2` is hashedrekord 0.0.2 and `dsse2` dsse 0.0.2, without promise, `none` no entry at all. */
  readonly entry?: 'dsse' | 'intoto' | 'hashedrekord' | 'v2' | 'dsse2' | 'none';
  /** Logged in {@link Foundry.rekor2}, which signs checkpoints with Ed25519. */
  readonly inRekor2?: boolean;
  /** A message signature over these bytes instead of a statement. */
  readonly message?: Buffer;
  readonly payload?: Loose;
  /** A key instead of a certificate, and its hint. */
  readonly key?: { readonly privateKey: KeyObject; readonly hint: string };
  readonly name?: string;
  /** `null`: the certificate names none. */
  readonly issuer?: string | null;
  /** Values of Fulcio's extensions by their last arcs. */
  readonly extensions?: Readonly<Record<number, string>>;
  readonly stamped?: boolean;
  /** Made by somebody else: a certificate, and its key. */
  readonly certified?: { readonly der: Buffer; readonly privateKey: KeyObject; readonly hash?: string };
}

export interface Foundry {
  /** Trusted root that names certificate authority, certificate log, transparency log and time-stamp authority. */
  readonly root: Loose;
  /** The Ed25519 log as a trusted root lists it. */
  readonly rekor2: Loose;
  make(made?: Made): Promise<Loose>;
  /** An RFC 3161 response over these bytes. */
  stamp(signature: Buffer): Promise<Loose>;
  issue(
    name?: string,
    issuer?: string | null,
    extensions?: Made['extensions'],
  ): Promise<{ readonly der: Buffer; readonly privateKey: KeyObject }>;
}

const pair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const digest = (bytes: Buffer, hash = 'sha256') => createHash(hash).update(bytes).digest();
const octets = (bytes: Loose) => Buffer.from(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);

/** Later than the mock's authorities, which begin to be valid when they are made. */
const soon = () => new Date(Date.now() + 120_000);

/**
 * A certificate authority, both logs and a time-stamp authority of the sigstore project's mock, as if it were `at`;
 * `sct: false` leaves the certificate log out.
 */
export async function makeFoundry({
  at = soon(),
  sct = true,
}: {
  at?: Date;
  sct?: boolean;
} = {}): Promise<Foundry> {
  const ctLog = await initializeCTLog(pair(), at);
  const ca = await initializeCA(pair(), sct ? ctLog : (undefined as Loose), at);
  const tlog: Loose = await initializeTLog('https://rekor.example.org', pair(), at);
  const tsa = await initializeTSA(pair(), at);
  const validFor = { start: '2020-01-01T00:00:00Z' };
  const log = (baseUrl: string, key: Buffer) => ({
    baseUrl,
    hashAlgorithm: 'SHA2_256',
    publicKey: { rawBytes: key.toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor },
    logId: { keyId: digest(key).toString('base64') },
  });
  const authority = (...certificates: Loose[]) => ({
    certChain: { certificates: certificates.map((one) => ({ rawBytes: octets(one).toString('base64') })) },
    validFor,
  });
  const root = {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [log('https://rekor.example.org', tlog.publicKey)],
    ctlogs: [log('https://ct.example.org', octets(ctLog.publicKey))],
    certificateAuthorities: [authority(ca.rootCertificate)],
    timestampAuthorities: [authority(tsa.intCertificate, tsa.rootCertificate)],
  };

  const ledger = generateKeyPairSync('ed25519');
  const rekor2Key = ledgerKeyFor('log2026-1.rekor.example.org', ledger.publicKey);
  const rekor2 = {
    baseUrl: `https://${rekor2Key.name}`,
    hashAlgorithm: 'SHA2_256',
    publicKey: {
      rawBytes: toSpki(ledger.publicKey).toString('base64'),
      keyDetails: 'PKIX_ED25519',
      validFor,
    },
    logId: { keyId: rekor2Key.keyId.toString('base64') },
  };

  /** The second of two entries, as Rekor v2 answers it: no promise, no time, and a cosignature beside the log's own. */
  function loggedInRekor2(entry: Loose): Loose {
    const body = Buffer.from(canonicalize(entry));
    const sibling = leafHash(Buffer.from('another entry'));
    const rootHash = nodeHash(sibling, leafHash(body)).toString('base64');
    const text = `${rekor2Key.name}\n2\n${rootHash}\n`;
    const line = (name: string, hint: Buffer, signature: Buffer) =>
      `\u2014 ${name} ${Buffer.concat([hint, signature]).toString('base64')}\n`;
    const own = line(
      rekor2Key.name,
      rekor2Key.keyId.subarray(0, 4),
      sign(null, Buffer.from(text), ledger.privateKey),
    );
    return {
      logIndex: '1',
      logId: rekor2.logId,
      kindVersion: { kind: entry.kind, version: entry.apiVersion },
      integratedTime: '0',
      inclusionProof: {
        logIndex: '1',
        rootHash,
        treeSize: '2',
        hashes: [sibling.toString('base64')],
        checkpoint: {
          envelope: `${text}\n${line('witness.example.org', Buffer.alloc(4, 7), Buffer.alloc(72))}${own}`,
        },
      },
      canonicalizedBody: body.toString('base64'),
    };
  }

  async function issue(name = builder, issuer: string | null = github, more: Made['extensions'] = {}) {
    const { publicKey, privateKey } = pair();
    const certificate = await ca.issueCertificate({
      publicKey: publicKey.export({ format: 'der', type: 'spki' }) as Loose,
      subjectAltName: name,
      extensions: [...(issuer === null ? [] : [['8', issuer] as const]), ...Object.entries(more)].map(
        ([arc, value]) => ({ oid: `1.3.6.1.4.1.57264.1.${arc}`, value }),
      ),
    });
    return { der: octets(certificate), privateKey };
  }

  async function stamp(signature: Buffer): Promise<Loose> {
    const response = await tsa.timestamp({
      artifactHash: digest(signature),
      hashAlgorithmOID: hashOids.sha256,
      nonce: 1,
      policyOID: '1.3.6.1.4.1.57264.2',
    });
    return { signedTimestamp: octets(response).toString('base64') };
  }

  async function logged(entry: Loose, promised: boolean): Promise<Loose> {
    const [made] = Object.values(await tlog.log(entry)) as Loose[];
    const { inclusionProof: proof, signedEntryTimestamp } = made.verification;
    return {
      logIndex: String(promised ? made.logIndex : 0),
      logId: { keyId: Buffer.from(made.logID, 'hex').toString('base64') },
      kindVersion: { kind: entry.kind, version: entry.apiVersion },
      integratedTime: promised ? String(made.integratedTime) : '0',
      ...(promised && { inclusionPromise: { signedEntryTimestamp } }),
      inclusionProof: {
        logIndex: '0',
        rootHash: Buffer.from(proof.rootHash, 'hex').toString('base64'),
        treeSize: String(proof.treeSize),
        hashes: [],
        checkpoint: { envelope: proof.checkpoint },
      },
      canonicalizedBody: made.body,
    };
  }

  async function make(made: Made = {}): Promise<Loose> {
    const { version = '0.3', message, key, certified, payload = statement() } = made;
    const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(JSON.stringify(payload));
    const holder = key ?? certified ?? (await issue(made.name, made.issuer, made.extensions));
    const signed = message ?? preAuthEncoding(inToto, bytes);
    const hash = certified?.hash ?? 'sha256';
    const isEd = holder.privateKey.asymmetricKeyType === 'ed25519';
    const signature = sign(isEd ? null : hash, signed, holder.privateKey);
    const der = 'der' in holder ? holder.der : undefined;
    const verifier = der ? new X509Certificate(der).toString() : pemOf(holder.privateKey);
    const envelope = {
      payload: bytes.toString('base64'),
      payloadType: inToto,
      signatures: [{ sig: signature.toString('base64'), keyid: key?.hint ?? '' }],
    };
    const entry = made.entry ?? (message ? 'hashedrekord' : 'dsse');
    const body = entryBody(entry, { signed, payload: bytes, signature, verifier, envelope, der });
    const material = der
      ? version === '0.3'
        ? { certificate: { rawBytes: der.toString('base64') } }
        : { x509CertificateChain: { certificates: [{ rawBytes: der.toString('base64') }] } }
      : { publicKey: { hint: key?.hint ?? '' } };
    return {
      mediaType:
        version === '0.3'
          ? 'application/vnd.dev.sigstore.bundle.v0.3+json'
          : `application/vnd.dev.sigstore.bundle+json;version=${version}`,
      verificationMaterial: {
        ...material,
        tlogEntries:
          body === undefined
            ? []
            : [
                made.inRekor2
                  ? loggedInRekor2(body)
                  : await logged(body, entry !== 'v2' && entry !== 'dsse2'),
              ],
        ...(made.stamped && { timestampVerificationData: { rfc3161Timestamps: [await stamp(signature)] } }),
      },
      ...(message
        ? {
            messageSignature: {
              messageDigest: { algorithm: 'SHA2_256', digest: digest(message).toString('base64') },
              signature: signature.toString('base64'),
            },
          }
        : { dsseEnvelope: envelope }),
    };
  }
  return { root, rekor2, make, stamp, issue };
}

function entryBody(kind: NonNullable<Made['entry']>, of: Loose): Loose {
  const { signed, payload, signature, verifier, envelope, der } = of;
  const hex = (bytes: Buffer) => ({ algorithm: 'sha256', value: digest(bytes).toString('hex') });
  const pem = Buffer.from(verifier).toString('base64');
  const sig = signature.toString('base64');
  switch (kind) {
    case 'none':
      return undefined;
    case 'hashedrekord':
      return {
        apiVersion: '0.0.1',
        kind: 'hashedrekord',
        spec: { data: { hash: hex(signed) }, signature: { content: sig, publicKey: { content: pem } } },
      };
    case 'dsse':
      return {
        apiVersion: '0.0.1',
        kind: 'dsse',
        spec: {
          envelopeHash: hex(Buffer.from(JSON.stringify(envelope))),
          payloadHash: hex(payload),
          signatures: [{ signature: sig, verifier: pem }],
        },
      };
    case 'intoto':
      return {
        apiVersion: '0.0.2',
        kind: 'intoto',
        spec: {
          content: {
            envelope: {
              payloadType: envelope.payloadType,
              signatures: [{ sig: Buffer.from(sig).toString('base64'), publicKey: pem }],
            },
            hash: hex(Buffer.from(JSON.stringify(envelope))),
            payloadHash: hex(payload),
          },
        },
      };
    case 'dsse2':
      return {
        apiVersion: '0.0.2',
        kind: 'dsse',
        spec: {
          dsseV002: {
            payloadHash: { algorithm: 'SHA2_256', digest: digest(payload).toString('base64') },
            signatures: [{ content: sig, verifier: verifierOf(der, verifier) }],
          },
        },
      };
    case 'v2':
      return {
        apiVersion: '0.0.2',
        kind: 'hashedrekord',
        spec: {
          hashedRekordV002: {
            data: { algorithm: 'SHA2_256', digest: digest(signed).toString('base64') },
            signature: {
              content: sig,
              verifier: verifierOf(der, verifier),
            },
          },
        },
      };
  }
}

function verifierOf(der: Buffer | undefined, pem: string): Loose {
  return {
    keyDetails: 'PKIX_ECDSA_P256_SHA_256',
    ...(der
      ? { x509Certificate: { rawBytes: der.toString('base64') } }
      : { publicKey: { rawBytes: spkiOf(pem).toString('base64') } }),
  };
}

function pemOf(key: KeyObject): string {
  return String(createPublicKey(key).export({ format: 'pem', type: 'spki' }));
}

function spkiOf(pem: string): Buffer {
  return createPublicKey(pem).export({ format: 'der', type: 'spki' });
}

/** Anchors of somebody who believes this root and {@link builder}, unless told. */
export function believing(
  root: Loose,
  wanted: Anchors['identity'] = { identity: builder, issuer: github },
): Anchors {
  const trustedRoot = parseTrustedRoot(Buffer.from(JSON.stringify(root)));
  return { signers: [], ledgers: [], ownLedgers: [], trustedRoot, ...(wanted && { identity: wanted }) };
}

/** A changed copy. */
export function edited(bundle: Loose, edit: (copy: Loose) => unknown): Loose {
  const copy = structuredClone(bundle);
  edit(copy);
  return copy;
}

export { artifact };
