/** Applies one fact to the state. */
import { compact } from '../../api/envelope.ts';
import { cutDialogue, withMessage } from './dialogue.ts';
import type { FactOf, Happened, ToolStatus, TurnEnd } from './fact.ts';
import {
  addAmounts,
  type BlockReason,
  type GoalChange,
  isOpenGoal,
  pursuedGoal,
  type SessionGoal,
} from './goal.ts';
import { awaitsNote, type Interaction } from './interaction.ts';
import { isApproval } from './question.ts';
import {
  answeredPlans,
  askedPlans,
  endedPlans,
  lived,
  paidPlan,
  planEntry,
  stepped,
  stoppedTask,
  withModelSettled,
  withReview,
} from './reduce-plans.ts';
import {
  appended,
  entry,
  withAnnounced,
  withEnd,
  withNote,
  withOne,
  withOutput,
  withoutAnnounced,
  withPatchset,
  withReply,
  withTool,
} from './reduce-transcript.ts';
import { firstSettings, resumedSettings } from './settings.ts';
import { holderOf, kept, localHolder, pendingOf, type SessionState, type SessionStatus } from './state.ts';
import { nothingUsed, withUsed } from './usage.ts';
import type { SessionPlan } from './work.ts';

/** The state of a session that was just opened. */
export function openedState({ ground, atMs }: Extract<Happened, { type: 'opened' }>): SessionState {
  return {
    ground,
    settings: firstSettings(ground),
    lease: undefined,
    holder: localHolder,
    status: 'idle',
    turn: undefined,
    isCancelling: false,
    noteFor: undefined,
    transcript: [],
    earlier: 0,
    toolCalls: [],
    interactions: [],
    draft: undefined,
    plans: [],
    tasks: [],
    patchsets: [],
    gates: [],
    outcome: undefined,
    goal: undefined,
    reviews: [],
    heldRun: undefined,
    held: undefined,
    undos: [],
    ran: [],
    instructions: [],
    skills: [],
    run: undefined,
    lastRun: undefined,
    usage: nothingUsed,
    limit: undefined,
    dialogue: [],
    commands: new Map(),
    updatedAtMs: atMs,
  };
}

/** What one fact makes of a state. Pure; a fact is never refused. */
export function reduce(state: SessionState, fact: Happened): SessionState {
  return { ...state, ...changed(state, fact), updatedAtMs: Math.max(state.updatedAtMs, fact.atMs) };
}

