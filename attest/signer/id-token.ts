import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { HttpAnswer, HttpAsker } from '../../core/base/net.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Secrets } from '../../core/kernel/capabilities.ts';
import { expectObject, expectText } from '../encoding/expect-json.ts';

/** What a token says of whoever holds it; whether that is true is for the authority to judge. */
export interface TokenClaims {
  /** What proof of possession is a signature over: the verified e-mail address, else `sub`. */
  readonly subject: string;
  /** Names that a certificate for this token may bear. */
  readonly identities: readonly string[];
  /** Who may stand in the certificate as having vouched for them. */
  readonly issuers: readonly string[];
  readonly expiresAtMs: number;
}

const maxTokenBytes = 16 * 1024;
const tokenForm = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const githubIssuer = /^https:\/\/token\.actions\.githubusercontent\.com(?:\/|$)/;

/** True where {@link readIdToken} has something to ask. */
export function hasIdToken(secret: Secrets): boolean {
  return Boolean(
    secret('SIGSTORE_ID_TOKEN') ||
      (secret('ACTIONS_ID_TOKEN_REQUEST_URL') && secret('ACTIONS_ID_TOKEN_REQUEST_TOKEN')),
  );
}

/**
 * An OIDC token: `SIGSTORE_ID_TOKEN`, else one that GitHub Actions is asked for, with audience `sigstore`. It is a
 * secret: no error, log or record may hold it. SIGNER_FAILED.
 */
export async function readIdToken(secret: Secrets, ask: HttpAsker): Promise<string> {
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
    // Nothing of the library's own goes on: it had the headers in its hands.
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
 * Reads the claims; SIGNER_FAILED without a word of what was in them. Fulcio names a GitHub workflow and a GitLab
 * pipeline by claims of their own, and whoever was signed in through another service by that service.
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
