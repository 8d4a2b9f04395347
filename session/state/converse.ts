/** Decides messages and answers of the controller. */
import { compact } from '../../api/envelope.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ModelMessage } from '../../core/interfaces/model.ts';
import { boundRequest, messageBounds } from '../../engine/draft/draft-request.ts';
import { classifyCommand } from '../approvals/classify-command.ts';
import { changeBudget, changeSettings } from './change-settings.ts';
import {
  type CommandOf,
  type Decided,
  isRepeated,
  type Moment,
  nothingDecided,
  requireIdle,
  saidFact,
  type Want,
} from './command.ts';
import { cutDialogue, mostNamed, turnInQuotes } from './dialogue.ts';
import type { Fact, FactOf, Speaker } from './fact.ts';
import { exhausted, grantedLimit, pursuedGoal } from './goal.ts';
import {
  awaitsNote,
  type GivenAnswer,
  type Interaction,
  type InteractionAnswer,
  secretQuestions,
  validateAnswer,
} from './interaction.ts';
import { sayGoal } from './pursue-goal.ts';
import { isApproval, questionsOf } from './question.ts';
import {
  requireMayUndo,
  requireNothingHeld,
  requireSomethingHeld,
  requireWrites,
  stoppedAsked,
  validateHeldAnswer,
} from './questions.ts';
import { brokenOff } from './reduce-transcript.ts';
import { unsettledRun } from './restored-state.ts';
import { decideRewind, entryBefore } from './rewind.ts';
import { isNoNote, readSpoken, type Spoken, spokenIn, type TurnWords } from './slash.ts';
import { isBusy, pendingOf, type SessionState } from './state.ts';

/** A message: the note that `modify` waits for, else the beginning of a turn. The same command twice is one. */
export function submit(
  state: SessionState,
  { text, commandId, attachments }: CommandOf<'submit'>,
  by: Speaker,
  moment: Moment,
): Decided {
  if (isRepeated(state, { text, commandId })) return nothingDecided;
  const { newId } = moment;
  const said = saidFact({ text, commandId, attachments }, by, newId());
  const asked = state.interactions.find(({ id }) => id === state.noteFor);
  if (asked !== undefined && !isNoNote(text)) {
    requireNote(asked, text);
    const note: Want = { type: 'note', subject: asked.subject, note: text, by };
    return { facts: [{ ...said, noteOf: asked.id }], wants: [note] };
  }
  if (text.trim() === '')
    throw new WritError('INVALID_BODY', { message: 'expected `text` to say something' });
  const spoken = readSpoken(text);
  switch (spoken.kind) {
    case 'goal':
      return sayGoal(state, spoken.words, said, by, moment);
    case 'set':
      return atOnce(said, changeSettings(state, spoken.change, by, moment));
    case 'cut':
      return atOnce(said, decideCut(state, spoken.how, moment));
    case 'fork-at': {
      requireIdle(state);
      const before = spoken.before === undefined ? said.id : entryBefore(state, spoken.before);
      return begun(said, { kind: 'fork', before }, by, newId());
    }
    case 'commands': {
      const { turn } = state;
      const { kind: _, ...asked } = spoken;
      if (turn !== undefined) return { facts: [said], wants: [{ type: 'commands', turn, ...asked }] };
      const text = 'no command runs in the background: they end with their task';
      return { facts: [said, { type: 'noted', id: newId(), title: commandsTitle, text }], wants: [] };
    }
    case 'rewind':
      return decideRewind(state, spoken, said, by, moment);
    case 'budget':
      return atOnce(said, changeBudget(state, spoken.limitUsd, by, moment));
    case 'review':
      requireIdle(state);
      requireSomethingHeld(state);
      break;
    case 'undo':
      requireIdle(state);
      requireMayUndo(state, spoken.text);
      break;
    case 'shell':
      requireIdle(state);
      requireMayRun(state, spoken.command);
      break;
    case 'verify':
      requireIdle(state);
      break;
    default: {
      const stopped = pendingOf(state).find(isStoppedRepair);
      if (spoken.kind === 'plan-continue') {
        if (stopped !== undefined) return goOn(state, stopped, spoken, said, by, moment);
        return goOnRun(state, spoken, said, by, moment);
      }
      const isBare = spoken.kind === 'draft' && spoken.text === '';
      const words = isBare ? { ...spoken, text: lastWords(state) } : spoken;
      if (stopped !== undefined) return goOn(state, stopped, words, said, by, moment);
      requireIdle(state);
      boundRequest(words.text, messageBounds);
      if (words.kind !== 'ask') requireNothingHeld(state);
      return begun(said, words, by, newId());
    }
  }
  return begun(said, spoken, by, newId());
}

