/** Restores the state of a thread and repairs it after a kill. */
import { WritError } from '../../core/base/errors.ts';
import type { ModelMessage } from '../../core/interfaces/model.ts';
import type { Moment } from './command.ts';
import { cutDialogue, withMessage } from './dialogue.ts';
import type { Fact, Happened } from './fact.ts';
import { isOpenGoal, pursuedGoal } from './goal.ts';
import type { Interaction, PlanChoice } from './interaction.ts';
import { isApproval } from './question.ts';
import { heldQuestion, modelSubject } from './questions.ts';
import { openedState, reduce } from './reduce.ts';
import { kept, pendingOf, type SessionState, type TranscriptEntry } from './state.ts';
import type { SessionPlan } from './work.ts';

/**
 * Applies the facts of a thread, oldest first. The result equals reducing them one by one; dialogue and commands are
 * bounded only once, at the end. Calls `onEvicted` with each transcript entry that left the window. Pure otherwise.
 * JOURNAL_CORRUPT if the facts do not begin with an opening.
 */
export function restoredState(
  facts: readonly Happened[],
  onEvicted: (entry: TranscriptEntry) => void = () => {},
): SessionState {
  const [first, ...later] = facts;
  if (first?.type !== 'opened')
    throw new WritError('JOURNAL_CORRUPT', { message: 'the thread is damaged: its first record is missing' });
  const commands: (readonly [id: string, text: string])[] = [];
  let dialogue: ModelMessage[] = [];
  let state = openedState(first);
  for (const fact of later) {
    if (fact.type === 'exchanged' || fact.type === 'talk-cut') {
      if (fact.type === 'exchanged') dialogue.push(fact.message);
      else dialogue = [...cutDialogue(bounded(dialogue), fact.how)];
      state = { ...state, updatedAtMs: Math.max(state.updatedAtMs, fact.atMs) };
      continue;
    }
    let one = fact;
    if (fact.type === 'said' && fact.commandId !== undefined) {
      const { commandId, ...said } = fact;
      commands.push([commandId, fact.text]);
      one = said;
    }
    const next = reduce(state, one);
    evicted(state, next, one).forEach(onEvicted);
    state = next;
  }
  return { ...state, commands: new Map(commands.slice(-kept.commands)), dialogue: bounded(dialogue) };
}

/** A dialogue is cut where a person speaks: what the last cut leaves, every cut before it would have left. */
function bounded(dialogue: readonly ModelMessage[]): readonly ModelMessage[] {
  const last = dialogue.findLastIndex(({ role }) => role === 'user');
  const spoken = dialogue[last];
  if (spoken === undefined) return dialogue;
  return [...withMessage(dialogue.slice(0, last), spoken), ...dialogue.slice(last + 1)];
}

/**
 * Facts that repair a state after its process was killed. Running tools become unknown, and a question stays pending
 * unless its run has to ask it again. A held change is presented again. Any other turn has failed. Pure.
 */
export function afterKill(
  state: SessionState,
  { nowMs, newId }: Pick<Moment, 'nowMs' | 'newId'>,
): readonly Fact[] {
  const left: Fact[] = state.toolCalls
    .filter(({ status }) => status === 'running' || status === 'preview')
    .map(({ id, toolName, status, summary: what }): Fact => {
      const isBegun = status === 'running';
      const how = isBegun ? 'writ was stopped before its end' : 'writ was stopped before it began';
      const summary = what === undefined ? how : `${what}: ${how}`;
      return { type: 'tool', id, toolName, status: isBegun ? 'unknown' : 'failed', summary };
    });
  const { turn } = state;
  const goal = pursuedGoal(state);
  // Only a draft or plan that waits for confirmation has no work in progress.
  const isLeft = goal?.status === 'active' && !pendingOf(state).some(isReview) && state.noteFor === undefined;
  if (isLeft)
    left.push({
      type: 'goal-moved',
      goal: goal.id,
      change: { status: 'blocked', blockReason: 'interrupted' },
    });
  const lost = goal === undefined && stoppedRun(state) !== undefined ? pendingOf(state).filter(isOfRun) : [];
  left.push(...lost.map(({ id }): Fact => ({ type: 'withdrawn', id, why: 'turn-ended' })));
  if (turn === undefined || pendingOf(state).length > lost.length || state.noteFor !== undefined) return left;
  const { held } = state;
  if (held !== undefined && !state.isCancelling) {
    const asked = { id: newId(), ...heldQuestion(held), status: 'pending', requestedAtMs: nowMs } as const;
    return [...left, { type: 'asked', interaction: asked }];
  }
  const granted = goal === undefined ? grantedPlan(state) : undefined;
  if (granted !== undefined)
    left.push({ type: 'run-began', runId: hasRun(state, granted) ? newId() : granted });
  const end = { type: 'turn-ended', turn, end: 'failed' } as const;
  const why = 'writ was stopped in the middle of this turn';
  if (isLeft) return [...left, { ...end, reason: `${why}: \`/goal start\` goes on with the goal` }];
  // The question about the run says what happened.
  const isAsked = granted !== undefined || (goal === undefined && stoppedRun(state) !== undefined);
  return [...left, isAsked ? end : { ...end, reason: why }];
}

