/* The state of the screen beside the snapshot, and how a newer snapshot or a key changes it. */
import { type Asked, type GivenAnswer, nextAsked } from '../../screen/asked.ts';
import { type Line, span } from '../../screen/line.ts';
import { isAnswered, type StatusFacts, type TurnTime, turnTime } from '../../screen/status-line.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { askInner, type Card, openCard, type Pressed, pressCard, writeCard } from '../card.ts';
import { load, noFolds, whole } from '../composer/buffer.ts';
import type { OfferedCommand } from '../composer/completion.ts';
import { giveBack, press } from '../composer/compose.ts';
import { type Composer, type ComposerEffect, emptyComposer, turnEnded } from '../composer/composer.ts';
import { openSecretLine, type SecretLine } from '../composer/edit-keys.ts';
import { withTyped } from '../composer/history.ts';
import type { OwnKeys } from '../composer/own-keys.ts';
import { type LocalCommand, readLocal } from '../local-commands.ts';
import type { Key } from '../term/painter.ts';

/** What a screen knows beside the snapshot. */
export interface View {
  readonly composer: Composer;
  /** The composer's state while a note or an answer is written. */
  readonly aside: Composer | undefined;
  readonly secret: SecretLine | undefined;
  readonly card: Card | undefined;
  readonly facts: StatusFacts;
  readonly time: TurnTime | undefined;
  /** The question with a turn that the previous key would have ended. The same key again ends it. */
  readonly leaving: string | undefined;
  /** Shown above the composer until the next key. */
  readonly notice: Line | undefined;
}

export function openView(composer: Composer): View {
  return {
    composer,
    aside: undefined,
    secret: undefined,
    card: undefined,
    facts: {},
    time: undefined,
    leaving: undefined,
    notice: undefined,
  };
}

export type Effect =
  | { readonly type: 'submit'; readonly text: string }
  | {
      readonly type: 'respond';
      readonly id: string;
      readonly given: GivenAnswer;
      /** Restored if the answer is refused. Never set for a secret. */
      readonly before?: { readonly card: Card; readonly text: string };
    }
  | { readonly type: 'cancel' | 'suspend' | 'redraw' | 'quit' }
  | { readonly type: 'local'; readonly command: LocalCommand; readonly text?: string }
  | { readonly type: 'edit'; readonly text: string }
  | { readonly type: 'complete'; readonly prefix: string; readonly id: number };

interface Stepped {
  readonly view: View;
  readonly effects: readonly Effect[];
}

/** Whether messages must wait. A plan with failed repairs accepts some. */
function mustWait({ status, interactions }: Pick<Snapshot, 'status' | 'interactions'>): boolean {
  if (status !== 'awaiting_interaction') return status === 'thinking' || status === 'executing_tool';
  return !interactions.some(
    (one) => one.status === 'pending' && one.kind === 'post_plan_choice' && one.metadata.repair !== undefined,
  );
}

function toEffect(effect: ComposerEffect): readonly Effect[] {
  switch (effect.type) {
    case 'submit': {
      const command = readLocal(effect.text);
      const { text } = effect;
      return [command === undefined ? { type: 'submit', text } : { type: 'local', command, text }];
    }
    case 'edit-outside':
      return [{ type: 'edit', text: effect.text }];
    case 'complete-path':
      return [{ type: 'complete', prefix: effect.prefix, id: effect.id }];
    case 'interrupt':
      return [{ type: 'cancel' }];
    case 'help':
      return [{ type: 'local', command: { type: 'keys' } }];
    case 'take-back':
      return [{ type: 'local', command: { type: 'reclaim' } }];
    case 'quit':
    case 'suspend':
    case 'redraw':
      return [{ type: effect.type }];
    case 'go-back':
    case 'cycle-context':
      return [];
  }
}

export function seeSnapshot(before: View, snapshot: Snapshot, nowMs: number): Stepped {
  const carded = withCard(before, snapshot, nowMs);
  const view: View = {
    ...carded,
    time: turnTime(carded.time, snapshot, nowMs),
  };
  const isFree = !mustWait(snapshot) && view.card === undefined && snapshot.controller.canWrite;
  if (!isFree || before.time === undefined) return { view, effects: [] };
  const { composer, effects } = turnEnded(view.composer);
  return { view: { ...view, composer }, effects: effects.flatMap(toEffect) };
}

