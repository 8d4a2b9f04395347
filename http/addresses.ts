/* Loopback addresses, and which host names and peers are on this machine. */
import { once } from 'node:events';
import { createServer, isIPv4, isIPv6 } from 'node:net';

/** Which of the two loopback addresses a server can listen on here; none where even that is forbidden. */
export async function listenableAddresses(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer();
    try {
      const listening = once(server, 'listening');
      server.listen({ host, port: 0, exclusive: true });
      await listening;
      found.push(host);
      server.close();
    } catch {
      // What cannot be had is not in the list.
    }
  }
  return found;
}

/**
 * Returns the literal loopback address in `text`, in its shortest form: 127.0.0.0/8 or ::1. `undefined` for
 * everything else: names (a resolver may return any address), shortened or octal IPv4, and IPv4 in IPv6.
 */
export function parseLoopbackAddress(text: string): string | undefined {
  if (isIPv4(text)) return text.startsWith('127.') ? text : undefined;
  if (!isIPv6(text) || text.includes('.') || text.includes('%')) return undefined;
  return new URL(`http://[${text}]/`).hostname === '[::1]' ? '::1' : undefined;
}

/** True for the peer address of a connection from this machine; a dual-stack socket gives IPv4 as `::ffff:127.…`. */
export function isLoopbackPeer(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.toLowerCase().startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return parseLoopbackAddress(plain) !== undefined;
}

/**
 * True for a `Host` header that no name server can redirect: `localhost` or a literal loopback address, with any port
 * (a tunnel may change it). Any other host would let a page reach this server under its own name (DNS rebinding).
 */
export function isLoopbackHost(header: string): boolean {
  const [, name, bracketed] =
    /^(?:([A-Za-z0-9.]{1,64})|\[([0-9A-Fa-f:]{2,64})\])(?::[0-9]{1,5})?$/.exec(header) ?? [];
  if (bracketed !== undefined) return parseLoopbackAddress(bracketed) !== undefined;
  if (name === undefined) return false;
  return name.toLowerCase() === 'localhost' || (isIPv4(name) && parseLoopbackAddress(name) !== undefined);
}

/** Where this machine reaches a server that listens on `address`: every address includes the loopback’s. */
export function reachableHere(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return isIPv6(address) && new URL(`http://[${address}]/`).hostname === '[::]' ? '::1' : address;
}

/** Formats a literal address for a URL: IPv6 in brackets. */
export function toUrlHost(address: string): string {
  return isIPv6(address) ? `[${address}]` : address;
}
