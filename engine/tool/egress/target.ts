import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

/** Where a client wants to go, in normal form. */
export interface Target {
  /** Lower-case ASCII name, or an IP literal without brackets. */
  readonly host: string;
  readonly kind: 'name' | 'address';
  readonly port: number;
}

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Reads `host[:port]` as a client writes it. `undefined` for whatever two programs could take for two hosts: user
 * names, percent signs, a root dot, and numbers that are no address in four decimal parts (octal, hexadecimal, short
 * and whole-number forms).
 */
export function readTarget(authority: string, defaultPort?: number): Target | undefined {
  const [, host = '', digits] = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === '' || port === undefined || port < 1 || port > 65_535) return undefined;
  if (digits !== undefined && String(port) !== digits) return undefined;
  if (host.startsWith('[')) {
    const address = host.slice(1, -1);
    if (!isIPv6(address) || address.includes('%')) return undefined;
    return { host: new URL(`http://${host}/`).hostname.slice(1, -1), kind: 'address', port };
  }
  // As Node sees it, an address has no leading zeros.
  if (isIPv4(host)) return { host, kind: 'address', port };
  if (/[\s/?#@%*\\]/.test(host)) return undefined;
  const ascii = domainToASCII(host);
  const labels = ascii.split('.');
  const isName = ascii.length <= 253 && labels.every((part) => label.test(part));
  // Where the last part is a number, the whole is an address in some spelling or other.
  if (!isName || /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return undefined;
  return { host: ascii, kind: 'name', port };
}

/** As it stands in a `Host` header, with the port where it is not the scheme's. */
export function authorityOf({ host, port }: Target, schemePort: number): string {
  const shown = host.includes(':') ? `[${host}]` : host;
  return port === schemePort ? shown : `${shown}:${port}`;
}
