import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { fulcioHandler, initializeCA, initializeCTLog } from '@sigstore/mock';
import type { Test } from 'tap';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { sha256 } from '../../../core/base/canonical.ts';
import type { SealingPlace, Signer } from '../../../core/interfaces/sealing.ts';
import { type Answered, type Asked, type Json, serve, serveV1 } from '../public/log-servers.ts';
import { sealingPlace } from '../sealing-place.ts';

export const identity = 'https://ci.example.org/build.yml@refs/heads/main';
export const issuer = 'https://accounts.example.org';

/** An OIDC token that says so; its signature is for an authority to judge, and this one does not. */
export function tokenOf(claims: Json = {}): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 600;
  const all = { iss: issuer, sub: identity, aud: 'sigstore', exp, ...claims };
  return [part({ alg: 'RS256' }), part(all), Buffer.alloc(96, 'signature').toString('base64url')].join('.');
}

type Authority = Awaited<ReturnType<typeof initializeCA>>;

export interface Authorities {
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly log: Awaited<ReturnType<typeof serveV1>>;
  readonly ca: Authority;
  /** Trusted root, JSON, changed. */
  root(change?: (root: Json) => Json): string;
  /** Answers every further question like that. */
  lie(answer: (asked: Asked) => Answered | Promise<Answered>): void;
  /** Is told of every further question before it is answered. */
  before(tell: () => void): void;
  /** `[log]` and the files that make these believed. */
  readonly sealing: { readonly log: string; readonly files: Readonly<Record<string, string>> };
  /** What a key is opened with. */
  place(changes?: Parameters<typeof sealingPlace>[1], root?: string): SealingPlace;
}

export const pair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

/** Fulcio, certificate log and Rekor v1 of the sigstore project's mock, over real HTTP. */
export async function serveAuthorities(t: Test, options: { readonly at?: Date } = {}): Promise<Authorities> {
  const log = await serveV1(t);
  const ctLog = await initializeCTLog(pair(), options.at);
  const ca = await initializeCA(pair(), ctLog, options.at);
  const handle = fulcioHandler(ca).fn;
  let answer = async (asked: Asked): Promise<Answered> => {
    const { statusCode, response } = await handle(asked.body);
    return { status: statusCode, body: String(response) };
  };
  let tell = (): void => {};
  const { url, asked } = await serve(t, (one) => {
    tell();
    return answer(one);
  });
  const ctKey = octetsOf(ctLog.publicKey);
  const root: Json = {
    ...(JSON.parse(log.trustedRoot) as Json),
    ctlogs: [
      {
        baseUrl: 'https://ct.example.org',
        hashAlgorithm: 'SHA2_256',
        publicKey: {
          rawBytes: ctKey.toString('base64'),
          keyDetails: 'PKIX_ECDSA_P256_SHA_256',
          validFor: { start: '2020-01-01T00:00:00Z' },
        },
        logId: { keyId: sha256(ctKey).toString('base64') },
      },
    ],
    certificateAuthorities: [
      {
        certChain: { certificates: [{ rawBytes: rootOf(ca) }] },
        validFor: { start: '2020-01-01T00:00:00Z' },
      },
    ],
  };
  const changed = (change: (root: Json) => Json = (same) => same): string => JSON.stringify(change(root));
  return {
    url,
    asked,
    log,
    ca,
    root: changed,
    lie: (next) => {
      answer = async (one) => next(one);
    },
    before: (next) => {
      tell = next;
    },
    sealing: {
      log: `url = "${log.url}"\napi = "v1"\ntrusted_root = "root.json"`,
      files: { 'root.json': changed() },
    },
    place: (changes = {}, trusted = changed()) =>
      sealingPlace(
        '/nowhere',
        {
          logMode: 'public-log',
          signer: { key: { form: 'keyless' }, fulcioUrl: url },
          log: { service: { url: log.url, api: 'v1' }, trustedRoot: 'root.json' },
          ...changes,
        },
        { 'root.json': trusted },
      ),
  };
}

function octetsOf(bytes: Uint8Array | ArrayBufferView): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The certificate of an authority itself, DER in base64. */
export function rootOf(ca: Pick<Authority, 'rootCertificate'>): string {
  return octetsOf(ca.rootCertificate as Uint8Array).toString('base64');
}

/** A certificate of that authority for a key. */
export async function issue(ca: Authority, key: KeyObject, name = identity, by = issuer): Promise<Buffer> {
  const certificate = await ca.issueCertificate({
    publicKey: key.export({ format: 'der', type: 'spki' }),
    subjectAltName: name,
    extensions: [{ oid: '1.3.6.1.4.1.57264.1.8', value: by }],
  });
  return octetsOf(certificate);
}

/** What Fulcio answers. */
export function chainOf(der: Uint8Array): Answered {
  const certificates = [new X509Certificate(der).toString()];
  return { status: 201, body: JSON.stringify({ signedCertificateEmbeddedSct: { chain: { certificates } } }) };
}

/** A signer that believes its authority blindly: what a hostile one could be. */
export async function blindSigner(ca: Authority, name = identity, by = issuer): Promise<Signer> {
  const key = generateKey('ecdsa-p256-sha256');
  const { createPublicKey } = await import('node:crypto');
  const certificate = await issue(ca, createPublicKey(key), name, by);
  return { ...toSigner(key, false), certificate: () => certificate };
}
