import { isIPv4, isIPv6 } from 'node:net';

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
/** Prefixes after which an IPv4 address stands, and the octet where it begins. */
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
