/** Decides what a command does: facts and effects. */
import { compact } from '../../api/envelope.ts';
import { WritError } from '../../core/base/errors.ts';
import {
  type ClientCommand,
  type Command,
  type CommandOf,
  type Decided,
  type Moment,
  nothingDecided,
  type Report,
  saidFact,
} from './command.ts';
import { attach, cancel, opensNetwork, reclaim, release, requireWriter } from './control.ts';
import { catchUp, dispatch, respond, submit, visit } from './converse.ts';
import { type Fact, leaseEnd, type Speaker } from './fact.ts';
import type { Interaction } from './interaction.ts';
import { cancelGoal, startGoal } from './pursue-goal.ts';
import { reduce } from './reduce.ts';
import { brokenOff, repliedFact } from './reduce-transcript.ts';
import { pendingOf, type SessionState, type ToolCall } from './state.ts';

/**
 * Decides the effect of a command on a state. Pure. A refused command throws (CONTROLLER_CONFLICT,
 * INVALID_CONTROLLER_TOKEN, …) and changes nothing.
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
    case 'catch-up':
      return catchUp(state, moment);
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

/** A write that requires control and renews the lease. */
function write(state: SessionState, command: Write, moment: Moment): Decided {
  const by = requireWriter(state, command.proof);
  if (by.kind === 'automation' && opensNetwork(state, command))
    throw new WritError('PERSON_REQUIRED', {
      message: 'a program may close the network of a session, but only a person may open it',
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
      // Grants are not part of the state: they end with their process.
      return nothingDecided;
    case 'detach': {
      if (command.clientId !== by.clientId)
        throw new WritError('INVALID_BODY', { message: '`clientId` is not the one that holds the lease' });
      return { facts: release(state, 'detached', moment), wants: [] };
    }
  }
}

/** Characters of a comment on a hunk. */
const maxComment = 2000;

/**
 * Sets verdict or comment of one hunk; the other one stays, except the reason of a withdrawn rejection. INVALID_BODY;
 * NOT_FOUND for an unknown patchset, file or hunk; INTERACTION_NOT_ACTIVE if the change is committed.
 */
function review(
  state: SessionState,
  { patchset, path, hunk, verdict, comment }: CommandOf<'review'>,
  by: Speaker,
  { newId }: Moment,
): Decided {
  if (verdict === undefined && comment === undefined)
    throw new WritError('INVALID_BODY', { message: 'expected a `verdict`, a `comment`, or both' });
  if (comment !== undefined && !isComment(comment))
    throw new WritError('INVALID_BODY', {
      message: `expected \`comment\` to have 1 to ${maxComment} characters and no control characters`,
    });
  const shown = state.patchsets.find(({ id }) => id === patchset);
  if (shown === undefined) throw notFound('no such patchset', { patchset });
  const change = shown.changes.find((one) => one.path === path);
  if (change === undefined) throw notFound('the patchset does not change that file', { patchset, path });
  if (change.hunks?.some(({ id }) => id === hunk) !== true)
    throw notFound('the file has no such hunk there', { patchset, path, hunk });
  if (shown.status === 'accepted')
    throw new WritError('INTERACTION_NOT_ACTIVE', {
      message: 'the change is committed: it is kept',
      detail: { patchset },
    });
  const known = state.reviews.find((one) => one.patchset === patchset && one.hunk === hunk);
  // If a rejected hunk is kept after all, the comment of the rejection no longer applies.
  const isTakenBack = verdict === 'keep' && known?.verdict === 'reject';
  const now = {
    verdict: verdict ?? known?.verdict,
    comment: comment ?? (isTakenBack ? undefined : known?.comment),
  };
  return {
    facts: [
      {
        type: 'reviewed',
        id: newId(),
        review: {
          patchset,
          path,
          hunk,
          ...compact({ verdict: now.verdict, comment: now.comment }),
        },
        by,
      },
    ],
    wants: [],
  };
}

function isComment(text: string): boolean {
  return text.trim() !== '' && text.length <= maxComment && !/(?!\n)\p{Cc}/u.test(text);
}

function notFound(message: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('NOT_FOUND', { message, detail });
}

/** Applies an effect's report. After its turn has ended, only its usage counts. */
function takeReport(state: SessionState, command: Report, { nowMs, newId }: Moment): Decided {
  const { turn, ...told } = command;
  // What was paid was paid, whether its turn is over or not.
  if (told.type === 'used') return { facts: [{ ...told, turn }], wants: [] };
  if (turn !== state.turn) return nothingDecided;
  switch (told.type) {
    case 'ask': {
      const { type: _, ...question } = told;
      // After a cancel no question is shown.
      if (state.isCancelling) return { facts: [], wants: [{ type: 'abort', turn }] };
      const interaction: Interaction = { ...question, id: newId(), status: 'pending', requestedAtMs: nowMs };
      return { facts: [{ type: 'asked', interaction }], wants: [] };
    }
    case 'tools-stopped':
      return {
        facts: state.toolCalls.filter(({ status }) => status === 'running').map(unknownTool),
        wants: [],
      };
    case 'end': {
      const left = pendingOf(state).map(({ id }): Fact => ({ type: 'withdrawn', id, why: 'turn-ended' }));
      const { end, reason } = told;
      return {
        facts: [
          ...left,
          ...brokenOff(state),
          { type: 'turn-ended', turn, end, ...(reason === undefined ? {} : { reason }) },
        ],
        wants: [],
      };
    }
    case 'replied':
      return { facts: [repliedFact(state, told)], wants: [] };
    default:
      return { facts: [told], wants: [] };
  }
}

/** The tool may have had effects. */
function unknownTool({ id, toolName, summary, output }: ToolCall): Fact {
  const how = 'stopped before its end';
  return {
    type: 'tool',
    id,
    toolName,
    status: 'unknown',
    summary: summary === undefined ? how : `${summary}: ${how}`,
    ...(output === undefined ? {} : { output }),
  };
}
