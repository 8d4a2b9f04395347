import { maxSecretBytes, type SecretMatch } from './secret-patterns.ts';

/** Where a private key may be found: the words of a PEM header, and of a PuTTY file. */
export const keyAnchors: readonly string[] = ['BEGI', 'PuTT'];

const pemAnchor = '-----BEGIN ';
/**
 * Every label of RFC 7468 and its neighbours: PKCS#8, RSA, EC, DSA, ENCRYPTED, ANY, OPENSSH, SSH2 ENCRYPTED, PGP …
 * BLOCK.
 */
const pemHead = /-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?)-----/y;
const sshComHead = /---- BEGIN (SSH2 ENCRYPTED PRIVATE KEY) ----/y;
/** Key material that no `END` line closes: lines of base64, however they are broken. */
const keyBody = /(?:(?:\\{1,2}[nr]|[\s"',|>:#*-]){0,12}[A-Za-z0-9+/=]{16,200}){1,400}/y;
const keyHeaders =
  /(?:(?:\\{1,2}[nr]|\s){1,4}(?:Proc-Type|DEK-Info|Comment|Version|Subject): ?[^\n\\]{1,80}){0,4}/y;
const puttyForm = /PuTTY-User-Key-File-\d: [\s\S]{1,12000}?Private-MAC: [0-9a-f]{40,64}/y;
const material = /[A-Za-z0-9+/=]{16}/;

/** The private key whose header holds the anchor at `at`; a header with nothing behind it is talk about keys. */
export function findPrivateKey(text: string, at: number): SecretMatch | undefined {
  if (text.startsWith('PuTTY-User-Key-File-', at)) {
    puttyForm.lastIndex = at;
    const match = puttyForm.exec(text);
    return match ? toMatch(at, at + match[0].length) : undefined;
  }
  const start = at - 5;
  return fromHead(text, start, pemHead, '-----') ?? fromHead(text, start, sshComHead, '----');
}

/** The private key whose header holds the words at `at`. */
export function keyAround(text: string, at: number): SecretMatch | undefined {
  const begin = text.lastIndexOf(keyAnchors[0] as string, at);
  return begin < 0 || at - begin > 48 ? undefined : findPrivateKey(text, begin);
}

function fromHead(text: string, start: number, form: RegExp, dashes: string): SecretMatch | undefined {
  if (start < 0) return undefined;
  form.lastIndex = start;
  const head = form.exec(text);
  if (!head) return undefined;
  const bodyStart = start + head[0].length;
  const closer = dashes === '----' ? `---- END ${head[1]} ----` : `-----END ${head[1]}-----`;
  const region = text.slice(bodyStart, start + maxSecretBytes - closer.length);
  const nextHead = region.indexOf(pemAnchor);
  const close = (nextHead === -1 ? region : region.slice(0, nextHead)).indexOf(closer);
  const end = close === -1 ? openEnd(text, bodyStart) : bodyStart + close + closer.length;
  if (!material.test(text.slice(bodyStart, end))) return undefined;
  return toMatch(start, Math.min(end, start + maxSecretBytes));
}

function openEnd(text: string, from: number): number {
  keyHeaders.lastIndex = from;
  const headers = keyHeaders.exec(text)?.[0].length ?? 0;
  keyBody.lastIndex = from + headers;
  const body = keyBody.exec(text);
  return body ? from + headers + body[0].length : from;
}

function toMatch(start: number, end: number): SecretMatch {
  return { rule: 'private-key', kind: 'token', start, end };
}
