import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { ASN1Obj } from '@sigstore/core';
import { fulcioHandler, initializeCA, initializeCTLog, initializeTSA } from '@sigstore/mock';
import type { Test } from 'tap';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { noMemory as memory } from '../../../attest/log/checkpoint-memory.ts';
import { createPublicLog } from '../../../attest/public/public-log-source.ts';
import { parseTrustedRoot, publicLogsOf } from '../../../attest/public/trusted-root.ts';
import type { Anchors } from '../../../attest/verify/anchors.ts';
import { type VerifyReport, verifyExitCode } from '../../../attest/verify/report.ts';
import { verifyRun } from '../../../attest/verify/verify-run.ts';
import { sha256 } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { SealingPlace, Signer } from '../../../core/interfaces/sealing.ts';
import {
  type Answered,
  type Asked,
  type Json,
  serve,
  serveV1,
  serveV2,
  type TestLog,
} from '../public/log-servers.ts';
import { sealingPlace } from '../sealing-place.ts';
import { daysLater, makeMachine, type SealedRun, sealRun, toSource } from '../verify/sealed-run.ts';
import { createSignerSource } from './signer-source.ts';

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
  readonly log: TestLog;
  readonly api: 'v1' | 'v2';
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
  place(changes?: Parameters<typeof sealingPlace>[1], root?: string, signing?: string): SealingPlace;
}

export const pair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

/** The sigstore project's mock of a time-stamp authority, over real HTTP. */
export interface Stamper {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** As a trusted root lists it. */
  readonly listed: Json;
  /** An RFC 3161 response over these bytes. */
  stamp(bytes: Uint8Array): Promise<Buffer>;
  /** The response to a request. */
  reply(query: Buffer): Promise<Buffer>;
  /** Answers every further question like that. */
  lie(answer: (asked: Asked) => Answered | Promise<Answered>): void;
}

/** `at` is what it says the time is; absent: the second of each stamp. */
export async function serveStamper(t: Test, at?: Date): Promise<Stamper> {
  const clock = at ?? new Date();
  const tsa = await initializeTSA(pair(), clock);
  const stampOf = async (hashAlgorithmOID: string, hash: Uint8Array): Promise<Buffer> => {
    // A stock verifier reads no fraction that ends in a zero.
    if (at === undefined) clock.setTime(Math.floor(Date.now() / 1000) * 1000);
    const policyOID = '1.3.6.1.4.1.57264.2';
    const artifactHash = Buffer.from(hash);
    return octetsOf(await tsa.timestamp({ hashAlgorithmOID, artifactHash, nonce: 1, policyOID }));
  };
  const reply = (query: Buffer): Promise<Buffer> => {
    const [, imprint] = ASN1Obj.parseBuffer(Buffer.from(query)).subs;
    const [algorithm, hash] = imprint?.subs ?? [];
    return stampOf(algorithm?.subs[0]?.toOID() ?? '', hash?.value ?? Buffer.alloc(0));
  };
  const headers = { 'content-type': 'application/timestamp-reply' };
  let answer = async ({ bytes }: Asked): Promise<Answered> => ({
    status: 201,
    body: await reply(bytes),
    headers,
  });
  const { url, asked } = await serve(t, (one) => answer(one));
  const chain = [tsa.intCertificate, tsa.rootCertificate] as Uint8Array[];
  return {
    url: `${url}/api/v1/timestamp`,
    asked,
    listed: {
      certChain: {
        certificates: chain.map((der) => ({ rawBytes: octetsOf(der).toString('base64') })),
      },
      validFor: { start: '2020-01-01T00:00:00Z' },
    },
    stamp: (bytes) => stampOf('2.16.840.1.101.3.4.2.1', sha256(bytes)),
    reply,
    lie: (next) => {
      answer = async (one) => next(one);
    },
  };
}

/** A signing config that names these. */
export function signingConfig(log: TestLog, stamper: Stamper | undefined, more: Json = {}): string {
  const service = (url: string, majorApiVersion: number) => ({
    url,
    majorApiVersion,
    validFor: { start: '2020-01-01T00:00:00Z' },
  });
  return JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.signingconfig.v0.2+json',
    rekorTlogUrls: [service(log.url, 2)],
    tsaUrls: stamper ? [service(stamper.url, 1)] : [],
    ...more,
  });
}

/**
 * Fulcio, certificate log and Rekor v1 of the sigstore project's mock, over real HTTP; with a time-stamp authority
 * Rekor v2, and a signing config that names both.
 */
export async function serveAuthorities(
  t: Test,
  options: { readonly at?: Date; readonly stamper?: Stamper } = {},
): Promise<Authorities> {
  const { stamper } = options;
  const api = stamper === undefined ? 'v1' : 'v2';
  const log = await (api === 'v1' ? serveV1 : serveV2)(t);
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
    timestampAuthorities: stamper === undefined ? [] : [stamper.listed],
  };
  const changed = (change: (root: Json) => Json = (same) => same): string => JSON.stringify(change(root));
  const service = `url = "${log.url}"\napi = "v1"\n`;
  return {
    url,
    asked,
    log,
    api,
    ca,
    root: changed,
    lie: (next) => {
      answer = async (one) => next(one);
    },
    before: (next) => {
      tell = next;
    },
    sealing: {
      log: `${api === 'v1' ? service : 'signing_config = "signing.json"\n'}trusted_root = "root.json"`,
      files: { 'root.json': changed(), 'signing.json': signingConfig(log, stamper) },
    },
    place: (changes = {}, trusted = changed(), signing = signingConfig(log, stamper)) =>
      sealingPlace(
        '/nowhere',
        {
          logMode: 'public-log',
          signer: { key: { form: 'keyless' }, fulcioUrl: url },
          log: {
            ...(api === 'v1' ? { service: { url: log.url, api } } : { signingConfig: 'signing.json' }),
            trustedRoot: 'root.json',
          },
          ...changes,
        },
        { 'root.json': trusted, 'signing.json': signing },
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

export function openKeyless(
  place: SealingPlace | undefined,
  env: Readonly<Record<string, string>>,
  clock = systemClock,
): Promise<Signer> {
  return createSignerSource({ env, ephemeral: false, clock }).open({ form: 'keyless' }, place);
}

export function seal(
  authorities: Authorities,
  signer: Signer,
  log = (one: Signer) => logOf(authorities, one),
): Promise<SealedRun> {
  return sealRun(makeMachine(), { signer, log });
}

export function logOf({ log, api, root }: Authorities, signer: Signer) {
  const trustedRoot = Buffer.from(root());
  const logs = publicLogsOf(parseTrustedRoot(trustedRoot));
  return createPublicLog({ url: log.url, api, trustedRoot, logs, signer, memory, clock: systemClock });
}

export function anchors(
  root: string | undefined,
  wanted: Anchors['identity'] = { identity, issuer },
): Anchors {
  return {
    signers: [],
    ledgers: [],
    ownLedgers: [],
    ...(root === undefined ? {} : { trustedRoot: parseTrustedRoot(Buffer.from(root)) }),
    ...(wanted && { identity: wanted }),
  };
}

export const verify = (sealed: SealedRun, by: Anchors): Promise<VerifyReport> =>
  verifyRun(toSource(sealed), by, { clock: daysLater(1), memory });

/** Exit code, and what did not pass of the checks that ran. */
export const refusal = (report: VerifyReport): readonly unknown[] => [
  verifyExitCode(report),
  ...report.checks.flatMap(({ id, status, code }) =>
    code === undefined || code === 'not-run' ? [] : [`${id} ${status} ${code}`],
  ),
];
