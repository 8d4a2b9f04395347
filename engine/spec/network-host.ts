import { domainToASCII } from 'node:url';
import { isDomainPattern } from './domain-pattern.ts';

/** An entry of `networkHosts` in normal form. */
export interface NetworkHost {
  /** Lower-case ASCII, `*.` before it for every name below a domain; an IP literal without brackets. */
  readonly pattern: string;
  /** Absent: 80 and 443. */
  readonly port?: number;
}

/** Reads `<domain pattern>[:port]`; an IPv6 literal with a port stands in brackets. `undefined` for anything else. */
export function readNetworkHost(entry: string): NetworkHost | undefined {
  const [, bracketed, named, digits] = /^(?:(\[[^\]]*\])|([^:]*)):(\d{1,5})$/.exec(entry) ?? [];
  const pattern = bracketed ?? named ?? entry;
  if (!isDomainPattern(pattern)) return undefined;
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535 || String(port) !== digits)) return undefined;
  return { pattern: normal(pattern), ...(port === undefined ? {} : { port }) };
}

function normal(pattern: string): string {
  if (pattern.startsWith('*.')) return `*.${domainToASCII(pattern.slice(2))}`;
  const bare = pattern.replace(/^\[|\]$/g, '');
  return bare.includes(':') ? new URL(`http://[${bare}]/`).hostname.slice(1, -1) : domainToASCII(bare);
}
