/* Signs with a key that Fulcio certifies for an OIDC token. */
import { createPublicKey, X509Certificate } from 'node:crypto';
import { sha256 } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { HttpQuestion } from '../../core/base/http-question.ts';
import type { HttpAnswer, HttpClient } from '../../core/base/net.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { SealingPlace, Signer } from '../../core/interfaces/sealing.ts';
import type { Capabilities, Secrets } from '../../core/kernel/plugin.ts';
import { type AnyBundle, parseAnyBundle } from '../bundle/any-bundle.ts';
import { bundleMediaType, formatBundle } from '../bundle/bundle.ts';
import { signEnvelope } from '../encoding/dsse.ts';
import { expectArray, expectObject, expectText, parseJsonObject } from '../encoding/expect-json.ts';
import { keyIdOf } from '../encoding/public-key.ts';
import { generateKey, toSigner } from '../keys/key-signer.ts';
import { chooseLog, readServices, readTrustedRoot } from '../public/public-log-source.ts';
import type { TrustedRoot } from '../public/trusted-root.ts';
import { isForSigning, readCertificateClaims } from '../verify/certificate-claims.ts';
import { verifyWithSigstore } from '../verify/verify-with-sigstore.ts';

/** The remaining validity below which a new certificate is requested: the log must accept the entry within it. */
const marginMs = 3 * 60_000;

/**
 * A key of this process alone, certified by Fulcio when it first signs (`docs/decisions/0007-keyless.md`). Opening
 * sends no request and refuses what could not be verified later: SIGNER_UNSUPPORTED without a log or a time-stamp
 * authority that signs the time, CONFIG_INVALID, SIGNER_FAILED without a token.
 */
export async function openKeyless(
  place: SealingPlace | undefined,
  { clock, fetch, secret }: Pick<Capabilities, 'clock' | 'fetch' | 'secret'>,
): Promise<Signer> {
  const { url, root, timestamps } = await requireTrustedTime(place, clock);
  if (!hasIdToken(secret))
    throw new WritError('SIGNER_FAILED', {
      message: 'no OIDC token to sign with: neither `SIGSTORE_ID_TOKEN` nor that of GitHub Actions is set',
      detail: { what: 'id-token' },
      hints: ['set `SIGSTORE_ID_TOKEN`, or in GitHub Actions give the job `permissions: id-token: write`'],
    });
  const key = toSigner(generateKey('ecdsa-p256-sha256'), false);
  let held: Promise<X509Certificate> | undefined;
  let certified: X509Certificate | undefined;
  const certify = async (): Promise<X509Certificate> => {
    const token = await readIdToken(secret, fetch);
    const claims = readTokenClaims(token);
    if (claims.expiresAtMs <= clock.now())
      throw new WritError('SIGNER_FAILED', {
        message: `the OIDC token ran out at ${new Date(claims.expiresAtMs).toISOString()}`,
        detail: { what: 'id-token', found: 'expired' },
      });
    const possession = await key.sign(Buffer.from(claims.subject));
    const { publicKeyPem } = key;
    const certificate = await askFulcio({ url, token, publicKeyPem, possession, clock, fetch });
    const fault = await faultOf(certificate, key, claims, root, clock.now());
    if (fault !== undefined) throw authorityFailed('certificate', url, withoutToken(fault, token));
    return certificate;
  };
  const certificate = (): Buffer => {
    if (certified) return certified.raw;
    throw new WritError('INTERNAL', { message: 'a certificate is there once something was signed' });
  };
  return {
    ...key,
    certificate,
    ...(timestamps !== undefined && {
      async timestamp(data, signature) {
        const stamp = await askTimestamp({ url: timestamps, signature, clock, fetch });
        const fault = await stampFaultOf(stamp, Buffer.from(data), signature, certificate(), root);
        if (fault !== undefined) throw authorityFailed('time-stamp', timestamps, fault);
        return stamp;
      },
    }),
    async sign(data) {
      if (certified && certified.validToDate.getTime() - marginMs <= clock.now()) {
        held = undefined;
        certified = undefined;
      }
      held ??= certify();
      try {
        certified = await held;
      } catch (fault) {
        held = undefined;
        throw fault;
      }
      return key.sign(data);
    },
  };
}

