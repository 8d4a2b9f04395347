/* Asks the authorities of keyless signing: one for a certificate (Fulcio), one for a time stamp (RFC 3161). */
import { X509Certificate } from 'node:crypto';
import { sha256 } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { HttpQuestion } from '../../core/base/http-question.ts';
import type { HttpAnswer, HttpClient } from '../../core/base/net.ts';
import { expectArray, expectObject, expectText, parseJsonObject } from '../encoding/expect-json.ts';

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
export async function askFulcio(question: CertificateQuestion): Promise<X509Certificate> {
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
export async function askTimestamp(question: Asking & { readonly signature: Uint8Array }): Promise<Buffer> {
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
export function authorityFailed(kind: AuthorityKind, url: string, found: string): WritError {
  const { origin } = new URL(url);
  return new WritError('SIGNER_FAILED', {
    message: `the ${kind} authority \`${origin}\` did not do what was asked: ${found}`,
    detail: { origin, found },
  });
}
