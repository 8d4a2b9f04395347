import type { NetworkObstacle, NetworkUse } from '../../../core/contract/network-use.ts';

/** Why a connection of a plugin came to nothing, as its process and people are told. */
export interface Obstacle {
  readonly host: string;
  readonly port: number;
  /** `EGRESS_NOT_LISTED`, `EGRESS_UNRESOLVED` …: the obstacle of `docs/network.md`. */
  readonly code: string;
  readonly message: string;
}

/** Those that may be gone when somebody asks again. */
const passing: readonly NetworkObstacle[] = ['unresolved', 'unreachable', 'time'];

/** Whether the code of a thrown error says that a host was not there, for now: `undefined` for one of another kind. */
export function isPassing(code: unknown): boolean | undefined {
  if (typeof code !== 'string' || !code.startsWith('EGRESS_')) return undefined;
  return passing.some((why) => codeOf(why) === code);
}

/** `undefined` for a connection that there was. */
export function toObstacle({ host, port, outcome, why, address }: NetworkUse): Obstacle | undefined {
  if (outcome === 'allowed' || why === undefined) return undefined;
  const at = port === 0 || port === 443 ? host : `${host}:${port}`;
  return { host, port, code: codeOf(why), message: `no connection to ${at}: ${words[why](address ?? '')}` };
}

function codeOf(why: NetworkObstacle): string {
  return `EGRESS_${why.toUpperCase().replaceAll('-', '_')}`;
}

const unreadable = (): string => 'the question names its host in no form that can be judged';
const words: Readonly<Record<NetworkObstacle, (address: string) => string>> = {
  malformed: unreadable,
  'not-listed': () => 'the manifest of the plugin does not name that host in `hosts`',
  port: () => 'the manifest of the plugin names that host with another port, or for 80 and 443 alone',
  address: (address) => `its address ${address} is not public, or is this machine’s own`,
  'host-header': unreadable,
  'not-tls': () => 'a tunnel carries TLS alone',
  'no-server-name': () => 'the TLS connection does not name its host (SNI)',
  'encrypted-hello': () => 'the TLS connection hides its host (ECH)',
  'server-name': () => 'the TLS connection is for another host',
  limit: () => 'more connections or octets than a plugin may have',
  unresolved: () => 'the name could not be resolved',
  unreachable: () => 'nobody answers there',
  time: () => 'it took too long',
};
