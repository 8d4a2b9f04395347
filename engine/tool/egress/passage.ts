import { Transform } from 'node:stream';
import type { NetworkObstacle, NetworkUse } from '../../../core/contract/network-use.ts';
import type { EgressLimits } from './limits.ts';
import { type EgressPolicy, judgeTarget } from './openings.ts';
import type { Outside } from './outside.ts';
import { type Reached, reach, type Unreached } from './reach.ts';
import type { Target } from './target.ts';
import { readableHost, type UseList } from './use-list.ts';

/** What all connections of one check share. */
export interface Egress {
  readonly policy: EgressPolicy;
  readonly outside: Outside;
  readonly limits: EgressLimits;
  readonly uses: UseList;
  /** Octets that may still pass, and connections that may still be made. */
  readonly left: { bytes: number; connections: number };
  /** Waited for before anything leaves, a question for an address included; where it rejects, nothing does. */
  readonly leaving?: (() => Promise<void>) | undefined;
  /** Told of each connection as it ends, before the client is. */
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
   * Judges the target and connects. What is refused has ended the passage, without cutting it: the client is told why.
   */
  async reach(target: Target): Promise<Reached> {
    this.#aim(target);
    const { policy, outside, limits, signal, left, leaving } = this.#egress;
    const refused = (why: NetworkObstacle): Unreached => ({ ok: false, outcome: 'refused', why });
    if (left.connections < 0) return this.#told(refused('limit'));
    const verdict = judgeTarget(policy, target);
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

  /** From here on what goes through is what was asked for. */
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

  /** Records a refusal of which the client is still to be told. */
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

  /** As it stands, where it goes through; it has no line in the record yet. */
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