function changed(state: SessionState, fact: Happened): Partial<SessionState> {
  const { atMs } = fact;
  switch (fact.type) {
    case 'opened':
      return openedState(fact);
    case 'resumed':
      return {
        ground: fact.ground,
        settings: resumedSettings(
          fact.ground,
          state.settings,
          fact.ground.provider.provider === state.ground.provider.provider,
        ),
        lease: undefined,
        holder: localHolder,
      };
    case 'set':
      return { settings: fact.settings };
    case 'attached':
      return { lease: fact.lease, holder: holderOf(fact.lease) };
    case 'renewed':
      return state.lease === undefined
        ? {}
        : { lease: { ...state.lease, expiresAtMs: fact.expiresAtMs, endsAtMs: fact.endsAtMs } };
    case 'released':
      return { lease: undefined, holder: state.ground.local === 'none' ? state.holder : localHolder };
    case 'said':
      return {
        ...appended(state, {
          ...entry(fact.id, 'user_message', fact.text, atMs),
          metadata: fact.attachments === undefined ? {} : { attachments: fact.attachments },
        }),
        commands:
          fact.commandId === undefined
            ? state.commands
            : remembered(state.commands, fact.commandId, fact.text),
        ...(fact.noteOf === undefined ? {} : { noteFor: undefined, status: 'thinking' as const }),
      };
    case 'turn-began':
      return { turn: fact.turn, status: 'thinking', isCancelling: false, usage: withoutTurn(state.usage) };
    case 'replying':
    case 'replied':
      return withReply(state, fact, atMs);
    case 'instructed':
      return { instructions: fact.files, skills: fact.skills ?? [] };
    case 'tool':
      return { ...withTool(state, fact, atMs), status: duringTool(state, fact.status) };
    case 'announced':
      return { toolCalls: withAnnounced(state.toolCalls, fact, atMs) };
    case 'asked':
      return {
        interactions: withNew(state.interactions, fact.interaction),
        plans: askedPlans(state.plans, fact.interaction, atMs),
        status: 'awaiting_interaction',
      };
    case 'amended':
      return {
        interactions: state.interactions.map((one) =>
          one.id === fact.id ? ({ ...one, metadata: fact.metadata } as Interaction) : one,
        ),
      };
    case 'answered': {
      const interactions = settled(state.interactions, fact.id, 'resolved', atMs);
      const asked = state.interactions.find(({ id }) => id === fact.id);
      const waits = awaitsNote(fact.answer);
      return {
        interactions,
        plans: answeredPlans(state.plans, asked, fact.answer.option, atMs),
        status: afterAnswer(asked, fact.answer.option, interactions),
        ...(waits ? { noteFor: fact.id } : {}),
      };
    }
    case 'withdrawn': {
      const interactions = settled(state.interactions, fact.id, 'cancelled', atMs);
      const isLast = pendingOf({ interactions }).length === 0 && state.status === 'awaiting_interaction';
      return { interactions, ...(isLast ? { status: 'thinking' as const } : {}) };
    }
    case 'exchanged':
      return { dialogue: withMessage(state.dialogue, fact.message) };
    case 'noted':
      return withNote(state, fact, atMs);
    case 'drafted':
      return { draft: fact.draft };
    case 'planned':
      return withPlan(state, { ...fact.plan, updatedAtMs: atMs });
    case 'stepped':
      return { plans: state.plans.map((plan) => (plan.id === fact.plan ? stepped(plan, fact, atMs) : plan)) };
    case 'tasked':
      return { tasks: withOne(state.tasks, { ...fact.task, updatedAtMs: atMs }, kept.tasks) };
    case 'patched':
      return withPatchset(state, fact, atMs);
    case 'used':
      return {
        usage: usedBy(state, fact),
        plans: state.plans.map((one) => paidPlan(one, fact)),
        goal: state.goal && usedByGoal(state.goal, fact),
      };
    case 'goal-began':
      return { goal: fact.goal };
    case 'goal-moved':
      return state.goal?.id === fact.goal
        ? {
            goal: movedGoal(state.goal, fact.change),
            // A blocked goal has no running task.
            ...(fact.change.status === 'blocked'
              ? { tasks: state.tasks.map((task) => stoppedTask(task, atMs)) }
              : {}),
          }
        : {};
    case 'reviewed':
      return { reviews: withReview(state.reviews, fact) };
    case 'reviews-told':
      return {
        reviews: state.reviews.map((one) =>
          fact.ids.includes(one.id) ? { ...one, told: fact.hearing ?? 'plan' } : one,
        ),
      };
    case 'printing':
      return { toolCalls: withOutput(state.toolCalls, fact.id, fact.text) };
    case 'talk-cut':
      return {
        dialogue: cutDialogue(state.dialogue, fact.how),
        ...(fact.how === 'clear' ? { skills: state.skills.map(({ isRead: _, ...one }) => one) } : {}),
      };
    case 'ran':
      return { ran: [...state.ran, { id: fact.id, text: fact.text, isTold: false }].slice(-kept.ran) };
    case 'runs-told':
      return { ran: state.ran.map((one) => (fact.ids.includes(one.id) ? { ...one, isTold: true } : one)) };
    case 'run-began': {
      const goal = pursuedGoal(state);
      return {
        gates: [],
        run: fact.runId,
        lastRun: fact.runId,
        ...(state.held === undefined ? { heldRun: fact.held } : {}),
        ...(goal === undefined ? {} : { goal: { ...goal, run: fact.runId } }),
      };
    }
    case 'review-began':
      return { held: fact.review };
    case 'review-anew': {
      const { runId, rejected } = fact;
      return { held: state.held && { ...state.held, anew: { runId, rejected } } };
    }
    case 'review-ended':
      return { held: undefined, heldRun: undefined };
    case 'undo-began': {
      const { run, by } = fact;
      return { undos: [...state.undos, { run, by }].slice(-kept.undos) };
    }
    case 'limited':
      return { limit: fact.limitUsd === undefined ? {} : { usd: fact.limitUsd } };
    case 'cancel-asked':
      return { isCancelling: state.turn !== undefined, noteFor: undefined };
    case 'turn-ended':
      return {
        turn: undefined,
        isCancelling: false,
        noteFor: undefined,
        run: undefined,
        goal: state.goal && afterTurnOf(state.goal, fact.turn, fact.end),
        plans: endedPlans(state, fact.end, atMs),
        tasks: state.tasks.map((task) => stoppedTask(task, atMs)),
        toolCalls: withoutAnnounced(state.toolCalls),
        status: afterTurn[fact.end],
        ...withEnd(state, fact, atMs),
      };
  }
}

