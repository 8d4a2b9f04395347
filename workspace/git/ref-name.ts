/* Validates and encodes names: of refs, of ids in refs and paths, and of remote repositories in statements. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';

const maxRefBytes = 1024;
const maxEncodedLength = 180;

/** True for a full ref name that git accepts (`git check-ref-format`), at most 1024 bytes, below `refs/`. */
export function isRefName(name: string): boolean {
  if (!name.startsWith('refs/') || Buffer.byteLength(name) > maxRefBytes) return false;
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\.$/.test(name)) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

/** REF_INVALID for anything but a full ref name. */
export function requireRefName(name: string): string {
  if (isRefName(name)) return name;
  throw new WritError('REF_INVALID', {
    message: `\`${printable(name)}\` is not a valid ref name`,
    detail: { ref: printable(name) },
  });
}

/**
 * The full ref of a branch given as `main` or `refs/heads/main`; REF_INVALID for what git would not accept as a
 * branch.
 */
export function branchRef(name: string): string {
  const ref = name.startsWith('refs/heads/') ? name : `refs/heads/${name}`;
  if (
    name.startsWith('-') ||
    name === 'HEAD' ||
    ref === 'refs/heads/HEAD' ||
    ref.startsWith('refs/heads/-') ||
    !isRefName(ref)
  ) {
    throw new WritError('REF_INVALID', {
      message: `expected a branch name, found \`${printable(name)}\``,
      detail: { branch: printable(name) },
    });
  }
  return ref;
}

/**
 * An id as one component of a ref or path: letters, digits, `-`, `_` and inner single dots stay, every other byte
 * becomes `%XX`. Two ids never have the same encoding; a very long one ends with its digest.
 */
export function encodeId(id: string): string {
  let encoded = '';
  for (const [index, octet] of Buffer.from(id, 'utf8').entries()) {
    const char = String.fromCharCode(octet);
    const isDot = char === '.' && index > 0 && index < Buffer.byteLength(id) - 1 && !encoded.endsWith('.');
    encoded +=
      isDot || /[A-Za-z0-9_-]/.test(char) ? char : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  const safe = encoded.replace(/\.(?=lock$)/i, '%2E').replace(/^-/, '%2D');
  if (safe === '') return '%';
  if (safe.length <= maxEncodedLength) return safe;
  return `${safe.slice(0, 100).replace(/%.?$/, '')}%${sha256Hex(id)}`;
}

/**
 * The name of a remote repository in a statement: `git+` and its URL, without user and password of a web address.
 * `undefined` for a path or `file:`, which only this machine knows.
 */
export function remoteUri(locator: string): string | undefined {
  const plain = locator.replace(/^git\+/, '');
  if (plain === '' || /[^!-~]/.test(plain)) return undefined;
  if (URL.canParse(plain) && /^(?:https?|ssh|git):\/\//i.test(plain)) {
    if (new URL(plain).hostname === '') return undefined;
    const isWeb = /^https?:/i.test(plain);
    // The user of a shell account is part of the address, its password never.
    return `git+${plain.replace(/^([a-z]+:\/\/)([^/?#:]*)[^/?#]*@/i, isWeb ? '$1' : '$1$2@')}`;
  }
  // Without a user, a host needs a dot: `file:x` and `C:x` are paths.
  const scp = /^(?:([\w.-]+)@([\w.-]+)|([\w.-]+\.[\w-]+)):(?!\/\/)(.+)$/.exec(plain);
  if (!scp) return undefined;
  const [, user, host, alone, path = ''] = scp;
  return `git+ssh://${user === undefined ? alone : `${user}@${host}`}/${path.replace(/^\//, '')}`;
}
