/* Decides which hosts and ports a check may reach, and records its connections. */
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import type { NetworkObstacle, NetworkUse } from '../../core/interfaces/scanner.ts';
import { readNetworkHost } from '../../spec/checks-of.ts';

/** What one tool rule opens. */
interface Opening {
  /** Entries of `networkHosts`. */
  readonly hosts: readonly string[];
  readonly reason: string;
}

/** What a check may reach. */
export interface EgressPolicy {
  /** `networkPolicy: allow`: every public host. */
  readonly all: boolean;
  /**
   * For each simple command of the check what its rules open. One network serves all commands, so a host is open only
   * where a rule of every one of them opens it.
   */
  readonly openings: readonly (readonly Opening[])[];
}

type OpeningVerdict =
  | { readonly open: true; readonly reasons: readonly string[] }
  | { readonly open: false; readonly why: NetworkObstacle };

const usualPorts = [80, 443];

/** Whether a host and port are open to a check, and for which stated reasons. Pure. */
export function authorizeTarget(policy: EgressPolicy, target: Target): OpeningVerdict {
  const perCommand = policy.openings.map((openings) =>
    openings.filter(({ hosts }) => hosts.some((entry) => entryOpens(entry, target))),
  );
  if (perCommand.length > 0 && perCommand.every((openings) => openings.length > 0))
    return { open: true, reasons: [...new Set(perCommand.flat().map(({ reason }) => reason))] };
  if (policy.all) {
    return usualPorts.includes(target.port)
      ? { open: true, reasons: ['networkPolicy: allow'] }
      : { open: false, why: 'port' };
  }
  const isListed =
    policy.openings.length > 0 &&
    policy.openings.every((openings) =>
      openings.some(({ hosts }) => hosts.some((entry) => entryNames(entry, target))),
    );
  return { open: false, why: isListed ? 'port' : 'not-listed' };
}

function entryOpens(entry: string, target: Target): boolean {
  const port = readNetworkHost(entry)?.port;
  return (
    entryNames(entry, target) &&
    (port === undefined ? usualPorts.includes(target.port) : port === target.port)
  );
}

function entryNames(entry: string, { host, kind }: Target): boolean {
  const pattern = readNetworkHost(entry)?.pattern;
  if (pattern === undefined) return false;
  return pattern.startsWith('*.') ? kind === 'name' && host.endsWith(pattern.slice(1)) : host === pattern;
}

/** Where a client wants to go, in normal form. */
export interface Target {
  /** Lower-case ASCII name, or an IP literal without brackets. */
  readonly host: string;
  readonly kind: 'name' | 'address';
  readonly port: number;
}

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Parses `host[:port]` as a client writes it. Returns `undefined` for text that two programs could read as two hosts.
 * Examples are user names, percent signs, a root dot, and octal, hexadecimal, short or whole-number forms of an IPv4
 * address.
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

/** Returns the value of a `Host` header, with the port if it is not the default of the scheme. */
export function authorityOf({ host, port }: Target, schemePort: number): string {
  const shown = host.includes(':') ? `[${host}]` : host;
  return port === schemePort ? shown : `${shown}:${port}`;
}

type Range = readonly [prefix: string, about: string];

/**
 * IANA's special-purpose registries (RFC 6890) without what they call globally reachable, and addresses where clouds
 * keep metadata.
 */
