/* The errors of a plugin's process and of its connections. */
import { WritError } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';
import type { NetworkObstacle, NetworkUse } from '../../../core/interfaces/scanner.ts';

/** Why a plugin's process gave no answer. */
export type PluginFaultReason =
  | 'threw'
  | 'deadline'
  | 'crashed'
  | 'garbage'
  | 'flood'
  | 'closed'
  | 'sandbox-failed';

/**
 * Builds PLUGIN_PROCESS_FAULT with `detail {plugin, reason, said?}`; `said` is the last text that the process
 * printed.
 */
export function pluginFault(
  plugin: string,
  reason: PluginFaultReason,
  found: string,
  more: Readonly<Record<string, unknown>> = {},
): WritError {
  return new WritError('PLUGIN_PROCESS_FAULT', {
    message: `plugin \`${plugin}\` gave no answer (${reason}): ${printable(found.slice(0, 1000))}`,
    detail: { plugin, reason, ...more },
  });
}

/** Shortest beginning of a secret that is masked: a shorter one is any text. */
const leastCharacters = 8;
/** More of a text is never shown, and is not looked through. */
const mostCharacters = 64 * 1024;

/**
 * Removes from `text` the secrets that its author received. Also removes a secret's prefix, because the text may be
 * cut inside it.
 */
export function withoutHanded(text: string, secrets: readonly string[]): string {
  let told = text.slice(0, mostCharacters);
  // One may begin with another: the longest first.
  for (const secret of [...secrets].sort((left, right) => right.length - left.length)) {
    const least = Math.min(leastCharacters, secret.length);
    if (least === 0 || !told.includes(secret.slice(0, least))) continue;
    for (let length = Math.min(secret.length, told.length); length >= least; length -= 1)
      told = told.replaceAll(secret.slice(0, length), '[secret]');
  }
  return told;
}

/** Why a connection of a plugin failed, as reported to its process and to people. */
export interface Obstacle {
  readonly host: string;
  readonly port: number;
  /** `EGRESS_NOT_LISTED`, `EGRESS_UNRESOLVED` …: the obstacle of `docs/reference/network.md`. */
  readonly code: string;
  readonly message: string;
}

/** Obstacles that may be gone on a retry. */
const passing: readonly NetworkObstacle[] = ['unresolved', 'unreachable', 'time'];

/**
 * Returns whether an error code reports a host that is temporarily unavailable; `undefined` for a code that is not an
 * `EGRESS_` code.
 */
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

const unreadable = (): string => 'the request names its host in no form that can be authorized';
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
  unreachable: () => 'there is no answer from there',
  time: () => 'it took too long',
};