/** `/plan continue`: the last run goes on, also as the answer to the question about it. */
function goOnRun(
  state: SessionState,
  { limit }: Extract<Spoken, { readonly kind: 'plan-continue' }>,
  said: FactOf<'said'>,
  by: Speaker,
  { newId }: Moment,
): Decided {
  const asked = stoppedAsked(state);
  if (asked === undefined) requireIdle(state);
  if (unsettledRun(state) === undefined)
    throw new WritError('UNSUPPORTED_OPERATION', { message: 'there is no plan to continue' });
  requireWrites(state.settings);
  const ended = asked === undefined || state.turn === undefined ? [] : endedWith(asked, state.turn);
  const { facts, wants } = begun(said, { kind: 'go-on', ...compact({ limit }) }, by, newId());
  return { facts: [...ended, ...facts], wants };
}

/** Ends the turn that only waits for this answer. */
function endedWith({ id }: Interaction, turn: string): readonly Fact[] {
  return [
    { type: 'withdrawn', id, why: 'turn-ended' },
    { type: 'turn-ended', turn, end: 'done' },
  ];
}

/** A turn that records how the last run ended, or asks about it. A question about it that waits is withdrawn. */
export function catchUp(state: SessionState, { newId }: Pick<Moment, 'newId'>): Decided {
  const asked = stoppedAsked(state);
  if (unsettledRun(state) === undefined || (asked === undefined && isBusy(state))) return nothingDecided;
  const turn = newId();
  return {
    facts: [
      ...(asked === undefined || state.turn === undefined ? [] : endedWith(asked, state.turn)),
      { type: 'turn-began', turn },
    ],
    wants: [{ type: 'turn', turn, spoken: { kind: 'catch-up' }, by: { kind: 'cli' } }],
    turn,
  };
}

/** What was last said to the model. UNSUPPORTED_OPERATION if nothing was. */
function lastWords({ transcript }: Pick<SessionState, 'transcript'>): string {
  for (const { kind, content = '' } of transcript.toReversed()) {
    const spoken = kind === 'user_message' ? spokenIn(content) : undefined;
    if (spoken?.kind === 'plain' || spoken?.kind === 'ask') return spoken.text;
    if (spoken?.kind === 'draft' && spoken.text !== '') return spoken.text;
  }
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: '`/draft` has no request to draft a spec from. Describe the change first.',
  });
}

/** Title of notes about commands in the background. */
export const commandsTitle = 'Commands';

/** A command that acts immediately, also while a turn runs. No model is called. */
function atOnce(said: FactOf<'said'>, { facts, wants }: Decided): Decided {
  return { facts: [said, ...facts], wants };
}

function begun(
  said: FactOf<'said'>,
  spoken: Extract<Want, { readonly type: 'turn' }>['spoken'],
  by: Speaker,
  turn: string,
): Decided {
  return {
    facts: [said, { type: 'turn-began', turn }],
    wants: [{ type: 'turn', turn, spoken, by }],
  };
}

/**
 * A plan that failed after all repairs that its limit or its goal allows. The next message decides how it continues.
 */
