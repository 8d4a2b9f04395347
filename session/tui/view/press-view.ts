/* What a key does to the view: it goes to the question, a secret or the composer. */
import { type Asked, nextAsked } from '../../screen/asked.ts';
import { span } from '../../screen/line.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { type Pressed, pressCard, writeCard } from '../card.ts';
import { load, noFolds } from '../composer/buffer.ts';
import type { OfferedCommand } from '../composer/completion.ts';
import { press } from '../composer/compose.ts';
import type { ComposerEffect } from '../composer/composer.ts';
import type { Key } from '../term/painter.ts';
import { mustWait, type Stepped, startWriting, toEffect, type View, withoutWriting } from './view.ts';

/** Where and when a key is pressed. */
interface PressContext {
  readonly nowMs: number;
  readonly columns: number;
  readonly rows: number;
  readonly commands: readonly OfferedCommand[];
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
  const { composer, effects } = press(view.composer, key, { ...context, busy: mustWait(snapshot) });
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
