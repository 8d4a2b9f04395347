import { createHash, type Hash } from 'node:crypto';

/**
 * The hash that names an object of git, begun with its header: add `size` octets of content and take the digest in hex
 * (git's object format, `type SP size NUL content`).
 */
export function objectHash(format: 'sha1' | 'sha256', type: 'blob' | 'tree' | 'commit', size: number): Hash {
  return createHash(format).update(`${type} ${size}\0`);
}