/** What a keyless signer needs of the policy commit, once it is shown that someone signs the time. */
interface TrustedTime {
  /** The certificate authority. */
  readonly url: string;
  readonly root: TrustedRoot;
  /** The time-stamp authority; absent where the log signs the time. */
  readonly timestamps: string | undefined;
}

async function requireTrustedTime(place: SealingPlace | undefined, clock: Clock): Promise<TrustedTime> {
  if (place?.logMode !== 'public-log') throw noTime(`log mode \`${place?.logMode ?? 'none'}\``);
  const now = clock.now();
  const { api } = await chooseLog(place, now);
  const { fulcioUrl } = place.config.signer;
  const isNamed = typeof fulcioUrl === 'string';
  const services = api === 'v1' && isNamed ? undefined : await readServices(place, now);
  const timestamps = api === 'v1' ? undefined : services?.timestamps?.url;
  if (api !== 'v1' && timestamps === undefined)
    throw noTime(`a Rekor ${api} log and no signing config that names one time-stamp authority to ask`);
  const { root } = await readTrustedRoot(place);
  const { certificateAuthorities, ctlogs, timestampAuthorities } = root.root;
  if (certificateAuthorities.length === 0 || ctlogs.length === 0)
    throw invalid('log.trusted_root', 'it names no certificate authority, or no certificate log');
  if (timestamps !== undefined && timestampAuthorities.length === 0)
    throw invalid('log.trusted_root', 'it names no time-stamp authority, and a Rekor v2 log signs no time');
  const url = isNamed ? fulcioUrl : services?.certificates?.url;
  if (url === undefined)
    throw invalid(
      'signer.fulcio_url',
      'expected the authority that certifies the key, here or in `[log] signing_config`',
    );
  return { url: url.replace(/\/+$/, ''), root, timestamps };
}

/** Checks a certificate against everything that a verifier will require; returns the fault, if any. */
async function faultOf(
  certificate: X509Certificate,
  key: Signer,
  claims: TokenClaims,
  root: TrustedRoot,
  nowMs: number,
): Promise<string | undefined> {
  const found = certificate.publicKey;
  if (!found.equals(createPublicKey(key.publicKeyPem)))
    return `the certificate is for another key, \`${keyIdOf(found)}\``;
  const { validFromDate, validToDate } = certificate;
  // Fulcio counts in seconds, and its clock is not ours.
  if (nowMs < validFromDate.getTime() - 60_000 || validToDate.getTime() - marginMs <= nowMs)
    return `the certificate holds from ${validFromDate.toISOString()} to ${validToDate.toISOString()}`;
  if (!isForSigning(certificate)) return 'the certificate is not for code signing';
  const { identity = 'none', issuer = 'none' } = readCertificateClaims(certificate.raw);
  if (!claims.identities.includes(identity))
    return `the certificate is for \`${identity}\`, whom the token does not name`;
  if (!claims.issuers.includes(issuer))
    return `the certificate names \`${issuer}\` as issuer, the token another`;
  const trial = await signEnvelope('application/json', Buffer.from('{}'), key);
  const bundle = formatBundle({ envelope: trial, proof: undefined, certificate: certificate.raw });
  try {
    const atMs = Math.max(nowMs, validFromDate.getTime());
    await verifyWithSigstore(parseAnyBundle(Buffer.from(bundle)), { root, atMs });
    return undefined;
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return `the certificate does not hold by the trusted root: ${String(fault.detail.found ?? fault.detail.reason)}`;
  }
}

/**
 * Checks a time stamp like a verifier: by an authority of the trusted root, over this very signature, at a time when
 * the certificate is valid. The log entry does not exist yet. Returns the fault, if any.
 */
