import { equalSecret } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ClientCommand } from './command.ts';
import { conflict, type Decided, type Moment, nothingDecided } from './decided.ts';
import type { Fact, Speaker } from './fact.ts';
import { type Interaction, isApproval } from './interaction.ts';
import { isLeaseKind, leaseEnd, type Proof } from './lease.ts';
import { holderOf, localHolder, pendingOf, type SessionState } from './state.ts';

/** A client asks for the session: for a lease, or for its own to go on. */
export function attach(
  state: SessionState,
  { clientId, kind, tokenDigest, controlToken }: Extract<ClientCommand, { type: 'attach' }>,
  moment: Moment,
): Decided {
  if (!isLeaseKind(kind)) {
    const message = 'expected `kind` to be browser or automation';
    throw new WritError('INVALID_CONTROLLER_KIND', { message, detail: { kind } });
  }
  if (!state.ground.attachable.includes(kind))
    throw new WritError(kind === 'browser' ? 'BROWSER_CONTROL_DISABLED' : 'CONTROL_DISABLED');
  if (kind === 'automation') requireControlToken(controlToken);
  const end = leaseEnd(moment);
  const held = state.lease;
  if (held !== undefined) {
    if (held.kind !== kind || held.clientId !== clientId)
      throw conflict('another client controls the session', { reason: 'lease_held', kind: held.kind });
    const lease = { ...held, ...end };
    return { facts: [{ type: 'renewed', ...end }], wants: [], lease };
  }
  const lease = { kind, clientId, tokenDigest, ...end };
  const voided = holderOf(lease) === state.holder ? [] : takenOver(state, moment);
  return { facts: [{ type: 'attached', lease }, ...voided], wants: [], lease };
}

/** The local screen takes the session back. */
export function reclaim(state: SessionState, moment: Moment): Decided {
  if (state.ground.local !== 'tui') throw new WritError('UNSUPPORTED_OPERATION');
  if (state.lease === undefined) return nothingDecided;
  return { facts: release(state, 'reclaimed', moment), wants: [] };
}

/** The end of a lease; where a screen or a standard input is there, it has the session from then on. */
export function release(
  state: SessionState,
  why: Extract<Fact, { type: 'released' }>['why'],
  moment: Moment,
): readonly Fact[] {
  const isTakenOver = state.ground.local !== 'none' && state.holder !== localHolder;
  return [{ type: 'released', why }, ...(isTakenOver ? takenOver(state, moment) : [])];
}

/** Whoever answers now has to see for himself: an answer to the old question is one to a question that is over. */
function takenOver(state: SessionState, { nowMs, newId }: Moment): readonly Fact[] {
  return pendingOf(state)
    .filter(isApproval)
    .flatMap((one): Fact[] => [
      { type: 'withdrawn', id: one.id, why: 'taken-over' },
      { type: 'asked', interaction: { ...one, id: newId(), metadata: unsaid(one), requestedAtMs: nowMs } },
    ]);
}

/** A first word that wanted a second one was somebody else's. */
function unsaid({ metadata: { needsConfirmation: _, ...metadata } }: Interaction): Interaction['metadata'] {
  return metadata;
}

/** Who writes, where he may; in the order of the resolutions (Order of refusals on a route). */
export function requireWriter(
  { lease: held, ground: { local } }: Pick<SessionState, 'lease' | 'ground'>,
  proof: Proof,
): Speaker {
  if (proof.from === 'local') {
    if (held !== undefined)
      throw conflict('a client controls the session', { reason: 'lease_held', kind: held.kind });
    return { kind: local === 'cli' ? 'cli' : 'tui' };
  }
  if (proof.tokenDigest === undefined) throw new WritError('MISSING_CONTROLLER_TOKEN');
  if (held === undefined || !equalSecret(held.tokenDigest, proof.tokenDigest))
    throw new WritError('INVALID_CONTROLLER_TOKEN');
  if (held.kind === 'automation') requireControlToken(proof.controlToken);
  return { kind: held.kind, clientId: held.clientId };
}

function requireControlToken(token: 'missing' | 'invalid' | 'valid'): void {
  if (token === 'missing') throw new WritError('MISSING_CONTROL_TOKEN');
  if (token === 'invalid') throw new WritError('INVALID_CONTROL_TOKEN');
}
