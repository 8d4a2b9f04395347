/* The screen as appended lines, for screen readers. */
import { nextAsked } from '../../screen/asked.ts';
import { type Line, span, textOf, visible } from '../../screen/line.ts';
import { type StatusItem, statusItems } from '../../screen/status-line.ts';
import { widthOf } from '../../screen/wrap.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { drawCard } from '../card.ts';
import { borderAtOrBefore } from '../composer/buffer.ts';
import type { Composer } from '../composer/composer.ts';
import { drawnBetween } from '../composer/draw-composer.ts';
import type { View } from './view.ts';

interface Shown {
  readonly state: string;
  readonly facts: string;
  readonly card: readonly string[];
  readonly cardOf: string;
  readonly notices: readonly string[];
  readonly queued: number;
  readonly running: ReadonlySet<string>;
  readonly chosen: string;
}

export const nothingShown: Shown = {
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
 * Reports each change as a line. Values that change all the time (tokens, cost, seconds) are shown by `/status`. Pure.
 */
export function plainChanges(
  before: Shown,
  view: View,
  snapshot: Snapshot,
  columns: number,
): { readonly now: Shown; readonly lines: readonly Line[] } {
  const { usage: _, ...rest } = snapshot;
  const { seconds: __, ...facts } = view.facts;
  const [state, ...items] = statusItems(rest, facts);
  const card = cardLines(view, snapshot, columns);
  const running = runningLines(snapshot);
  const now: Shown = {
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
    now,
    lines: [
      ...[...running].flatMap(([id, line]) => (before.running.has(id) ? [] : [line])),
      ...(now.facts === before.facts ? [] : [factLine(items)]),
      ...newCardLines(before, now, card),
      ...waitingLines(before, view),
      ...(now.chosen === '' || now.chosen === before.chosen ? [] : [[span(`choice: ${now.chosen}`)]]),
      ...now.notices.flatMap((text, at) =>
        text === '' || text === before.notices[at] ? [] : [[span(visible(text))]],
      ),
      ...(now.state === before.state ? [] : [[span(`status: ${now.state}`)]]),
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

function newCardLines(before: Shown, now: Shown, card: readonly Line[]): readonly Line[] {
  if (now.cardOf !== before.cardOf) return card;
  const known = new Set(before.card);
  const changed = card.filter((line) => !known.has(textOf(line)));
  const chosen = changed.filter((line) => line.some(({ tone }) => tone === 'selected'));
  return chosen.length > 0 ? chosen : changed;
}

function waitingLines({ queued }: Shown, { composer: { queue } }: View): readonly Line[] {
  const last = queue.at(-1);
  return last === undefined || queue.length <= queued ? [] : [[span(`waits: ${visible(last)}`)]];
}

function chosenOf({ composer: { completion, search, history } }: View): string {
  if (search !== undefined) {
    const found = search.found === undefined ? undefined : history.entries[search.found]?.text;
    return search.hasFailed ? 'nothing older' : visible(found ?? '');
  }
  const choice = completion?.choices[completion.chosen];
  // The first choice is not shown: it changes with every letter.
  if (completion === undefined || choice === undefined || completion.chosen === 0) return '';
  return visible(`${choice.name}  ${choice.detail}`.trim());
}

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

interface TypedLine {
  readonly line: Line;
  readonly column: number;
}

/** Units of a line that are looked at on each side of the cursor. */
const mostUnits = 1024;

/** The typed line as one row of at most `columns - 1` cells. */
export function typedLine({ composer, secret }: View, columns: number): TypedLine {
  if (secret !== undefined) {
    const marks = textOf(secret.draw());
    const line = [span(`> ${/^•+$/.test(marks) ? marks : ''}`)];
    return { line, column: widthOf(line) };
  }
  if (composer.search !== undefined) {
    const line = [span(`search: ${visible(composer.search.words)}`)];
    return { line, column: widthOf(line) };
  }
  return ofText(composer, Math.max(4, columns - 1));
}

function ofText({ buffer }: Composer, columns: number): TypedLine {
  const { text, cursor } = buffer;
  const lineFrom = cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
  const end = text.indexOf('\n', cursor);
  const lineTo = end < 0 ? text.length : end;
  const [from, to] = [cursor - mostUnits, cursor + mostUnits].map((at) =>
    borderAtOrBefore(text, Math.max(lineFrom, Math.min(lineTo, at))),
  );
  const row = text.slice(0, lineFrom).split('\n').length;
  const prompt = row === 1 ? '> ' : `${row}> `;
  const room = Math.max(2, columns - prompt.length);
  const drawn = drawnBetween(buffer, from ?? lineFrom, to ?? lineTo, room);
  let [before, width] = [0, 0];
  for (const one of drawn) {
    if (one.to <= cursor) before += one.cells;
    width += one.cells;
  }
  // A long line goes on by half a row, so that not every letter moves it.
  const half = Math.floor(room / 2);
  const start = width < room ? 0 : Math.max(0, Math.floor(before / half) - 1) * half;
  let [used, skipped, seen] = [0, 0, ''];
  for (const { text: sign, cells } of drawn) {
    if (skipped < start) skipped += cells;
    else if (used + cells <= room) {
      used += cells;
      seen += sign;
    } else break;
  }
  return { line: [span(prompt + seen)], column: prompt.length + before - skipped };
}