const afterTurn: Readonly<Record<TurnEnd, SessionStatus>> = {
  done: 'idle',
  cancelled: 'idle',
  failed: 'error',
  decided: 'completed',
};

/** answered → executing_tool (approval), thinking (else) or idle (cancel). */
function afterAnswer(
  asked: Interaction | undefined,
  option: string,
  interactions: readonly Interaction[],
): SessionStatus {
  if (pendingOf({ interactions }).length > 0) return 'awaiting_interaction';
  if (option === 'cancel') return 'idle';
  return asked !== undefined && isApproval(asked) ? 'executing_tool' : 'thinking';
}

function duringTool({ status }: SessionState, tool: ToolStatus): SessionStatus {
  if (status === 'awaiting_interaction') return status;
  return tool === 'running' ? 'executing_tool' : tool === 'preview' ? status : 'thinking';
}

function settled(
  interactions: readonly Interaction[],
  id: string,
  status: 'resolved' | 'cancelled',
  resolvedAtMs: number,
): readonly Interaction[] {
  return interactions.map((one) => (one.id === id ? { ...one, status, resolvedAtMs } : one));
}

/** A new plan also becomes a transcript entry. */
function withPlan(state: SessionState, plan: SessionPlan): Partial<SessionState> {
  const known = state.plans.find(({ id }) => id === plan.id);
  const isNew = known === undefined;
  const told = withOne(state.plans, lived(known, plan), kept.plans);
  const plans = withModelSettled(told, plan);
  return isNew ? { plans, ...appended(state, planEntry(plan)) } : { plans };
}

/** Pending ones are never let go of. */
function withNew(interactions: readonly Interaction[], one: Interaction): readonly Interaction[] {
  const over = interactions.length + 1 - kept.interactions;
  const oldest = interactions.filter(({ status }) => status !== 'pending').slice(0, Math.max(0, over));
  const gone = new Set(oldest);
  return [...interactions.filter((known) => !gone.has(known)), one];
}

/** What one question more came to; of a turn that is over only the whole grows. */
function usedBy(
  { usage, turn }: Pick<SessionState, 'usage' | 'turn'>,
  fact: FactOf<'used'>,
): SessionState['usage'] {
  const ofTurn = fact.turn === turn ? withUsed(usage.turn ?? nothingUsed, fact) : usage.turn;
  return {
    ...withUsed(usage, fact),
    contextTokens: fact.inputTokens + fact.outputTokens,
    ...compact({ contextWindow: fact.contextWindow, turn: ofTurn }),
  };
}

/** A new turn starts without usage. */
function withoutTurn({ turn: _, ...usage }: SessionState['usage']): SessionState['usage'] {
  return usage;
}

function remembered(
  commands: ReadonlyMap<string, string>,
  id: string,
  text: string,
): ReadonlyMap<string, string> {
  return new Map([...commands, [id, text] as const].slice(-kept.commands));
}

/** A goal as a change leaves it; one that was given up or achieved stays so, whatever comes late. Pure. */
function movedGoal(goal: SessionGoal, { limit, workedMs = 0, ...change }: GoalChange): SessionGoal {
  const { blockReason, ...rest } = isOpenGoal(goal) ? { ...goal, ...change } : goal;
  const { used } = goal.budget;
  const budget = {
    ...goal.budget,
    ...(limit === undefined ? {} : { limit }),
    used: { ...used, workMs: used.workMs + workedMs },
  };
  return {
    ...rest,
    budget,
    ...(rest.status === 'blocked' ? { blockReason: blockReason ?? 'failed' } : {}),
  };
}

const reasonOf: Readonly<Record<TurnEnd, BlockReason>> = {
  done: 'declined',
  cancelled: 'interrupted',
  failed: 'failed',
  decided: 'failed',
};

/** The end of its turn blocks an active goal. */
function afterTurnOf(goal: SessionGoal, turn: string, end: TurnEnd): SessionGoal {
  if (goal.turn !== turn || goal.status !== 'active') return goal;
  return movedGoal(goal, { status: 'blocked', blockReason: reasonOf[end] });
}

/** Adds the cost of a model call of its turn to a goal. */
function usedByGoal(
  goal: SessionGoal,
  { turn, inputTokens, outputTokens, costUsd = 0 }: FactOf<'used'>,
): SessionGoal {
  if (goal.turn !== turn) return goal;
  const { budget } = goal;
  const more = { tokens: inputTokens + outputTokens, costUsd, workMs: 0 };
  return { ...goal, budget: { ...budget, used: addAmounts(budget.used, more) } };
}
