import { WritError } from '../../core/base/errors.ts';
import type { ModelMessage } from '../../core/interfaces/model.ts';
import { boundRequest } from '../../engine/draft/draft-request.ts';
import { beginDeed, isDeed } from './begin-deed.ts';
import { changeBudget } from './change-budget.ts';
import type { ClientCommand, Want } from './command.ts';
import { cutDialogue, type DialogueCut } from './cut-dialogue.ts';
import { type Decided, type Moment, nothingDecided } from './decided.ts';
import type { Fact, Speaker } from './fact.ts';
import { exhausted, grantedLimit } from './goal-budget.ts';
import { judgeHeldAnswer } from './held/judge-held-answer.ts';
import { requireMayUndo, requireNothingHeld, requireSomethingHeld } from './held/require-held.ts';
import {
  awaitsNote,
  type GivenAnswer,
  type Interaction,
  type InteractionAnswer,
  judgeAnswer,
  questionsOf,
  secretQuestions,
} from './interaction.ts';
import { pursuedGoal } from './pursued-goal.ts';
import { requireIdle } from './require-idle.ts';
import { isRepeated, saidFact } from './said-fact.ts';
import { sayGoal } from './say-goal.ts';
import { changeSettings } from './settings/change-settings.ts';
import { isNoNote } from './slash/is-no-note.ts';
import { readSpoken } from './slash/read-spoken.ts';
import type { AtOnce, Deed, Spoken } from './slash/spoken.ts';
import { pendingOf, type SessionState } from './state.ts';
import { brokenOff } from './transcript.ts';

/** A message: the note that `modify` waits for, else the beginning of a turn. The same command twice is one. */
export function submit(
  state: SessionState,
  { text, commandId }: Extract<ClientCommand, { type: 'submit' }>,
  by: Speaker,
  moment: Moment,
): Decided {
  if (isRepeated(state, { text, commandId })) return nothingDecided;
  const { newId } = moment;
  const said = saidFact({ text, commandId }, by, newId());
  const asked = state.interactions.find(({ id }) => id === state.noteFor);
  if (asked !== undefined && !isNoNote(text)) {
    requireNote(asked, text);
    const note: Want = { type: 'note', subject: asked.subject, note: text, by };
    return { facts: [{ ...said, noteOf: asked.id }], wants: [note] };
  }
  if (text.trim() === '')
    throw new WritError('INVALID_BODY', { message: 'expected `text` to say something' });
  const spoken = readSpoken(text);
  if (spoken.kind === 'goal') return sayGoal(state, spoken.words, said, by, moment);
  if (isAtOnce(spoken)) {
    const { facts, wants } = actAtOnce(state, spoken, by, moment);
    return { facts: [said, ...facts], wants };
  }
  if (spoken.kind === 'review') {
    requireIdle(state);
    requireSomethingHeld(state);
    return begun(said, spoken, by, newId());
  }
  if (spoken.kind === 'undo') {
    requireIdle(state);
    requireMayUndo(state, spoken.text);
    return begun(said, spoken, by, newId());
  }
  if (isDeed(spoken)) return beginDeed(state, spoken, said, by, moment);
  const stopped = pendingOf(state).find(isStoppedRepair);
  if (stopped !== undefined) return goOn(state, stopped, spoken, said, by, moment);
  requireIdle(state);
  if (spoken.kind === 'plan-continue')
    throw new WritError('UNSUPPORTED_OPERATION', { message: 'no plan waits to be continued' });
  boundRequest(spoken.text);
  if (spoken.kind === 'plain') requireNothingHeld(state);
  return begun(said, spoken, by, newId());
}

function begun(
  said: Extract<Fact, { readonly type: 'said' }>,
  spoken: Extract<Want, { readonly type: 'turn' }>['spoken'],
  by: Speaker,
  turn: string,
): Decided {
  return {
    facts: [said, { type: 'turn-began', turn }],
    wants: [{ type: 'turn', turn, spoken, by }],
  };
}