async function stampFaultOf(
  stamp: Buffer,
  data: Buffer,
  signature: Uint8Array,
  certificate: Buffer,
  root: TrustedRoot,
): Promise<string | undefined> {
  const bundle: AnyBundle = {
    mediaType: bundleMediaType,
    material: { kind: 'certificate', der: certificate },
    content: {
      kind: 'message',
      algorithm: 'SHA2_256',
      digest: sha256(data),
      signature: Buffer.from(signature),
    },
    entries: [],
    timestamps: [{ signedTimestamp: stamp.toString('base64') }],
  };
  const unlogged = { ...root, members: root.members.map((member) => ({ ...member, tlogs: [] })) };
  try {
    await verifyWithSigstore(bundle, { root: unlogged, signed: data });
    return undefined;
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    const { reason, found } = fault.detail;
    return `its time stamp does not hold by the trusted root: ${String(reason)}, ${String(found)}`;
  }
}

/** Whatever an authority writes into a certificate, no piece of the token is repeated. */
function withoutToken(text: string, token: string): string {
  for (let at = 0; at + 16 <= text.length; at++)
    if (token.includes(text.slice(at, at + 16))) return 'the certificate repeats the token';
  return text.slice(0, 600);
}

function noTime(found: string): WritError {
  return new WritError('SIGNER_UNSUPPORTED', {
    message: `\`key = "keyless"\` with ${found}: its certificate is valid for minutes, and no trusted party would state when it signed, so it could not be verified later`,
    detail: { form: 'keyless', found },
    hints: [
      'log to a Rekor v1 log: spec `transparencyLog.mode` `public-log`, `[log] api = "v1"`',
      'or to a Rekor v2 log by a `[log] signing_config` that names one of `tsaUrls`',
      'or sign with a managed key',
    ],
  });
}

function invalid(path: string, message: string): WritError {
  return new WritError('CONFIG_INVALID', {
    message: `\`.writ/config.toml\` at the policy commit is not valid at \`${path}\`: ${message}`,
    detail: { issues: [{ path, message }] },
  });
}

/** The claims of a token about its holder; the authority verifies them. */
interface TokenClaims {
  /** What proof of possession is a signature over: the verified e-mail address, else `sub`. */
  readonly subject: string;
  /** Names that a certificate for this token may bear. */
  readonly identities: readonly string[];
  /** Issuers that the certificate may name. */
  readonly issuers: readonly string[];
  readonly expiresAtMs: number;
}

const maxTokenBytes = 16 * 1024;
const tokenForm = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const githubIssuer = /^https:\/\/token\.actions\.githubusercontent\.com(?:\/|$)/;

/** True where {@link readIdToken} has a source. */
function hasIdToken(secret: Secrets): boolean {
  return Boolean(
    secret('SIGSTORE_ID_TOKEN') ||
      (secret('ACTIONS_ID_TOKEN_REQUEST_URL') && secret('ACTIONS_ID_TOKEN_REQUEST_TOKEN')),
  );
}

/**
 * Reads an OIDC token: `SIGSTORE_ID_TOKEN`, else one from GitHub Actions with audience `sigstore`. It is a secret: no
 * error, log or record may hold it. SIGNER_FAILED.
 */
async function readIdToken(secret: Secrets, ask: HttpClient): Promise<string> {
  const given = secret('SIGSTORE_ID_TOKEN');
  if (given) return requireForm(given.trim(), '`SIGSTORE_ID_TOKEN`');
  const address = secret('ACTIONS_ID_TOKEN_REQUEST_URL') ?? '';
  const bearer = secret('ACTIONS_ID_TOKEN_REQUEST_TOKEN') ?? '';
  if (!URL.canParse(address) || !/^[!-~]{1,16384}$/.test(bearer))
    throw tokenFailed(
      '`ACTIONS_ID_TOKEN_REQUEST_URL` and `ACTIONS_ID_TOKEN_REQUEST_TOKEN` are not what GitHub Actions sets',
    );
  const url = new URL(address);
  url.searchParams.set('audience', 'sigstore');
  const where = `the token service \`${url.origin}\``;
  let answer: HttpAnswer;
  try {
    answer = await ask({
      url: url.href,
      method: 'GET',
      headers: { authorization: `bearer ${bearer}`, accept: 'application/json' },
      withinMs: 30_000,
      maxBytes: 64 * 1024,
    });
  } catch (fault) {
    // The library's error is not passed on, because the library had access to the request headers.
    throw tokenFailed(
      `${where} gave none: ${isWritError(fault, 'NETWORK_FAILED') ? messageOf(fault) : 'no answer'}`,
    );
  }
  if (answer.status !== 200) throw tokenFailed(`${where} answered ${answer.status}`);
  return requireForm(readValue(answer.body), where);
}

