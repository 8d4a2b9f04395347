import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { HttpQuestion } from '../../core/base/http-question.ts';
import type { HttpAnswer, HttpAsker } from '../../core/base/net.ts';
import { expectArray, expectObject, expectText, parseJsonObject } from '../encoding/expect-json.ts';

/** What an authority is asked to certify. */
export interface CertificateQuestion {
  /** Of the authority, without a slash at its end. */
  readonly url: string;
  /** OIDC token: sent to the authority, and told to nobody else. */
  readonly token: string;
  readonly publicKeyPem: string;
  /** ECDSA signature by that key over the token's subject, DER. */
  readonly possession: Uint8Array;
  readonly clock: Clock;
  readonly fetch: HttpAsker;
}

const attempts = 3;
const withinMs = 30_000;
const maxAnswerBytes = 256 * 1024;

/**
 * Asks Fulcio (API v2) for a certificate, again where it is busy or failing. SIGNER_FAILED with the status alone: an
 * answer may repeat the token, so none of it is quoted. The certificate is not judged.
 */
export async function askFulcio(question: CertificateQuestion): Promise<X509Certificate> {
  const { url, token, publicKeyPem, possession, clock, fetch: ask } = question;
  const asked: HttpQuestion = {
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
  };
  for (let attempt = 1; ; attempt++) {
    const found = await askOnce(asked, ask);
    if (typeof found !== 'string' && (found.status === 200 || found.status === 201))
      return readLeaf(found.body, url);
    const isPassing = typeof found === 'string' || found.status === 429 || found.status >= 500;
    if (!isPassing || attempt === attempts)
      throw fulcioFailed(url, typeof found === 'string' ? found : `it answered ${found.status}`);
    await clock.sleep(500 * 2 ** (attempt - 1));
  }
}

async function askOnce(question: HttpQuestion, ask: HttpAsker): Promise<HttpAnswer | string> {
  try {
    return await ask(question);
  } catch (fault) {
    return isWritError(fault, 'NETWORK_FAILED') ? messageOf(fault) : 'no answer';
  }
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
    throw fulcioFailed(url, 'its answer holds no certificate');
  }
}

/** An authority that did not do what was asked; `found` holds nothing of the token. */
export function fulcioFailed(url: string, found: string): WritError {
  const { origin } = new URL(url);
  return new WritError('SIGNER_FAILED', {
    message: `the certificate authority \`${origin}\` did not do what was asked: ${found}`,
    detail: { origin, found },
  });
}
