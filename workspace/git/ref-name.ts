import { sha256Hex } from '../../core/base/digest.ts';
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

/** Refuses with REF_INVALID what is no full ref name. */
export function requireRefName(name: string): string {
  if (isRefName(name)) return name;
  throw new WritError('REF_INVALID', {
    message: `\`${printable(name)}\` is not a usable ref name`,
    detail: { ref: printable(name) },
  });
}

/**
 * The full ref of a branch given as `main` or `refs/heads/main`; REF_INVALID for anything git would not take as a
 * branch name.
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
 * One id as one component of a ref or a path: letters, digits, `-`, `_` and inner single dots stay, every other byte is
 * `%XX`. Two ids never share an encoding; a very long one ends in its digest instead of its tail.
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
