import { span } from '../../screen/line.ts';
import { nextAsked } from '../../screen/question/asked.ts';
import { turnTime } from '../../screen/words/turn-time.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { openCard } from '../card/card.ts';
import { askInner } from '../card/press-card.ts';
import { type Composer, emptyComposer } from '../composer/composer.ts';
import { whole } from '../composer/folds.ts';
import { withTyped } from '../composer/history.ts';
import { openSecretLine } from '../composer/secret.ts';
import { turnEnded } from '../composer/send.ts';
import { toEffect } from './to-effect.ts';
import { mustWait, type Stepped, type View } from './view.ts';

/** What a newer snapshot makes of a view: the question that is to be answered, what waited for the turn's end. */
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
  // An answer that was half written is for a question that is over: what was typed before it comes back.
  const notice = halfWritten(view) === '' ? view.notice : [span(leftWords, 'warn')];
  const restored = { ...withoutWriting(view), notice };
  if (asked === undefined) return { ...restored, card: undefined };
  const isWriting = restored.composer.buffer.text !== '';
  return startWriting({ ...restored, card: askInner(openCard(asked, nowMs, isWriting), asked) });
}

/** Where the card wants words, the composer is for them from here on; what was typed is kept for later. */
export function startWriting(view: View): View {
  const { card, composer } = view;
  if (card?.writing === undefined || card.focus === 'away') return view;
  if (view.aside !== undefined || view.secret !== undefined) return view;
  if (card.writing.for === 'answer' && card.writing.isSecret) return { ...view, secret: openSecretLine() };
  return { ...view, aside: composer, composer: besides(composer) };
}

/** For words that are no message: without history, and nothing waits behind them. */
function besides({ asked }: Composer): Composer {
  return { ...emptyComposer, asked };
}

const leftWords = 'what you were writing was for a question that is over; Up brings it back';

/** What is written for a card and not given yet. */
export function halfWritten({ aside, composer }: Pick<View, 'aside' | 'composer'>): string {
  return aside === undefined ? '' : whole(composer.buffer);
}

/** Back to what was being typed before; what was written for the card, or cleared there, is in the history. */
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