function readValue(body: Uint8Array): string {
  try {
    const { value } = parseStrictJson(body, { code: 'SIGNER_FAILED', maxDepth: 4 });
    return expectText(expectObject(value, '').value, '/value');
  } catch {
    return '';
  }
}

function requireForm(token: string, where: string): string {
  if (token.length <= maxTokenBytes && tokenForm.test(token)) return token;
  throw tokenFailed(`${where} holds no JSON Web Token of at most ${maxTokenBytes} octets`);
}

/**
 * Reads the claims; SIGNER_FAILED without their content. Fulcio names a GitHub workflow and a GitLab pipeline by claims
 * of their own, and a user of another service by that service.
 */
export function readTokenClaims(token: string): TokenClaims {
  const claims = parseClaims(token.split('.')[1] ?? '');
  const text = (name: string): string | undefined => {
    const value = claims[name];
    return typeof value === 'string' && /^[!-~]{1,2048}$/.test(value) ? value : undefined;
  };
  const isVerified = claims.email_verified === true || claims.email_verified === 'true';
  const [email, sub, issuer] = [isVerified ? text('email') : undefined, text('sub'), text('iss')];
  const subject = email ?? sub;
  const { exp, federated_claims: federated } = claims;
  if (subject === undefined || issuer === undefined || typeof exp !== 'number' || !Number.isFinite(exp))
    throw tokenFailed('it lacks `iss`, `exp`, or a `sub` or verified `email`');
  const workflow = githubIssuer.test(issuer) ? text('job_workflow_ref') : undefined;
  const pipeline = text('ci_config_ref_uri');
  const connector = Object(federated).connector_id as unknown;
  return {
    subject,
    identities: [
      subject,
      ...(workflow === undefined ? [] : [`https://github.com/${workflow}`]),
      ...(pipeline === undefined ? [] : [`https://${pipeline}`]),
    ],
    issuers: [issuer, ...(typeof connector === 'string' ? [connector] : [])],
    expiresAtMs: exp * 1000,
  };
}

function parseClaims(part: string): Readonly<Record<string, unknown>> {
  try {
    const bytes = Buffer.from(part, 'base64url');
    const { value } = parseStrictJson(bytes, { code: 'SIGNER_FAILED', maxDepth: 8 });
    return expectObject(value, '');
  } catch {
    // The parser's reason is left out: it may quote a claim.
    throw tokenFailed('its claims are not JSON');
  }
}

function tokenFailed(found: string): WritError {
  return new WritError('SIGNER_FAILED', {
    message: `no OIDC token to sign with: ${found}`,
    detail: { what: 'id-token' },
    hints: ['set `SIGSTORE_ID_TOKEN`, or in GitHub Actions give the job `permissions: id-token: write`'],
  });
}

/** How an authority is asked. */
interface Asking {
  /** Without a slash at its end. */
  readonly url: string;
  readonly clock: Clock;
  readonly fetch: HttpClient;
}

/** A request for a certificate. */
interface CertificateQuestion extends Asking {
  /** OIDC token; only the authority receives it. */
  readonly token: string;
  readonly publicKeyPem: string;
  /** ECDSA signature by that key over the token's subject, DER. */
  readonly possession: Uint8Array;
}