function isStoppedRepair(asked: Interaction): asked is PlanQuestion {
  return (
    asked.kind === 'post_plan_choice' &&
    (asked.metadata.repair !== undefined || asked.metadata.stopped !== undefined)
  );
}

type PlanQuestion = Extract<Interaction, { readonly kind: 'post_plan_choice' }>;

/** `/plan continue [n]` executes what is shown, with another limit; any other words are guidance for a better plan. */
function goOn(
  state: SessionState,
  asked: PlanQuestion,
  spoken: TurnWords | Extract<Spoken, { readonly kind: 'plan-continue' }>,
  said: FactOf<'said'>,
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
      message: '`/plan continue` takes no number while a goal is active: the budget of the goal is its limit',
    });
  // The message itself is in the transcript already.
  const others = facts.filter((fact) => fact.type !== 'noted' || fact.title !== answerTitle);
  return {
    facts: [said, ...others],
    wants: wants.map((want) =>
      want.type === 'answer' && limit !== undefined ? { ...want, repairLimit: limit } : want,
    ),
  };
}

/** Another agent answers an automation's question in its own turn. */
export function dispatch(
  state: SessionState,
  { agent, prompt }: Pick<CommandOf<'dispatch'>, 'agent' | 'prompt'>,
  by: Speaker,
  { newId }: Moment,
): Decided {
  if (by.kind !== 'automation') throw new WritError('AUTOMATION_CONTROLLER_REQUIRED');
  requireIdle(state);
  boundRequest(prompt, messageBounds);
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

/** A turn for questions only. */
export function visit(state: SessionState, { newId }: Moment): Decided {
  requireIdle(state);
  const turn = newId();
  return { facts: [{ type: 'turn-began', turn }], wants: [], turn };
}

/** Explains that the session waits for a message. */
const awaited = 'say what shall be different: your next message is the note';

/** An answer to an interaction; what is refused leaves it pending. */
export function respond(
  state: SessionState,
  { id, given }: Pick<CommandOf<'respond'>, 'id' | 'given'>,
  by: Speaker,
  { workspace, newId }: Moment,
): Decided {
  const asked = state.interactions.find((one) => one.id === id);
  if (asked === undefined) throw new WritError('NOT_FOUND', { message: 'no such interaction' });
  if (asked.status !== 'pending')
    throw new WritError('INTERACTION_NOT_ACTIVE', { detail: { id, status: asked.status } });
  const answer = validateAnswer(asked, given);
  if (answer.option === 'execute' && state.settings.context !== 'dev')
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `a session for ${state.settings.context} only reads, so it executes no plan`,
      hints: ['cancel the plan, or resume the thread with `--context dev`'],
    });
  const plan = asked.kind === 'post_plan_choice' ? asked.metadata : {};
  if (answer.option === 'execute' && plan.workspace !== workspace)
    throw new WritError('WORKSPACE_CHANGED', { detail: { id } });
  validateHeldAnswer(state, asked, answer);
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
      // The turn ends in the same step, so that a client that sees `idle` can send at once.
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
      {
        type: 'answer',
        subject: asked.subject,
        option: answer.option,
        given,
        by,
        ...compact({ networkAccess: plan.networkAccess }),
      },
    ],
  };
}

/** REQUEST_INVALID for a note that no draft would be made of: the question waits on. */
function requireNote({ kind }: Interaction, note: string): void {
  if (kind === 'intent_review_choice') boundRequest(note, messageBounds);
}

/** What an answer changes of a question that stays pending; `undefined` for one that settles it. */
function amendment(
  { settings: { context } }: SessionState,
  asked: Interaction,
  { option }: InteractionAnswer,
): Interaction['metadata'] | undefined {
  if (asked.kind === 'post_plan_choice' && option === 'network') {
    if (context !== 'dev')
      throw new WritError('INVALID_INTERACTION_RESPONSE', {
        message: 'this context only reads, so it has no network',
      });
    const { metadata } = asked;
    return { ...metadata, networkAccess: metadata.networkAccess === 'allow' ? 'deny' : 'allow' };
  }
  if (isApproval(asked) && option === 'allow_all_commands' && asked.metadata.needsConfirmation !== option)
    return { ...asked.metadata, needsConfirmation: option };
  return undefined;
}

