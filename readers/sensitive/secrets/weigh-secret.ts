/* Distinguishes secrets from placeholders. */
import { crc32 } from 'node:zlib';
import { classesOf, entropyOf, isKey, isPassword, isPlaceholder } from './assigned-secret.ts';
import type { SecretMatch } from './secret-patterns.ts';

/** Result for a match: a secret, a placeholder for one, or neither. */
type SecretWeight = 'secret' | 'placeholder' | 'nothing';

const usualPasswords = new Set(
  'password passwd pass passw0rd password1 password123 pwd secret secret123 changeme admin admin123 root toor user username test test123 testing guest example demo dummy foo bar baz foobar postgres postgresql mysql mariadb mongo mongodb redis rabbitmq minio sa token key apikey api_key hunter2 letmein p@ssw0rd p@ssword p@55w0rd p@ss qwerty 123456 12345678 1234 x-oauth-basic x-access-token oauth2 github-actions git anonymous none null'.split(
    ' ',
  ),
);

/** Weighs a match by its value. A token with a valid checksum is always a secret. */
export function weighSecret(match: SecretMatch, text: string): SecretWeight {
  const value = match.value ?? text.slice(match.start, match.end);
  if (match.rule === 'private-key') return weighPrivateKey(value);
  if (match.rule === 'json-web-token') return weighJsonWebToken(value);
  if (match.rule === 'url-password') return weighUrlPassword(text, match, value);
  if (match.rule === 'authorization-header') return weighAuthorization(value);
  if (match.rule === 'registry-auth') return weighPair(value) ?? 'nothing';
  if (match.rule === 'url-token') return isKey(value) && !isPlaceholder(value) ? 'secret' : 'placeholder';
  if (['netrc-password', 'pgpass-password', 'command-password'].includes(match.rule))
    return weighWritten(value, match.rule);
  if (tokenChecksum(value) === 'valid') return 'secret';
  return isPlaceholder(value) ? 'placeholder' : 'secret';
}

function weighPrivateKey(value: string): SecretWeight {
  const body = value.replace(/-----[^-]{1,60}-----/g, '').replace(/[^A-Za-z0-9+/=]/g, '');
  return body.length < 64 || entropyOf(body.slice(0, 2000)) < 3 ? 'placeholder' : 'secret';
}

/**
 * Only a signed token is a secret: a header that names an algorithm, a payload and a signature. The token of jwt.io
 * is the common example.
 */
function weighJsonWebToken(value: string): SecretWeight {
  const [header = '', payload = '', signature = ''] = value.split('.');
  const alg = jsonOf(header)?.alg;
  if (typeof alg !== 'string' || alg.toLowerCase() === 'none') return 'nothing';
  const claims = jsonOf(payload);
  if (claims?.sub === '1234567890' && claims.name === 'John Doe') return 'placeholder';
  return new Set(signature).size < 8 || isPlaceholder(signature) ? 'placeholder' : 'secret';
}

function jsonOf(part: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function weighUrlPassword(text: string, { start, end }: SecretMatch, value: string): SecretWeight {
  const user = /[^/@\s:"'<>`]{0,128}$/.exec(text.slice(Math.max(0, start - 129), start - 1))?.[0] ?? '';
  const host = /^@([\w.-]{0,200})/.exec(text.slice(end, end + 201))?.[1] ?? '';
  const plain = value.toLowerCase();
  // An image by tag and digest: `docker://node:20.11.1-alpine@sha256:…`.
  if (/^@sha(?:256|384|512):[0-9a-f]{8}/.test(text.slice(end, end + 16))) return 'nothing';
  if (isPlaceholder(value) || /[{}$*|\\]/.test(value) || /^[A-Z_]+$/.test(value)) return 'placeholder';
  if (usualPasswords.has(plain) || plain === user.toLowerCase() || plain.length < 5) return 'placeholder';
  // An `@` in it, or a host that is put in later, is the rule in examples: only what looks drawn or chosen counts.
  const [head = ''] = plain.split('@');
  const isDoubtful = head !== plain || (host === '' && !text.startsWith('@[', end));
  if (isDoubtful && (usualPasswords.has(head) || classesOf(value.replaceAll('@', '')) < 3))
    return 'placeholder';
  const isReserved = /(?:^|\.)(?:example(?:\.(?:com|org|net))?|test|invalid|localhost)$/i.test(host);
  return isReserved && (classesOf(value) < 3 || value.length < 12) ? 'placeholder' : 'secret';
}

/** Weighs a value after an option, or in a login file. */
function weighWritten(written: string, rule: string): SecretWeight {
  const value = written.replace(/^["']|["'.,;]+$/g, '');
  if (/^[A-Z_-]+$|\{\w*\}|\$[A-Z_]{3}/.test(value)) return 'placeholder';
  if (isPlaceholder(value) || usualPasswords.has(value.toLowerCase()) || value.length < 5)
    return 'placeholder';
  return rule !== 'command-password' || isPassword(value) || isKey(value) ? 'secret' : 'placeholder';
}

/** `user:password` in base64; `undefined` for anything else. */
function weighPair(value: string): SecretWeight | undefined {
  const decoded = Buffer.from(value, 'base64').toString('latin1');
  const colon = decoded.indexOf(':');
  if (!/^[\x20-\x7e]+$/.test(decoded) || colon <= 0) return undefined;
  const password = decoded.slice(colon + 1);
  const isUsual = usualPasswords.has(password.toLowerCase()) || password === decoded.slice(0, colon);
  return isUsual || password.length < 5 || isPlaceholder(password) ? 'placeholder' : 'secret';
}

function weighAuthorization(value: string): SecretWeight {
  const pair = weighPair(value);
  if (pair !== undefined) return pair;
  if (isPlaceholder(value)) return 'placeholder';
  return value.length >= 20 && entropyOf(value) >= 3.2 && /\d/.test(value) ? 'secret' : 'placeholder';
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const payloadLength = 30;
const checksumLength = 6;
const checked = /^(?:gh[pousr]|npm)_([A-Za-z0-9]{30})([A-Za-z0-9]{6})$/;

/**
 * Whether the last six characters of a GitHub or npm token are the CRC-32 of the thirty before them, in base 62.
 * Returns `undefined` if the token's format has no checksum.
 */
export function tokenChecksum(token: string): 'valid' | 'mismatch' | undefined {
  const [, payload, checksum] = checked.exec(token) ?? [];
  if (payload === undefined || checksum === undefined) return undefined;
  return checksumOf(payload) === checksum ? 'valid' : 'mismatch';
}

/** Six base-62 digits over thirty characters. */
export function checksumOf(payload: string): string {
  if (payload.length !== payloadLength)
    throw new RangeError(`expected ${payloadLength} characters, found ${payload.length}`);
  let left = crc32(payload);
  let text = '';
  for (let place = 0; place < checksumLength; place += 1) {
    text = digits.charAt(left % 62) + text;
    left = Math.floor(left / 62);
  }
  return text;
}