/** A plan that failed as often as it may by itself, or as its goal allows: the next message says how it goes on. */
function isStoppedRepair({ kind, metadata }: Interaction): boolean {
  return kind === 'post_plan_choice' && (metadata.repair !== undefined || metadata.stopped !== undefined);
}

/** `/plan continue [n]` executes what is shown, with another limit; any other words are guidance for a better plan. */
function goOn(
  state: SessionState,
  asked: Interaction,
  spoken: Exclude<Spoken, AtOnce | Deed | { readonly kind: 'goal' | 'review' | 'undo' }>,
  said: Extract<Fact, { readonly type: 'said' }>,
  by: Speaker,
  moment: Moment,
): Decided {
  const given: GivenAnswer =
    spoken.kind === 'plan-continue'
      ? { selectedOption: 'execute' }
      : { selectedOption: 'modify', note: spoken.text };
  const { facts, wants } = respond(state, { id: asked.id, given }, by, moment);
  const limit = spoken.kind === 'plan-continue' ? spoken.limit : undefined;
  if (limit !== undefined && asked.metadata.repair === undefined)
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: 'a goal goes on as long as its budget lasts: `/plan continue` takes no number here',
    });
  // What was said stands there as a message already.
  const others = facts.filter((fact) => fact.type !== 'noted' || fact.title !== answerTitle);
  return {
    facts: [said, ...others],
    wants: wants.map((want) =>
      want.type === 'answer' && limit !== undefined
        ? { ...want, metadata: { ...want.metadata, repairLimit: limit } }
        : want,
    ),
  };
}

/** Another agent answers a question of an automation, as a turn of its own. */
export function dispatch(
  state: SessionState,
  { agent, prompt }: Pick<Extract<ClientCommand, { type: 'dispatch' }>, 'agent' | 'prompt'>,
  by: Speaker,
  { newId }: Moment,
): Decided {
  if (by.kind !== 'automation') throw new WritError('AUTOMATION_CONTROLLER_REQUIRED');
  requireIdle(state);
  boundRequest(prompt);
  const turn = newId();
  return {
    facts: [
      { type: 'said', id: newId(), text: `@${agent} ${prompt}`, by },
      { type: 'turn-began', turn },
    ],
    wants: [{ type: 'turn', turn, spoken: { kind: 'ask', text: prompt }, agent, by }],
    turn,
  };
}

/** A turn in which nothing is done but asked. */
export function visit(state: SessionState, { newId }: Moment): Decided {
  requireIdle(state);
  const turn = newId();
  return { facts: [{ type: 'turn-began', turn }], wants: [], turn };
}

/** Without it nobody would see that the session waits for words. */
const awaited = 'say what shall be different: your next message is the note';

