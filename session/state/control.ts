/** Leases: who may write to a session. */
import { equalSecret } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import {
  type Command,
  type CommandOf,
  conflict,
  type Decided,
  type Moment,
  nothingDecided,
} from './command.ts';
import { type Fact, type FactOf, isLeaseKind, leaseEnd, type Proof, type Speaker } from './fact.ts';
import { isApproval } from './question.ts';
import { spokenIn } from './slash.ts';
import { holderOf, localHolder, pendingOf, type SessionState } from './state.ts';

/** Grants or renews a lease. */
export function attach(
  state: SessionState,
  { clientId, kind, tokenDigest, controlToken }: CommandOf<'attach'>,
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

/** The local screen reclaims control. */
export function reclaim(state: SessionState, moment: Moment): Decided {
  if (state.ground.local !== 'tui') throw new WritError('UNSUPPORTED_OPERATION');
  if (state.lease === undefined) return nothingDecided;
  return { facts: release(state, 'reclaimed', moment), wants: [] };
}

/** The end of a lease; where a screen or a standard input is there, it has the session from then on. */
export function release(
  state: SessionState,
  why: FactOf<'released'>['why'],
  moment: Moment,
): readonly Fact[] {
  const isTakenOver = state.ground.local !== 'none' && state.holder !== localHolder;
  return [{ type: 'released', why }, ...(isTakenOver ? takenOver(state, moment) : [])];
}

/** After a change of controller, pending approvals get new ids, so that old answers are rejected. */
function takenOver(state: SessionState, { nowMs, newId }: Moment): readonly Fact[] {
  return pendingOf(state)
    .filter(isApproval)
    .flatMap((one): Fact[] => {
      // A confirmation of the previous controller does not count.
      const { needsConfirmation: _, ...metadata } = one.metadata;
      return [
        { type: 'withdrawn', id: one.id, why: 'taken-over' },
        { type: 'asked', interaction: { ...one, id: newId(), metadata, requestedAtMs: nowMs } },
      ];
    });
}

/** Returns the writer, or throws why the proof is not accepted. */
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

/** Cancels the running turn and withdraws its questions. */
export function cancel(state: SessionState): Decided {
  const { turn } = state;
  if (turn === undefined) return nothingDecided;
  const withdrawn = pendingOf(state).map(({ id }): Fact => ({ type: 'withdrawn', id, why: 'cancelled' }));
  return { facts: [{ type: 'cancel-asked' }, ...withdrawn], wants: [{ type: 'abort', turn }] };
}

/** What must be checked outside the state machine before a command is decided. */

/** Whether a command lets plans have a network that they had not: by the toggle of a review, or as a setting. */
export function opensNetwork(state: SessionState, command: Command): boolean {
  if (state.settings.context !== 'dev') return false;
  if (command.type === 'respond')
    return pendingOf(state).some(
      (asked) =>
        asked.id === command.id &&
        asked.kind === 'post_plan_choice' &&
        command.given.selectedOption === 'network' &&
        asked.metadata.networkAccess !== 'allow',
    );
  if (command.type !== 'submit' || state.noteFor !== undefined) return false;
  const spoken = spokenIn(command.text);
  return spoken?.kind === 'set' && spoken.change.networkAccess === 'allow';
}

/** The model that a command chooses for later turns. */
export function choosesModel(
  { noteFor }: Pick<SessionState, 'noteFor'>,
  command: Command,
): string | undefined {
  if (command.type !== 'submit' || noteFor !== undefined) return undefined;
  const spoken = spokenIn(command.text);
  return spoken?.kind === 'set' ? spoken.change.model : undefined;
}

/** Whether a command may execute a plan: it is held to what the work tree was like when the plan was made. */
export function dependsOnWorkspace(state: SessionState, command: Command): boolean {
  const choices = pendingOf(state).filter(({ kind }) => kind === 'post_plan_choice');
  if (command.type === 'respond') return choices.some(({ id }) => id === command.id);
  return command.type === 'submit' && choices.length > 0;
}

/** Whether a command has changes held from now on. */
export function holdsChanges({ noteFor }: Pick<SessionState, 'noteFor'>, command: Command): boolean {
  if (command.type !== 'submit' || noteFor !== undefined) return false;
  const spoken = spokenIn(command.text);
  return spoken?.kind === 'set' && spoken.change.review === 'on';
}
