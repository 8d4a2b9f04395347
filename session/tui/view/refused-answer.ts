import { span } from '../../screen/line.ts';
import { giveBack } from '../composer/compose.ts';
import { startWriting } from './see-snapshot.ts';
import type { Effect, View } from './view.ts';

/** An answer that the session refused, and why: its question stands as it did, and what was written for it, too. */
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