/** Whether a run asked it: its effect is gone, and the resumed run asks again. */
function isOfRun(asked: Interaction): boolean {
  return isApproval(asked) || asked.subject.startsWith(modelSubject);
}

/** The draft of a plan that the user executed, or that is a repair, and whose run has not begun. */
function grantedPlan(state: SessionState): string | undefined {
  if (stoppedRun(state) !== undefined) return undefined;
  const plan = state.plans.findLast(({ run, status }) => run !== undefined && status === 'proposed');
  if (plan?.run === undefined) return undefined;
  const { runId, repair } = plan.run;
  const asked = planQuestion(state, plan.id);
  const isRepair = repair.attempt > 0 && repair.attempt <= repair.limit;
  return (asked === undefined ? isRepair : asked.status === 'resolved') ? runId : undefined;
}

/** The last question about a plan. */
export function planQuestion(
  { interactions }: Pick<SessionState, 'interactions'>,
  planId: string,
): PlanChoice | undefined {
  return interactions.findLast(
    (one): one is PlanChoice => one.kind === 'post_plan_choice' && one.metadata.planId === planId,
  );
}

/** A run has the id of its draft; the next one of the same draft has another. */
export function hasRun({ plans }: { readonly plans: readonly SessionPlan[] }, draft: string): boolean {
  return plans.some(({ run }) => run?.runId === draft && run.hasBegun === true);
}

function isReview({ kind }: Interaction): boolean {
  return kind === 'intent_review_choice' || kind === 'post_plan_choice';
}

/** The turn's run if it has no outcome yet. If it is stopped now, it is kept and can be resumed. */
export function stoppedRun({ run, outcome }: Pick<SessionState, 'run' | 'outcome'>): string | undefined {
  return outcome?.runId === run ? undefined : run;
}

/** How to resume the stopped run; empty if there is none. */
export function stoppedWords(state: Pick<SessionState, 'run' | 'outcome'>): string {
  return stoppedRun(state) === undefined ? '' : keptWords;
}

export const keptWords = 'its run is kept: `/plan continue` goes on with it';

/**
 * The last run of the thread, if the conversation does not know how it ended: it was interrupted, or it waits. The run
 * of an open goal and that of a review go on by themselves.
 */
export function unsettledRun(
  state: Pick<SessionState, 'lastRun' | 'outcome' | 'goal' | 'held' | 'heldRun'>,
): string | undefined {
  const { lastRun: run, outcome, goal, held, heldRun } = state;
  if (held !== undefined || (goal !== undefined && isOpenGoal(goal) && goal.run === run)) return undefined;
  if (outcome?.runId !== run) return run;
  const isOpen = outcome?.decision === 'waiting' || (outcome?.decision === 'held' && heldRun?.runId === run);
  return isOpen ? run : undefined;
}

/** Transcript entries that left the window of the session, kept in memory for clients that page back. */

/** Selects the last `limit` of the first `before` entries. */
export interface TranscriptAsk {
  readonly before: number;
  readonly limit: number;
}

/** Entries of a transcript, oldest first, and how many came before them. */
export interface TranscriptPage {
  readonly entries: readonly TranscriptEntry[];
  readonly earlier: number;
}

export interface TranscriptArchive {
  /** Adds an entry that left the window. */
  add(entry: TranscriptEntry): void;
  /** Adds what left the window while `facts` turned `before` into `after`. */
  follow(before: SessionState, after: SessionState, facts: readonly Happened[]): void;
  page(ask: TranscriptAsk): Promise<TranscriptPage>;
}

/** Characters of one page; a page always has at least one entry. */
const maxCharacters = 4 * 1024 * 1024;

export function openTranscriptArchive(): TranscriptArchive {
  const older: TranscriptEntry[] = [];
  return {
    add: (entry) => void older.push(entry),
    follow(before, after, facts) {
      if (after.earlier === before.earlier) return;
      let state = before;
      for (const fact of facts) {
        const next = reduce(state, fact);
        older.push(...evicted(state, next, fact));
        state = next;
      }
    },
    async page({ before, limit }) {
      const to = Math.min(before, older.length);
      const entries = newestThatFit(older.slice(Math.max(0, to - limit), to));
      return { entries, earlier: to - entries.length };
    },
  };
}

/** The entry that one fact pushed out of the window, if it did. Pure. */
function evicted(before: SessionState, after: SessionState, fact: Happened): readonly TranscriptEntry[] {
  if (after.earlier === before.earlier) return [];
  const [oldest] = before.transcript;
  // A reply placed before the whole window never enters it.
  const [gone] =
    oldest === after.transcript[0] ? reduce({ ...before, transcript: [] }, fact).transcript : [oldest];
  return gone === undefined ? [] : [{ ...gone, streaming: false }];
}

function newestThatFit(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  let left = maxCharacters;
  const first = entries.findLastIndex(({ content = '', title = '' }) => {
    left -= content.length + title.length;
    return left < 0;
  });
  return entries.slice(Math.min(first + 1, entries.length - 1));
}