function withCard(view: View, snapshot: Snapshot, nowMs: number): View {
  const asked = nextAsked(snapshot);
  if (asked?.id === view.card?.id) return view;
  // A half-written answer belongs to a question that is over: the earlier text returns.
  const notice = halfWritten(view) === '' ? view.notice : [span(leftWords, 'warn')];
  const restored = { ...withoutWriting(view), notice };
  if (asked === undefined) return { ...restored, card: undefined };
  const isWriting = restored.composer.buffer.text !== '';
  return startWriting({ ...restored, card: askInner(openCard(asked, nowMs, isWriting), asked) });
}

/** Gives the composer to the card, and keeps the earlier text. */
function startWriting(view: View): View {
  const { card, composer } = view;
  if (card?.writing === undefined || card.focus === 'away') return view;
  if (view.aside !== undefined || view.secret !== undefined) return view;
  if (card.writing.for === 'answer' && card.writing.isSecret) return { ...view, secret: openSecretLine() };
  return { ...view, aside: composer, composer: besides(composer) };
}

/** A composer for text that is not a message: without history and queue. */
function besides({ asked }: Composer): Composer {
  return { ...emptyComposer, asked };
}

const leftWords = 'what you were writing was for a question that is over; Up brings it back';

export function halfWritten({ aside, composer }: Pick<View, 'aside' | 'composer'>): string {
  return aside === undefined ? '' : whole(composer.buffer);
}

/** Restores the earlier text; what was written for the card is in history. */
export function withoutWriting(view: View): View {
  const { aside, composer } = view;
  if (aside === undefined) return { ...view, secret: undefined };
  const typed = [...composer.history.entries.map(({ written }) => written), composer.buffer];
  const history = withTyped(aside.history, typed);
  return {
    ...view,
    composer: { ...aside, history, asked: composer.asked },
    aside: undefined,
    secret: undefined,
  };
}

export function refusedAnswer(
  view: View,
  { id, before }: Extract<Effect, { readonly type: 'respond' }>,
  why: string,
): View {
  if (before === undefined) return { ...view, notice: [span(why, 'bad')] };
  const { card, text } = before;
  const isAsked = view.card?.id === id && view.card.writing === undefined && view.aside === undefined;
  const next = isAsked ? startWriting({ ...view, card: { ...card, focus: view.card.focus } }) : view;
  return { ...next, composer: giveBack(next.composer, text, why) };
}

/** Where and when a key is pressed. */
interface PressContext {
  readonly nowMs: number;
  readonly columns: number;
  readonly rows: number;
  readonly commands: readonly OfferedCommand[];
  readonly own?: OwnKeys;
}

export function pressView(before: View, snapshot: Snapshot, key: Key, context: PressContext): Stepped {
  const view: View = { ...before, notice: undefined, leaving: undefined };
  const pressed = pressFresh(view, snapshot, key, context);
  const asked = nextAsked(snapshot);
  const name = asked && workOf(asked);
  if (name === undefined || !pressed.effects.some(({ type }) => type === 'cancel')) return pressed;
  // Ctrl+C goes on to quit, and leaves what waits.
  if (before.leaving === asked?.id && pressed.view.composer.armed !== 'quit') return pressed;
  return only({
    ...heldBack(view, pressed.view.composer, name),
    leaving: asked?.id,
  });
}

/** What ends with the turn and is stored nowhere else. */
function workOf({ kind }: Asked): string | undefined {
  if (kind === 'post_plan_choice') return 'plan';
  return kind === 'intent_review_choice' ? 'draft' : undefined;
}

/** The first of two keys only warns. */
function heldBack(view: View, { armed }: View['composer'], name: string): View {
  const words =
    armed === 'quit'
      ? `Ctrl+C again quits: the ${name} waits for \`--resume\``
      : `Esc again ends the turn, and the ${name} is gone`;
  return { ...view, composer: { ...view.composer, armed }, notice: [span(words, 'warn')] };
}

function pressFresh(view: View, snapshot: Snapshot, key: Key, context: PressContext): Stepped {
  const { card } = view;
  const asked = nextAsked(snapshot);
  if (card === undefined || asked === undefined || asked.id !== card.id)
    return pressComposer(view, snapshot, key, context);
  if (card.focus === 'away') {
    if (!isTab(key)) return pressComposer(view, snapshot, key, context);
    return only(startWriting({ ...view, card: { ...card, focus: 'options' } }));
  }
  if (view.secret !== undefined) return pressSecretAnswer(view, asked, key);
  if (card.writing !== undefined) return pressWriting(view, snapshot, asked, key, context);
  const pressed = pressCard(card, asked, key, context.nowMs);
  if (pressed.isElse === true) return typedOn(view, pressComposer(view, snapshot, key, context));
  if (pressed.shows === true) return { view, effects: [{ type: 'local', command: { type: 'contract' } }] };
  return settled(view, asked, pressed);
}

