import { type Line, span, textOf } from '../../screen/line.ts';
import { nextAsked } from '../../screen/question/asked.ts';
import { type StatusItem, statusItems } from '../../screen/status-line.ts';
import { visible } from '../../screen/visible.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { drawCard } from '../card/draw-card.ts';
import type { View } from '../view/view.ts';

/** What was said last of all that changes. */
export interface Told {
  readonly state: string;
  readonly facts: string;
  readonly card: readonly string[];
  readonly cardOf: string;
  readonly notices: readonly string[];
  readonly queued: number;
  readonly running: ReadonlySet<string>;
  readonly chosen: string;
}

export const nothingTold: Told = {
  state: '',
  facts: '',
  card: [],
  cardOf: '',
  notices: [],
  queued: 0,
  running: new Set(),
  chosen: '',
};

/** More answers than that no question has. */
const mostRows = 200;

/**
 * What a region would show and who reads lines has to be told: each change once, in a line of its own. What changes all
 * the time (tokens, cost, seconds) is told by `/status`. Pure.
 */
export function tellPlain(
  before: Told,
  view: View,
  snapshot: Snapshot,
  columns: number,
): { readonly told: Told; readonly lines: readonly Line[] } {
  const { usage: _, ...rest } = snapshot;
  const { seconds: __, ...facts } = view.facts;
  const [state, ...items] = statusItems(rest, facts);
  const card = cardLines(view, snapshot, columns);
  const running = runningLines(snapshot);
  const told: Told = {
    state: state?.text ?? '',
    facts: items.map(({ text }) => text).join(' · '),
    card: card.map(textOf),
    cardOf: cardOf(view),
    notices: [view.notice === undefined ? '' : textOf(view.notice), view.composer.notice ?? ''],
    queued: view.composer.queue.length,
    running: new Set(running.keys()),
    chosen: chosenOf(view),
  };
  return {
    told,
    lines: [
      ...[...running].flatMap(([id, line]) => (before.running.has(id) ? [] : [line])),
      ...(told.facts === before.facts ? [] : [factLine(items)]),
      ...newCardLines(before, told, card),
      ...waitingLines(before, view),
      ...(told.chosen === '' || told.chosen === before.chosen ? [] : [[span(`choice: ${told.chosen}`)]]),
      ...told.notices.flatMap((text, at) =>
        text === '' || text === before.notices[at] ? [] : [[span(visible(text))]],
      ),
      ...(told.state === before.state ? [] : [[span(`status: ${told.state}`)]]),
    ],
  };
}

function factLine(items: readonly StatusItem[]): Line {
  return items.flatMap(({ text, tone }, at) => [...(at === 0 ? [] : [span(' · ')]), span(text, tone)]);
}

function cardOf({ card }: View): string {
  if (card === undefined) return '';
  return JSON.stringify([card.id, card.question, card.focus, card.writing?.for]);
}

function cardLines({ card }: View, snapshot: Snapshot, columns: number): readonly Line[] {
  const asked = nextAsked(snapshot);
  if (card === undefined || asked === undefined || asked.id !== card.id) return [];
  return drawCard(card, asked, snapshot, { rows: mostRows, columns });
}

/** A question whole, where it is another one; of the same, what is chosen now or says something else. */
function newCardLines(before: Told, told: Told, card: readonly Line[]): readonly Line[] {
  if (told.cardOf !== before.cardOf) return card;
  const known = new Set(before.card);
  const changed = card.filter((line) => !known.has(textOf(line)));
  const chosen = changed.filter((line) => line.some(({ tone }) => tone === 'selected'));
  return chosen.length > 0 ? chosen : changed;
}

function waitingLines({ queued }: Told, { composer: { queue } }: View): readonly Line[] {
  const last = queue.at(-1);
  return last === undefined || queue.length <= queued ? [] : [[span(`waits: ${visible(last)}`)]];
}

/** Of the list below the text, or of the search, by what it is known. */
function chosenOf({ composer: { completion, search, history } }: View): string {
  if (search !== undefined) {
    const found = search.found === undefined ? undefined : history.entries[search.found]?.text;
    return search.hasFailed ? 'nothing older' : visible(found ?? '');
  }
  const choice = completion?.choices[completion.chosen];
  // What is first is no choice yet: it changes with every letter.
  if (completion === undefined || choice === undefined || completion.chosen === 0) return '';
  return visible(`${choice.name}  ${choice.detail}`.trim());
}

/** Tools and Tasks that run, by their ids. */
function runningLines({ toolCalls, tasks }: Snapshot): ReadonlyMap<string, Line> {
  const isRunning = ({ status }: { readonly status: string }): boolean => status === 'running';
  return new Map([
    ...tasks
      .filter(isRunning)
      .map(({ id, title }) => [`task ${id}`, [span(`task: ${visible(title ?? id)}`)]] as const),
    ...toolCalls
      .filter(isRunning)
      .map(
        ({ id, toolName, summary = '' }) =>
          [`tool ${id}`, [span(`running: ${visible(`${toolName} ${summary}`.trim())}`)]] as const,
      ),
  ]);
}
