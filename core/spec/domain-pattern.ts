import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A host name (IDN allowed), `*.` before one, or an IP literal; no scheme, port, path or user (resolutions A, Domain rules). */
export function isDomainPattern(pattern: string): boolean {
  const bare = pattern.startsWith('[') && pattern.endsWith(']') ? pattern.slice(1, -1) : pattern;
  if (isIP(bare) !== 0) return bare === pattern || isIP(bare) === 6;
  const host = pattern.startsWith('*.') ? pattern.slice(2) : pattern;
  if (isIP(host) !== 0 || /[\s/?#@:*%[\]\\]/.test(host)) return false;
  const ascii = domainToASCII(host);
  return ascii.length > 0 && ascii.length <= 253 && ascii.split('.').every((part) => label.test(part));
}
