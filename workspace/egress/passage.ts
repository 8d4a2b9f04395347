/* One connection through the proxy. */
import type { Socket } from 'node:net';
import { Transform } from 'node:stream';
import type { NetworkObstacle, NetworkUse } from '../../core/interfaces/scanner.ts';
import {
  addressProblem,
  authorizeTarget,
  type EgressPolicy,
  octetsOf,
  readableHost,
  type Target,
  type UseList,
} from './openings.ts';
import type { Outside } from './outside.ts';

interface Unreached {
  readonly ok: false;
  readonly outcome: 'refused' | 'failed';
  readonly why: NetworkObstacle;
  readonly address?: string;
}

type Reached = { readonly ok: true; readonly socket: Socket; readonly address: string } | Unreached;

/** A name with more addresses than any honest one has. */
const maxAddresses = 64;
/** Tried one after the other. */
const maxTried = 4;

/**
 * Resolves a target once, checks every address, and connects to a checked one. A later change of the DNS answer has
 * no effect. If one address is not public, or belongs to this machine, the whole target is refused.
 */
async function reach(
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

/** What all connections of one check share. */
export interface Egress {
  readonly policy: EgressPolicy;
  readonly outside: Outside;
  readonly limits: EgressLimits;
  readonly uses: UseList;
  /** Octets that may still pass, and connections that may still be made. */
  readonly left: { bytes: number; connections: number };
  /** Awaited before any traffic leaves, a DNS query included. If it rejects, no traffic leaves. */
  readonly leaving?: (() => Promise<void>) | undefined;
  /** Called when a connection ends, before the client is notified. */
  readonly told?: ((use: NetworkUse) => void) | undefined;
  /** Aborts when the check is over. */
  readonly signal: AbortSignal;
  /** Connections that have not ended yet. */
  readonly open: Set<Passage>;
}

/** One connection from its request to its line in the record, which is written once, however it ends. */
export class Passage {
  readonly #egress: Egress;
  readonly #via: NetworkUse['via'];
  readonly #cut: () => void;
  readonly #lifetime: NodeJS.Timeout;
  #target: { host: string; port: number };
  #reasons: readonly string[] = [];
  #address: string | undefined;
  #sent = 0;
  #received = 0;
  #isThrough = false;
  #isOver = false;

  /** `text`: the target as the client wrote it; `cut` ends both sides. */
  constructor(egress: Egress, via: NetworkUse['via'], text: string, cut: () => void) {
    this.#egress = egress;
    this.#via = via;
    this.#cut = cut;
    this.#target = { host: readableHost(text), port: 0 };
    this.#lifetime = setTimeout(() => this.cut('time'), egress.limits.connectionMs);
    egress.open.add(this);
    egress.left.connections -= 1;
  }

  /**
   * Authorizes the target and connects. A refusal ends the passage but does not cut the client, so that the client
   * receives the reason.
   */
  async reach(target: Target): Promise<Reached> {
    this.#aim(target);
    const { policy, outside, limits, signal, left, leaving } = this.#egress;
    const refused = (why: NetworkObstacle): Unreached => ({ ok: false, outcome: 'refused', why });
    if (left.connections < 0) return this.#told(refused('limit'));
    const verdict = authorizeTarget(policy, target);
    if (!verdict.open) return this.#told(refused(verdict.why));
    this.#reasons = verdict.reasons;
    try {
      await leaving?.();
    } catch {
      return this.#told({ ok: false, outcome: 'failed', why: 'unreachable' });
    }
    const reached = await reach(target, outside, limits, signal);
    this.#address = reached.address;
    if (!reached.ok) return this.#told(reached);
    if (this.#isOver) {
      reached.socket.destroy();
      return { ok: false, outcome: 'failed', why: 'unreachable' };
    }
    reached.socket.setTimeout(limits.idleMs, () => reached.socket.destroy());
    return reached;
  }

  /** From here on, the traffic counts as allowed. */
  through(): void {
    this.#isThrough = true;
  }

  /** What goes on is recorded elsewhere. */
  forget(): void {
    this.#isOver = true;
    clearTimeout(this.#lifetime);
    this.#egress.open.delete(this);
  }

  /** It has ended by itself, or with the check. */
  done(): void {
    if (this.#isThrough) this.#record('allowed');
    else this.#record('failed', 'unreachable');
  }

  /** Ends both sides now. */
  cut(why?: NetworkObstacle): void {
    if (why === undefined) this.done();
    else this.#record('refused', why);
    this.#cut();
  }

  /** Records a refusal before the client is notified. */
  refuse(why: NetworkObstacle, target?: Target): void {
    if (target !== undefined) this.#aim(target);
    this.#record('refused', why);
  }

  /** The same of what was let through in vain. */
  fail(why: NetworkObstacle): void {
    this.#record('failed', why);
  }

  /** A stream that counts what passes and ends everything at the bound. */
  meter(direction: 'sent' | 'received'): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, pass) => {
        this.count(direction, chunk.length);
        if (!this.#isOver) pass(null, chunk);
      },
    });
  }

  /** Counts octets that pass otherwise. */
  count(direction: 'sent' | 'received', bytes: number): void {
    const { left } = this.#egress;
    left.bytes -= bytes;
    if (left.bytes < 0) this.cut('limit');
    else if (direction === 'sent') this.#sent += bytes;
    else this.#received += bytes;
  }

  #aim({ host, port }: Target): void {
    this.#target = { host, port };
  }

  #told(reached: Unreached): Unreached {
    this.#record(reached.outcome, reached.why, reached.address);
    return reached;
  }

  /** Returns the current use of an open connection, which has no entry in the record yet. */
  soFar(): NetworkUse | undefined {
    return this.#isThrough && !this.#isOver ? this.#use('allowed', undefined, this.#address) : undefined;
  }

  #record(outcome: NetworkUse['outcome'], why?: NetworkObstacle, address = this.#address): void {
    if (this.#isOver) return;
    this.forget();
    const use = this.#use(outcome, why, address);
    this.#egress.uses.add(use);
    this.#egress.told?.(use);
  }

  #use(
    outcome: NetworkUse['outcome'],
    why: NetworkObstacle | undefined,
    address: string | undefined,
  ): NetworkUse {
    return {
      ...this.#target,
      via: this.#via,
      outcome,
      ...(why === undefined ? {} : { why }),
      ...(address === undefined ? {} : { address }),
      reasons: this.#reasons,
      connections: 1,
      sentBytes: this.#sent,
      receivedBytes: this.#received,
    };
  }
}

/** Network limits of a check, in octets and milliseconds. */
export interface EgressLimits {
  readonly headerBytes: number;
  /** At the same time, and in all. */
  readonly openConnections: number;
  readonly connections: number;
  /** Both ways together, over the whole check. */
  readonly bytes: number;
  /** Timeout for the client to send a request head or a ClientHello. */
  readonly headMs: number;
  readonly resolveMs: number;
  readonly connectMs: number;
  /** Silence on a connection. */
  readonly idleMs: number;
  readonly connectionMs: number;
}

export const defaultLimits: EgressLimits = {
  headerBytes: 16_384,
  openConnections: 64,
  connections: 10_000,
  bytes: 4 * 1024 ** 3,
  headMs: 10_000,
  resolveMs: 10_000,
  connectMs: 10_000,
  idleMs: 60_000,
  connectionMs: 900_000,
};