const attempts = 3;
const withinMs = 30_000;
const maxAnswerBytes = 256 * 1024;
/** A response with a chain of certificates in it has less than 10 KiB. */
const maxStampBytes = 64 * 1024;

/**
 * Requests a certificate from Fulcio (API v2), with retries where it is busy or failing. SIGNER_FAILED holds the status
 * alone, because an answer may repeat the token. The certificate is not verified.
 */
async function askFulcio(question: CertificateQuestion): Promise<X509Certificate> {
  const { url, token, publicKeyPem, possession } = question;
  const body = await ask('certificate', question, {
    url: `${url}/api/v2/signingCert`,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      credentials: { oidcIdentityToken: token },
      publicKeyRequest: {
        publicKey: { algorithm: 'ECDSA', content: publicKeyPem },
        proofOfPossession: Buffer.from(possession).toString('base64'),
      },
    }),
    withinMs,
    maxBytes: maxAnswerBytes,
  });
  return readLeaf(body, url);
}

/**
 * The first certificate of either form of answer. A bundle has no place for a detached SCT: such a leaf is then one
 * without.
 */
function readLeaf(body: Uint8Array, url: string): X509Certificate {
  try {
    const answer = parseJsonObject(body, maxAnswerBytes);
    const signed = answer.signedCertificateEmbeddedSct ?? answer.signedCertificateDetachedSct;
    const { certificates } = expectObject(expectObject(signed, '').chain, '/chain');
    const [leaf] = expectArray(certificates, '/chain/certificates', 16);
    return new X509Certificate(expectText(leaf, '/leaf', /^\s*-----BEGIN CERTIFICATE-----/));
  } catch {
    throw authorityFailed('certificate', url, 'its answer holds no certificate');
  }
}

/**
 * TimeStampReq (RFC 3161, 2.4.1) up to the digest: version 1, and a message imprint by SHA-256. What follows it is
 * optional: no nonce, because no earlier answer is about a signature that was made just now, and no certificates,
 * because the trusted root holds them.
 */
const stampRequest = Buffer.from('30360201013031300d060960864801650304020105000420', 'hex');

/**
 * Requests a time stamp over a signature, with retries where the authority is busy or failing. Returns the unverified
 * response, DER. SIGNER_FAILED.
 */
async function askTimestamp(question: Asking & { readonly signature: Uint8Array }): Promise<Buffer> {
  const { url, signature } = question;
  return ask('time-stamp', question, {
    url,
    method: 'POST',
    headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
    body: Buffer.concat([stampRequest, sha256(signature)]),
    withinMs,
    maxBytes: maxStampBytes,
  });
}

async function ask(
  kind: AuthorityKind,
  { url, clock, fetch: send }: Asking,
  asked: HttpQuestion,
): Promise<Buffer> {
  for (let attempt = 1; ; attempt++) {
    const found = await askOnce(asked, send);
    if (typeof found !== 'string' && (found.status === 200 || found.status === 201)) return found.body;
    const isPassing = typeof found === 'string' || found.status === 429 || found.status >= 500;
    if (!isPassing || attempt === attempts)
      throw authorityFailed(kind, url, typeof found === 'string' ? found : `it answered ${found.status}`);
    await clock.sleep(500 * 2 ** (attempt - 1));
  }
}

async function askOnce(question: HttpQuestion, send: HttpClient): Promise<HttpAnswer | string> {
  try {
    return await send(question);
  } catch (fault) {
    return isWritError(fault, 'NETWORK_FAILED') ? messageOf(fault) : 'no answer';
  }
}

type AuthorityKind = 'certificate' | 'time-stamp';

/** SIGNER_FAILED for an authority; `found` must not contain any part of the token. */
function authorityFailed(kind: AuthorityKind, url: string, found: string): WritError {
  const { origin } = new URL(url);
  return new WritError('SIGNER_FAILED', {
    message: `the ${kind} authority \`${origin}\` did not do what was asked: ${found}`,
    detail: { origin, found },
  });
}
