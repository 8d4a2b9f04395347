/* The state of the screen beside the snapshot, and how a newer snapshot changes it. */
import { type GivenAnswer, nextAsked } from '../../screen/asked.ts';
import { type Line, span } from '../../screen/line.ts';
import { type StatusFacts, type TurnTime, turnTime } from '../../screen/status-line.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { askInner, type Card, openCard } from '../card.ts';
import { whole } from '../composer/buffer.ts';
import { giveBack } from '../composer/compose.ts';
import { type Composer, type ComposerEffect, emptyComposer, turnEnded } from '../composer/composer.ts';
import { openSecretLine, type SecretLine } from '../composer/edit-keys.ts';
import { withTyped } from '../composer/history.ts';
import { type LocalCommand, readLocal } from '../local-commands.ts';

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

export interface Stepped {
  readonly view: View;
  readonly effects: readonly Effect[];
}

/** Whether messages must wait. A plan with failed repairs accepts some. */
export function mustWait({ status, interactions }: Pick<Snapshot, 'status' | 'interactions'>): boolean {
  if (status !== 'awaiting_interaction') return status === 'thinking' || status === 'executing_tool';
  return !interactions.some(
    (one) => one.status === 'pending' && one.kind === 'post_plan_choice' && one.metadata.repair !== undefined,
  );
}

export function toEffect(effect: ComposerEffect): readonly Effect[] {
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
export function startWriting(view: View): View {
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