/** An answer to an interaction; what is refused leaves it pending. */
export function respond(
  state: SessionState,
  { id, given }: Pick<Extract<ClientCommand, { type: 'respond' }>, 'id' | 'given'>,
  by: Speaker,
  { workspace, newId }: Moment,
): Decided {
  const asked = state.interactions.find((one) => one.id === id);
  if (asked === undefined) throw new WritError('NOT_FOUND', { message: 'no such interaction' });
  if (asked.status !== 'pending')
    throw new WritError('INTERACTION_NOT_ACTIVE', { detail: { id, status: asked.status } });
  const answer = judgeAnswer(asked, given);
  if (answer.option === 'execute' && state.settings.context !== 'dev')
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `a session for ${state.settings.context} only reads: no plan is executed in it`,
      hints: ['cancel it, or go on with this thread with `--context dev`'],
    });
  if (answer.option === 'execute' && asked.metadata.workspace !== workspace)
    throw new WritError('WORKSPACE_CHANGED', { detail: { id } });
  judgeHeldAnswer(state, asked, answer);
  if (answer.note !== undefined) requireNote(asked, answer.note);
  const amended = amendment(state, asked, answer);
  if (amended !== undefined) return { facts: [{ type: 'amended', id, metadata: amended }], wants: [] };
  const open = withoutSecrets(asked, answer);
  const told = answerNote(state, asked, open);
  return {
    facts: [
      { type: 'answered', id, answer: open, by },
      ...(told === undefined
        ? []
        : [{ type: 'noted', id: newId(), title: answerTitle, text: told } as const]),
      ...answeredGoal(state, asked, answer.option, by),
      // Whoever is told `idle` may speak at once.
      ...(answer.option === 'cancel' && state.turn !== undefined
        ? [
            ...withdrawn(
              pendingOf(state).filter((one) => one.id !== id),
              'turn-ended',
            ),
            ...brokenOff(state),
            { type: 'turn-ended', turn: state.turn, end: 'done' } as const,
          ]
        : []),
      ...(awaitsNote(answer)
        ? [{ type: 'noted', id: newId(), title: 'Modify', text: awaited } as const]
        : []),
    ],
    wants: [
      { type: 'answer', subject: asked.subject, option: answer.option, given, metadata: asked.metadata, by },
    ],
  };
}

/** REQUEST_INVALID for a note that no draft would be made of: the question waits on. */
function requireNote({ kind }: Interaction, note: string): void {
  if (kind === 'intent_review_choice') boundRequest(note);
}

/** What an answer changes of a question that stays pending; `undefined` for one that settles it. */
function amendment(
  { settings: { context } }: SessionState,
  { metadata }: Interaction,
  { option }: InteractionAnswer,
): Interaction['metadata'] | undefined {
  const { needsConfirmation, ...rest } = metadata;
  if (option === 'network') {
    if (context !== 'dev')
      throw new WritError('INVALID_INTERACTION_RESPONSE', {
        message: 'this context only reads: it opens no network',
      });
    return { ...rest, networkAccess: metadata.networkAccess === 'allow' ? 'deny' : 'allow' };
  }
  if (option === 'allow_all_commands' && needsConfirmation !== option)
    return { ...rest, needsConfirmation: option };
  return undefined;
}

function withoutSecrets(asked: Interaction, answer: InteractionAnswer): InteractionAnswer {
  const secret = secretQuestions(asked);
  if (answer.answers === undefined || secret.size === 0) return answer;
  const open = Object.entries(answer.answers).filter(([id]) => !secret.has(id));
  return { ...answer, answers: Object.fromEntries(open) };
}

function withdrawn(
  asked: readonly Interaction[],
  why: Extract<Fact, { readonly type: 'withdrawn' }>['why'],
): readonly Fact[] {
  return asked.map(({ id }) => ({ type: 'withdrawn', id, why }));
}

const kinds = { set: true, budget: true, cut: true } as const satisfies Readonly<
  Record<AtOnce['kind'], true>
>;

function isAtOnce(spoken: Spoken): spoken is AtOnce {
  return Object.hasOwn(kinds, spoken.kind);
}

/**
 * Does what was said there and then: no model is asked, and whatever turn runs goes on. Each command refuses for itself
 * what does not go while one runs.
 */
function actAtOnce(state: SessionState, said: AtOnce, by: Speaker, moment: Moment): Decided {
  switch (said.kind) {
    case 'set':
      return changeSettings(state, said.change, by, moment);
    case 'cut':
      return decideCut(state, said.how, moment);
    case 'budget':
      return changeBudget(state, said.limitUsd, by, moment);
  }
}

/** Title of the entry of a transcript that says what a person answered. */
const answerTitle = 'Answer';

/** Characters of what was asked, and of one answer. */
const most = { asked: 200, given: 4000 } as const;

/**
 * What a person answered in words of his own, or to a question of a model, for whoever reads the transcript later: each
 * question with its answer; of a secret that there is one. `undefined` where the choice alone is all.
 */