/** Whether a letter goes to the card and not to the composer. Pure. */
export function hearsLetters({ card, secret }: View, snapshot: Snapshot): boolean {
  if (card === undefined || secret !== undefined || card.writing !== undefined) return false;
  return card.focus !== 'away' && nextAsked(snapshot)?.id === card.id;
}

/** Moves the focus away from the card once a person types, so that the next letter or Enter does not answer it. */
function typedOn({ card, composer }: View, { view, effects }: Stepped): Stepped {
  const { text } = view.composer.buffer;
  if (card === undefined || text === '' || text === composer.buffer.text) return { view, effects };
  return { view: { ...view, card: { ...card, focus: 'away' } }, effects };
}

function only(view: View): Stepped {
  return { view, effects: [] };
}

function isTab(key: Key): boolean {
  return key.type === 'key' && key.name === 'tab' && !key.ctrl && !key.alt && !key.shift;
}

/** Sends the answer, or opens the composer for the words that the card wants. `text`: what was written. */
function settled(view: View, { id }: Asked, { card, given }: Pressed, text?: string): Stepped {
  const isWriting = card.writing !== undefined;
  const next = isWriting ? startWriting({ ...view, card }) : { ...withoutWriting(view), card };
  const before = view.card === undefined || text === undefined ? {} : { before: { card: view.card, text } };
  return { view: next, effects: given === undefined ? [] : [{ type: 'respond', id, given, ...before }] };
}

/** Words for the card: Enter gives them, Escape goes back to what can be chosen. */
function pressWriting(
  view: View,
  snapshot: Snapshot,
  asked: Asked,
  key: Key,
  context: PressContext,
): Stepped {
  const { card } = view;
  if (card === undefined) return only(view);
  const outcome = press(view.composer, key, { ...context, busy: false });
  const after: View = { ...view, composer: outcome.composer };
  const said = outcome.effects.find((effect) => effect.type === 'submit');
  if (said?.type === 'submit')
    return settled(withoutWriting(view), asked, writeCard(card, asked, said.text), said.text);
  if (isEscape(key) && view.composer.buffer.text === '' && card.writing?.for !== 'answer')
    return only({ ...withoutWriting(view), card: { ...card, writing: undefined } });
  return acted(after, snapshot, outcome.effects);
}

function pressSecretAnswer(view: View, asked: Asked, key: Key): Stepped {
  const { card, secret } = view;
  if (card === undefined || secret === undefined) return only(view);
  const { line, effects } = secret.press(key);
  const [effect] = effects;
  if (effect === undefined) return only({ ...view, secret: line });
  if (effect.type === 'answer')
    return settled({ ...view, secret: undefined }, asked, writeCard(card, asked, effect.text));
  return only({ ...view, secret: undefined, card: { ...card, focus: 'away' } });
}

function isEscape(key: Key): boolean {
  return key.type === 'key' && key.name === 'escape';
}

function pressComposer(view: View, snapshot: Snapshot, key: Key, context: PressContext): Stepped {
  const { composer, effects } = press(view.composer, key, {
    ...context,
    busy: mustWait(snapshot),
    answered: isAnswered(snapshot),
  });
  return acted({ ...view, composer }, snapshot, effects);
}

function acted(view: View, snapshot: Snapshot, asked: readonly ComposerEffect[]): Stepped {
  const goesBack = asked.some(({ type }) => type === 'go-back');
  return {
    view: goesBack ? backToLast(view, snapshot) : view,
    effects: asked.flatMap((effect) =>
      effect.type === 'cycle-context'
        ? [{ type: 'submit' as const, text: `/context ${nextContext(snapshot)}` }]
        : toEffect(effect),
    ),
  };
}

function backToLast(view: View, { transcript }: Snapshot): View {
  const last = transcript.findLast(({ kind }) => kind === 'user_message')?.content;
  if (last === undefined) return { ...view, notice: [span('nothing was said yet', 'dim')] };
  const { composer } = view;
  return {
    ...view,
    composer: { ...composer, buffer: load(composer.buffer, { text: last, folds: noFolds }) },
  };
}

const contexts = ['dev', 'review', 'research'];

function nextContext({ settings }: Snapshot): string {
  return contexts[(contexts.indexOf(settings.context) + 1) % contexts.length] ?? 'dev';
}
