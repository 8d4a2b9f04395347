import { type Line, span } from '../../screen/line.ts';
import { type Asked, innerQuestions } from '../../screen/question/asked.ts';
import { type Choice, choicesOf } from '../../screen/question/choices.ts';
import { visible } from '../../screen/visible.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { Card } from './card.ts';
import { planLines } from './press-card.ts';

/** What of a card stands in the live region: what is asked, the answers, how to give one. At most `rows` lines. */
export function drawCard(
  card: Card,
  asked: Asked,
  { plans }: Pick<Snapshot, 'plans'>,
  rows: number,
): readonly Line[] {
  const inner = innerQuestions(asked)[card.question];
  const isChosen = card.focus === 'options' && card.writing === undefined;
  const lines =
    card.focus === 'lines'
      ? drawLines(card, asked, plans)
      : choicesOf(asked, inner).map((choice, at) => drawChoice(choice, at, isChosen && at === card.at));
  const prompt = inner?.prompt ?? asked.prompt ?? '';
  const most = Math.max(1, rows - 2);
  return [
    [span('? ', 'accent'), span(visible(prompt === '' ? (asked.title ?? '') : prompt), 'strong')],
    ...around(lines, card.at, most),
    [span(hintOf(card, asked), 'dim')],
  ];
}

function drawChoice({ label, letter, about }: Choice, at: number, isSelected: boolean): Line {
  return [
    span(isSelected ? '› ' : '  ', 'accent'),
    span(`${at + 1}${letter === undefined ? '' : ` ${letter}`}  `, 'dim'),
    span(visible(label), isSelected ? 'selected' : 'plain'),
    ...(about === '' ? [] : [span(`  ${visible(about)}`, 'dim')]),
  ];
}

function drawLines({ at, notes }: Card, asked: Asked, plans: Snapshot['plans']): readonly Line[] {
  const plan = plans.find(({ id }) => id === asked.metadata.planId);
  return planLines(asked).map((id, index): Line => {
    const words = plan?.steps.find((step) => step.id === id)?.step ?? id;
    const note = notes[id];
    return [
      span(index === at ? '› ' : '  ', 'accent'),
      span(`${index + 1}. ${visible(words)}`, index === at ? 'selected' : 'plain'),
      ...(note === undefined ? [] : [span(`  ✎ ${visible(note)}`, 'warn')]),
    ];
  });
}

/** So many lines around the one that is chosen. */
function around(lines: readonly Line[], at: number, most: number): readonly Line[] {
  if (lines.length <= most) return lines;
  const from = Math.max(0, Math.min(lines.length - most, at - Math.floor(most / 2)));
  return lines.slice(from, from + most);
}

function hintOf({ focus, writing, notes }: Card, asked: Asked): string {
  if (writing?.for === 'answer') return 'type the answer, Enter gives it';
  if (writing !== undefined) return 'type the note, Enter takes it, Esc goes back';
  if (focus === 'away') return 'Tab answers';
  if (focus === 'lines') return 'Enter writes a note on the line, Delete takes it off, Esc goes back';
  const count = Object.keys(notes).length;
  const told = count === 0 ? '' : ` · ${count} ${count === 1 ? 'note goes' : 'notes go'} along`;
  return `number or letter chooses${planLines(asked).length > 0 ? ' · l: notes on lines' : ''} · Tab: type first${told}`;
}
