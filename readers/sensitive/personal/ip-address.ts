import { isIPv6 } from 'node:net';
import type { SensitiveMatch } from '../redaction.ts';

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
/** Four octets, and no fifth. */
const ipv4Form = new RegExp(`(?<![\\w.])${octet}(?:\\.${octet}){3}(?![\\w]|\\.\\d)`, 'g');
/** Four numbers behind one of these are a version. */
const versionBefore = /(?:\bv|version|release|(?<!:\/)\/|@|-)[ :=]{0,3}$/i;
/** Global unicast addresses begin with 2 or 3 (RFC 4291). */
const ipv6Form = /(?<![\w:.])[23][0-9a-fA-F]{3}:[0-9a-fA-F:]{2,34}(?![\w:])/g;

/**
 * Not one that machines give themselves: private, loopback, link-local, shared, multicast, reserved, or for documents
 * (RFC 6890, 5737).
 */
function isPublicIpv4(address: string): boolean {
  const [a = 0, b = 0, c = 0] = address.split('.').map(Number);
  if (a === 0 || a === 10 || a === 127 || a >= 224) return false;
  if ((a === 169 && b === 254) || (a === 172 && b >= 16 && b <= 31) || (a === 192 && b === 168)) return false;
  if ((a === 100 && b >= 64 && b <= 127) || (a === 198 && (b === 18 || b === 19))) return false;
  if (a === 192 && b === 0 && (c === 0 || c === 2)) return false;
  return !((a === 198 && b === 51 && c === 100) || (a === 203 && b === 0 && c === 113));
}

/** Public addresses of both versions in latin1 text. */
export function findIpAddresses(text: string): readonly SensitiveMatch[] {
  const found: SensitiveMatch[] = [];
  const add = (address: string, start: number): void => {
    found.push({ rule: 'ip-address', class: 'pii', start, end: start + address.length });
  };
  for (const { 0: address, index } of text.matchAll(ipv4Form)) {
    if (isPublicIpv4(address) && !versionBefore.test(text.slice(Math.max(0, index - 12), index)))
      add(address, index);
  }
  for (const { 0: address, index } of text.matchAll(ipv6Form)) {
    if (isIPv6(address) && !/^2001:0?db8:/i.test(address)) add(address, index);
  }
  return found;
}
