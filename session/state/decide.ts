import { WritError } from '../../core/base/errors.ts';
import { cancel } from './cancel.ts';
import type { ClientCommand, Command } from './command.ts';
import { attach, reclaim, release, requireWriter } from './control.ts';
import { dispatch, respond, submit, visit } from './converse.ts';
import { type Decided, type Moment, nothingDecided } from './decided.ts';
import type { Fact, Speaker } from './fact.ts';
import { leaseEnd } from './lease.ts';
import { opensNetwork } from './opens-network.ts';
import { cancelGoal, startGoal } from './pursue-goal.ts';
import { reduce } from './reduce.ts';
import { review } from './review.ts';
import { saidFact } from './said-fact.ts';
import type { SessionState } from './state.ts';
import { takeReport } from './take-report.ts';

/**
 * What a command makes of a state. Pure. A command that is refused throws (CONTROLLER_CONFLICT,
 * INVALID_CONTROLLER_TOKEN, …) and has changed nothing.
 */
export function decide(state: SessionState, command: Command, moment: Moment): Decided {
  const due = expired(state, command, moment);
  const now = due.reduce((sofar, fact) => reduce(sofar, { ...fact, atMs: moment.nowMs }), state);
  const { facts, ...decided } = decideNow(now, command, moment);
  return { ...decided, facts: [...due, ...facts] };
}

/** A lease that has run out is given back by the first that looks. */
function expired(state: SessionState, command: Command, moment: Moment): readonly Fact[] {
  const nowMs = Math.max(moment.monotonicMs, (command.type === 'tick' && command.dueMs) || 0);
  const isOver = state.lease !== undefined && state.lease.endsAtMs <= nowMs;
  return isOver ? release(state, 'expired', moment) : [];
}

function decideNow(state: SessionState, command: Command, moment: Moment): Decided {
  switch (command.type) {
    case 'tick':
      return nothingDecided;
    case 'visit':
      return visit(state, moment);
    case 'attach':
      return attach(state, command, moment);
    case 'reclaim':
      return reclaim(state, moment);
    case 'detach':
    case 'submit':
    case 'respond':
    case 'cancel':
    case 'revoke':
    case 'review':
    case 'dispatch':
    case 'goal-start':
    case 'goal-cancel':
      return write(state, command, moment);
    default:
      return takeReport(state, command, moment);
  }
}

type Write = Exclude<ClientCommand, { type: 'attach' | 'reclaim' }>;

/** A write of whoever may write; an accepted one renews his lease. */
function write(state: SessionState, command: Write, moment: Moment): Decided {
  const by = requireWriter(state, command.proof);
  if (by.kind === 'automation' && opensNetwork(state, command))
    throw new WritError('PERSON_REQUIRED', {
      message: 'a program may close the network of a session, and a person alone may open it',
      hints: ['a person sends `/network allow`, or starts the session with `--network-access allow`'],
    });
  const { facts, ...decided } = written(state, command, by, moment);
  if (command.proof.from === 'local' || command.type === 'detach') return { facts, ...decided };
  return {
    ...decided,
    facts: [{ type: 'renewed', ...leaseEnd(moment) }, ...facts],
  };
}

function written(state: SessionState, command: Write, by: Speaker, moment: Moment): Decided {
  switch (command.type) {
    case 'submit':
      return submit(state, command, by, moment);
    case 'respond':
      return respond(state, command, by, moment);
    case 'cancel':
      return cancel(state);
    case 'dispatch':
      return dispatch(state, command, by, moment);
    case 'goal-start': {
      const text = `/goal start ${command.objective}`;
      const said = saidFact({ text, commandId: undefined }, by, moment.newId());
      return startGoal(state, command, said, by, moment);
    }
    case 'goal-cancel':
      return cancelGoal(state, command, [], moment);
    case 'review':
      return review(state, command, by, moment);
    case 'revoke':
      // Grants are no part of the state: they die with their process.
      return nothingDecided;
    case 'detach': {
      if (command.clientId !== by.clientId)
        throw new WritError('INVALID_BODY', { message: '`clientId` is not the one that holds the lease' });
      return { facts: release(state, 'detached', moment), wants: [] };
    }
  }
}