const refused4 = compile([
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'a cloud metadata service'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', 'a 6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
]);
/** Inside 2000::/3; everything outside it is refused by that alone. */
const refused6 = compile([
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'documentation'],
  ['3fff::/20', 'documentation'],
]);
/** Names for what is outside 2000::/3. */
const named6 = compile([
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::ffff:0:0/96', 'an IPv4-mapped address'],
  ['::/96', 'an IPv4-compatible address'],
  ['64:ff9b:1::/48', 'local NAT64'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
]);
const global6 = compile([['2000::/3', 'global unicast']]);
/** Prefixes that embed an IPv4 address, and the octet where that address begins. */
const embedding: readonly (readonly [ranges: readonly Compiled[], at: number, about: string])[] = [
  [compile([['64:ff9b::/96', 'NAT64']]), 12, 'NAT64'],
  [compile([['2002::/16', '6to4']]), 2, '6to4'],
];

/**
 * What an address is, where it is not a public unicast one (`loopback`, `private`, …); `undefined` for a public one.
 * Pure.
 */
export function addressProblem(address: string): string | undefined {
  const octets = octetsOf(address);
  if (octets === undefined) return 'not an address';
  if (octets.length === 4) return within(refused4, octets);
  for (const [ranges, at, about] of embedding) {
    if (within(ranges, octets) === undefined) continue;
    const inner = within(refused4, octets.subarray(at, at + 4));
    return inner === undefined ? undefined : `${inner}, embedded by ${about}`;
  }
  if (within(global6, octets) === undefined) return within(named6, octets) ?? 'reserved';
  return within(refused6, octets);
}

/** The octets of an address; `undefined` for any other text, one with a zone included. */
export function octetsOf(address: string): Buffer | undefined {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (!isIPv6(address) || address.includes('%')) return undefined;
  // Hexadecimal groups only, with at most one `::` for the zeros left out.
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const groupsOf = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [groupsOf(head), tail === undefined ? [] : groupsOf(tail)];
  const groups = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 255]));
}

interface Compiled {
  readonly octets: Buffer;
  readonly bits: number;
  readonly about: string;
}

function compile(ranges: readonly Range[]): readonly Compiled[] {
  return ranges.map(([prefix, about]) => {
    const [address = '', bits] = prefix.split('/');
    return { octets: octetsOf(address) ?? Buffer.alloc(0), bits: Number(bits), about };
  });
}

function within(ranges: readonly Compiled[], octets: Buffer): string | undefined {
  return ranges.find((range) => range.octets.length === octets.length && begins(octets, range))?.about;
}

function begins(octets: Buffer, { octets: prefix, bits }: Compiled): boolean {
  return octets.every((octet, index) => {
    const left = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - left)) & 0xff;
    return (octet & mask) === ((prefix[index] ?? 0) & mask);
  });
}

/** A connection as it ended, or several that are counted already. */
type Ended = Omit<NetworkUse, 'connections'> & { readonly connections?: number };

/**
 * Maximum number of connection kinds with their own entry. Later kinds share an entry without a name, so that a
 * hostile check cannot fill its record.
 */
const maxKinds = 100;

/** What a check did on the network, alike connections together, in the order they first ended. */
export class UseList {
  readonly #uses = new Map<string, NetworkUse>();

  add(connection: Ended): void {
    const { host, port, via, outcome, why, address, reasons } = connection;
    const key = JSON.stringify([host, port, via, outcome, why, address, reasons]);
    if (this.#uses.has(key) || this.#uses.size < maxKinds) {
      this.#merge(key, connection);
      return;
    }
    // Outcome and reason stay separate, because there are few obstacles.
    const { address: _, ...rest } = connection;
    this.#merge(`other ${outcome} ${why}`, {
      ...rest,
      host: '(others)',
      port: 0,
      via: 'connect',
      reasons: [],
    });
  }

  list(): readonly NetworkUse[] {
    return [...this.#uses.values()];
  }

  #merge(key: string, connection: Ended): void {
    const known = this.#uses.get(key);
    this.#uses.set(key, {
      ...(known ?? connection),
      connections: (known?.connections ?? 0) + (connection.connections ?? 1),
      sentBytes: (known?.sentBytes ?? 0) + connection.sentBytes,
      receivedBytes: (known?.receivedBytes ?? 0) + connection.receivedBytes,
    });
  }
}

/** A host as a client wrote it, fit to be shown. */
export function readableHost(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, 253);
}
