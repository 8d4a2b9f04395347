import { domainToASCII } from 'node:url';

/** An entry of `networkHosts` in normal form. */
interface NetworkHost {
  /** Lower-case ASCII, `*.` before it for every name below a domain; an IP literal without brackets. */
  readonly pattern: string;
  /** Absent: 80 and 443. */
  readonly port?: number;
}

/**
 * Parses `<domain pattern>[:port]`; an IPv6 literal with a port is in brackets. Returns `undefined` for anything
 * else.
 */
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

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A host name (IDN allowed), `*.` before one, or an IP literal; no scheme, port, path or user. */
export function isDomainPattern(pattern: string): boolean {
  const bare = pattern.startsWith('[') && pattern.endsWith(']') ? pattern.slice(1, -1) : pattern;
  if (isIpv6(bare)) return true;
  if (isIpv4(bare)) return bare === pattern;
  const host = pattern.startsWith('*.') ? pattern.slice(2) : pattern;
  if (isIpv4(host) || /[\s/?#@:*%[\]\\]/.test(host)) return false;
  const ascii = domainToASCII(host);
  return ascii.length > 0 && ascii.length <= 253 && ascii.split('.').every((part) => label.test(part));
}

/** `node:net` knows this too, and costs a short command a tenth of its time to load. */
function isIpv4(text: string): boolean {
  return (
    /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) &&
    text.split('.').every((part) => part === String(Number(part)) && Number(part) < 256)
  );
}

function isIpv6(text: string): boolean {
  return /^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) && URL.canParse(`http://[${text}]/`);
}
