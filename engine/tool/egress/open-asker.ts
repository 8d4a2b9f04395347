import type { NetworkUse } from '../../../core/contract/network-use.ts';
import { askPublic, type PublicAnswer, type PublicQuestion } from './ask-public.ts';
import { defaultLimits, type EgressLimits } from './limits.ts';
import type { EgressPolicy } from './openings.ts';
import { type Outside, realOutside } from './outside.ts';
import type { Egress } from './passage.ts';
import { UseList } from './use-list.ts';

/** Asks in the public network on behalf of one attempt, and remembers what it did. */
export interface PublicAsker {
  /** Within what `policy` opens. */
  ask(question: PublicQuestion, policy: EgressPolicy): Promise<PublicAnswer>;
  uses(): readonly NetworkUse[];
}

/** Of one attempt. */
const limits: EgressLimits = {
  ...defaultLimits,
  connections: 1000,
  bytes: 512 * 1024 * 1024,
  idleMs: 20_000,
  connectionMs: 60_000,
};

export function openAsker(signal: AbortSignal, outside: Outside = realOutside): PublicAsker {
  const shared: Omit<Egress, 'policy'> = {
    outside,
    limits,
    uses: new UseList(),
    left: { bytes: limits.bytes, connections: limits.connections },
    signal,
    open: new Set(),
  };
  return {
    ask: (question, policy) => askPublic({ ...shared, policy }, question),
    uses: () => shared.uses.list(),
  };
}
