import type { Socket } from 'node:net';
import type { NetworkObstacle } from '../../../core/contract/network-use.ts';
import { addressProblem, octetsOf } from './address-problem.ts';
import type { EgressLimits } from './limits.ts';
import type { Outside } from './outside.ts';
import type { Target } from './target.ts';

export interface Unreached {
  readonly ok: false;
  readonly outcome: 'refused' | 'failed';
  readonly why: NetworkObstacle;
  readonly address?: string;
}

export type Reached = { readonly ok: true; readonly socket: Socket; readonly address: string } | Unreached;

/** A name with more addresses than any honest one has. */
const maxAddresses = 64;
/** Tried one after the other. */
const maxTried = 4;

/**
 * Resolves a target once, judges every address, and connects to one that was judged: what the name means a moment later
 * does not count. One address that is not public, or is this machine's own, refuses the whole target.
 */
export async function reach(
  target: Target,
  outside: Outside,
  limits: Pick<EgressLimits, 'resolveMs' | 'connectMs'>,
  signal: AbortSignal,
): Promise<Reached> {
  const addresses =
    target.kind === 'address'
      ? [target.host]
      : await resolved(target.host, outside, limits.resolveMs, signal);
  if (addresses.length === 0 || addresses.length > maxAddresses)
    return { ok: false, outcome: 'failed', why: 'unresolved' };
  const own = outside.ownAddresses().flatMap((one) => octetsOf(one)?.toString('hex') ?? []);
  for (const address of addresses) {
    const isOwn = own.includes(octetsOf(address)?.toString('hex') ?? '');
    if (isOwn || addressProblem(address) !== undefined)
      return { ok: false, outcome: 'refused', why: 'address', address };
  }
  let address = '';
  for (address of addresses.slice(0, maxTried)) {
    const socket = await connected(outside, address, target.port, limits.connectMs, signal);
    if (socket) return { ok: true, socket, address };
    if (signal.aborted) break;
  }
  return { ok: false, outcome: 'failed', why: 'unreachable', address };
}

function resolved(
  host: string,
  outside: Outside,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const giveUp = (): void => settle([]);
    const timer = setTimeout(giveUp, deadlineMs);
    const settle = (answer: readonly string[]): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve(answer);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    outside.resolve(host).then(settle, giveUp);
  });
}

function connected(
  outside: Outside,
  address: string,
  port: number,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Socket | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const socket = outside.connect(address, port);
    const giveUp = (): void => {
      socket.destroy();
      settle(undefined);
    };
    const timer = setTimeout(giveUp, deadlineMs);
    const settle = (answer: Socket | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve(answer);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    // The listener stays: an error after the connection is the end of the socket, which its reader sees.
    socket.on('error', giveUp);
    socket.once('connect', () => settle(socket));
  });
}