function answerNote(
  { plans }: Pick<SessionState, 'plans'>,
  asked: Interaction,
  { note, answers = {} }: InteractionAnswer,
): string | undefined {
  const lines =
    asked.kind === 'request_user_input'
      ? questionsOf(asked).map(({ id, prompt, options = [], secret }) => {
          // Before anything is looked up: an answer to a secret question is kept nowhere.
          if (secret === true) return pair(prompt, 'answered, not shown');
          const [given = ''] = answers[id] ?? [];
          return pair(prompt, options.find((option) => option.id === given)?.label ?? given);
        })
      : [
          ...(note === undefined ? [] : [pair('Modify', note)]),
          ...Object.entries(answers).map(([line, [given = '']]) => pair(stepOf(plans, line), given)),
        ];
  return lines.length === 0 ? undefined : lines.join('\n');
}

/** The line of a plan that a note is on, in its words. */
function stepOf(plans: SessionState['plans'], line: string): string {
  return plans.at(-1)?.steps.find(({ id }) => id === line)?.step ?? line;
}

function pair(asked: string, given: string): string {
  return `${cut(asked.replace(/\s+/g, ' ').trim(), most.asked)} → ${cut(given, most.given)}`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}

/**
 * Cuts what is sent of the conversation from now on; spec, plans, decisions and the transcript stay as they are.
 * CONTROLLER_CONFLICT while a turn runs.
 */
function decideCut(state: SessionState, how: DialogueCut, { newId }: Pick<Moment, 'newId'>): Decided {
  requireIdle(state);
  const [before, after] = [state.dialogue, cutDialogue(state.dialogue, how)].map(charactersOf);
  const untold = state.ran.flatMap(({ id, isTold }) => (isTold ? [] : [id]));
  const text =
    how === 'clear'
      ? 'the conversation starts again: no model gets what was said before; spec, plans and decisions stay'
      : `a model is sent ${after} characters of the conversation, before it were ${before}; older results can be asked for again`;
  return {
    facts: [
      { type: 'talk-cut', how },
      ...(how === 'clear' && untold.length > 0 ? ([{ type: 'runs-told', ids: untold }] as const) : []),
      { type: 'noted', id: newId(), title: 'Conversation', text },
    ],
    wants: [],
  };
}

function charactersOf(dialogue: readonly ModelMessage[]): number {
  return dialogue.reduce(
    (sum, one) =>
      sum +
      (one.role === 'tool' ? one.results.reduce((all, { text }) => all + text.length, 0) : one.text.length),
    0,
  );
}

/**
 * What an answer to its draft or its plan makes of a goal: Execute grants one budget from here on, Cancel leaves it
 * blocked. A program is given the first budget alone, and goes on with what is left of it; PERSON_REQUIRED where
 * nothing is. Pure.
 */
function answeredGoal(
  state: SessionState,
  { kind }: Pick<Interaction, 'kind'>,
  option: string,
  by: Speaker,
): readonly Fact[] {
  const goal = pursuedGoal(state);
  if (goal === undefined || (kind !== 'intent_review_choice' && kind !== 'post_plan_choice')) return [];
  if (option === 'execute') {
    const isGranted = by.kind !== 'automation' || goal.run === undefined;
    const used = exhausted(goal.budget);
    if (!isGranted && used !== undefined)
      throw new WritError('PERSON_REQUIRED', {
        message: `the goal's budget is used up (${used}), and a person alone grants one more`,
        detail: { goal: goal.id, reason: used },
      });
    const limit = isGranted ? { limit: grantedLimit(goal.budget) } : {};
    return [moved(goal.id, { status: 'active', ...limit })];
  }
  return option === 'cancel' ? [moved(goal.id, { status: 'blocked', blockReason: 'declined' })] : [];
}

function moved(goal: string, change: Extract<Fact, { readonly type: 'goal-moved' }>['change']): Fact {
  return { type: 'goal-moved', goal, change };
}