function withoutSecrets(asked: Interaction, answer: InteractionAnswer): InteractionAnswer {
  const secret = secretQuestions(asked);
  if (answer.answers === undefined || secret.size === 0) return answer;
  const open = Object.entries(answer.answers).filter(([id]) => !secret.has(id));
  return { ...answer, answers: Object.fromEntries(open) };
}

function withdrawn(asked: readonly Interaction[], why: FactOf<'withdrawn'>['why']): readonly Fact[] {
  return asked.map(({ id }) => ({ type: 'withdrawn', id, why }));
}

/** Title of the transcript entry with a person's answer. */
const answerTitle = 'Answer';

/** Characters of a question, and of one answer. */
const most = { asked: 200, given: 4000 } as const;

/**
 * The answer as a transcript entry: notes, and each question of a model with its answer. Secret answers are not
 * shown. `undefined` if the option is the whole answer.
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
function decideCut(state: SessionState, how: 'clear' | 'compact', { newId }: Pick<Moment, 'newId'>): Decided {
  requireIdle(state);
  const [before, after] = [state.dialogue, cutDialogue(state.dialogue, how)].map(charactersOf);
  const untold = state.ran.flatMap(({ id, isTold }) => (isTold ? [] : [id]));
  const text =
    how === 'clear'
      ? 'the conversation starts again: no model gets what was said before; spec, plans and decisions stay'
      : [
          `a model is sent ${after} characters of the conversation, before it were ${before}; older results can be asked for again`,
          ...compacted(state.dialogue),
        ].join('\n');
  return {
    facts: [
      { type: 'talk-cut', how },
      ...(how === 'clear' && untold.length > 0 ? ([{ type: 'runs-told', ids: untold }] as const) : []),
      { type: 'noted', id: newId(), title: 'Conversation', text },
    ],
    wants: [],
  };
}

/** What a cut drops of the conversation, and what it keeps: each turn by its first words. */
function compacted(dialogue: readonly ModelMessage[]): readonly string[] {
  const turnsOf = (messages: readonly ModelMessage[]): readonly string[] =>
    messages.flatMap((one) => (one.role === 'user' ? [turnInQuotes(one.text)] : []));
  const [all, kept] = [turnsOf(dialogue), turnsOf(cutDialogue(dialogue, 'compact'))];
  const dropped = all.slice(0, all.length - kept.length);
  const line = (what: string, turns: readonly string[]): readonly string[] =>
    turns.length === 0 ? [] : [`${what}: ${turns.join(', ')}`];
  return [...line('dropped', dropped.slice(-mostNamed)), ...line('kept', kept)];
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
 * Applies an answer to a goal's draft or plan. Execute grants one budget from this point, Cancel leaves the goal
 * blocked. A program gets only the first budget and continues with its rest. PERSON_REQUIRED if no budget is left.
 * Pure.
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
        message: `the goal's budget is used up (${used}), and only a person can grant another one`,
        detail: { goal: goal.id, reason: used },
      });
    const limit = isGranted ? { limit: grantedLimit(goal.budget) } : {};
    return [moved(goal.id, { status: 'active', ...limit })];
  }
  return option === 'cancel' ? [moved(goal.id, { status: 'blocked', blockReason: 'declined' })] : [];
}

function moved(goal: string, change: FactOf<'goal-moved'>['change']): Fact {
  return { type: 'goal-moved', goal, change };
}

/** A context that only reads runs proven reads only. */
function requireMayRun({ settings: { context } }: SessionState, command: string): void {
  if (context === 'dev') return;
  const { class: judged, why } = classifyCommand(command);
  if (judged === 'safe') return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: `a session for ${context} only reads: ${why}`,
    hints: ['switch to `/context dev` first'],
  });
}
