/* Draws the live region of the terminal, or the screen as appended lines for screen readers. */
import { countAsked, nextAsked } from '../../screen/asked.ts';
import { type Line, span, textOf, visible, visibleLines } from '../../screen/line.ts';
import {
  isBusy,
  type StatusItem,
  secondsOf,
  statusItems,
  statusLine,
  type TurnTime,
  workedSeconds,
} from '../../screen/status-line.ts';
import { costWords, progressWords, tokenWords, toolWords, toSpan } from '../../screen/words.ts';
import { cellsOf, clipLine, widthOf, wrapLine } from '../../screen/wrap.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { drawCard } from '../card.ts';
import { borderAtOrBefore } from '../composer/buffer.ts';
import type { Composer } from '../composer/composer.ts';
import { drawComposer, drawnBetween } from '../composer/draw-composer.ts';
import { taskSpans } from '../entry-lines.ts';
import type { Cursor, Painter } from '../term/painter.ts';
import type { View } from './view.ts';

type Drawer = (
  view: View,
  snapshot: Snapshot,
  context: DrawContext & { readonly lines: readonly Line[] },
) => void;

/** Draws a region below finished lines; with `isPlain`, lines about changes and the typed line. */
export function openDrawer(painter: Painter, isPlain: boolean): Drawer {
  let before = nothingShown;
  if (!isPlain)
    return (view, snapshot, { lines, ...context }) => {
      painter.commit(lines);
      const drawn = drawView(view, snapshot, context);
      painter.live(drawn.lines, drawn.cursor.row < 0 ? undefined : drawn.cursor);
    };
  return (view, snapshot, { lines, columns }) => {
    const { now, lines: changes } = plainChanges(before, view, snapshot, columns);
    before = now;
    painter.commit([...lines, ...changes]);
    const { line, column } = typedLine(view, columns);
    painter.live([line], { row: 0, column });
  };
}

interface DrawContext {
  readonly columns: number;
  readonly rows: number;
  readonly nowMs: number;
  readonly open: readonly Line[];
}

interface Drawn {
  readonly lines: readonly Line[];
  readonly cursor: Cursor;
}

const most = { tools: 3, tasks: 4, shown: 4, printed: 6 };
const reclaimKey = 'Ctrl+T';
/** Rows of a terminal from which on an empty line separates the live region. */
const leastWithGap = 16;

/**
 * Composes the live region: the open reply, what runs, the question, the text, the status line. It fits the terminal.
 */
function drawView(view: View, snapshot: Snapshot, context: DrawContext): Drawn {
  const { columns, rows, nowMs } = context;
  const room = Math.max(2, rows - 1);
  const facts = {
    ...view.facts,
    ...(view.time === undefined ? {} : { seconds: secondsOf(view.time, nowMs) }),
    takeBack: reclaimKey,
    stop: 'Esc',
  };
  const status = clipLine(statusLine(statusItems(snapshot, facts), columns, cellsOf), columns);
  const writing = drawWriting(view, snapshot, columns, Math.max(1, Math.floor((room - 1) / 2)));
  const gap: readonly Line[] = rows < leastWithGap ? [] : [[]];
  const card = drawQuestion(view, snapshot, {
    columns,
    rows: room - 1 - writing.lines.length - gap.length,
  });
  const notice = view.notice === undefined ? [] : wrapLine(view.notice, { columns }).slice(0, most.shown);
  const used = 1 + writing.lines.length + card.length + notice.length + gap.length;
  const working = drawWorking(snapshot, nowMs).slice(
    0,
    Math.max(0, Math.min(most.tools + most.tasks + most.printed, room - used)),
  );
  const open = context.open.slice(-Math.max(0, Math.min(Math.floor(room / 3), room - used - working.length)));
  const above = [...open, ...gap, ...working, ...card, ...notice].map((line) => clipLine(line, columns));
  // A very small terminal shows the text and the status line first.
  const seen = above.slice(Math.max(0, above.length - Math.max(0, room - 1 - writing.lines.length)));
  const row = writing.cursor.row < 0 ? -1 : seen.length + writing.cursor.row;
  return { lines: [...seen, ...writing.lines, status], cursor: { row, column: writing.cursor.column } };
}

function drawWriting(view: View, snapshot: Snapshot, columns: number, rows: number): Drawn {
  const { card, secret, composer } = view;
  if (secret !== undefined) {
    const marks = secret.draw();
    const end = secret.isEmpty ? 2 : 2 + widthOf(marks);
    return {
      lines: [[span('> ', 'accent'), ...marks]],
      cursor: { row: 0, column: Math.min(columns - 1, end) },
    };
  }
  const chooses = card !== undefined && card.focus !== 'away' && card.writing === undefined;
  if (chooses && composer.buffer.text === '' && composer.queue.length === 0)
    return { lines: [], cursor: { row: -1, column: 0 } };
  const drawn = drawComposer(composer, { columns, rows });
  const isFresh =
    composer.buffer.text === '' && composer.queue.length === 0 && snapshot.transcript.length === 0;
  if (!isFresh || drawn.lines.length !== 1) return drawn;
  const hint = span(
    snapshot.controller.canWrite ? 'say what shall change, or ? for help' : 'you only look',
    'dim',
  );
  return { lines: [clipLine([span('> ', 'accent'), hint], columns)], cursor: drawn.cursor };
}

function drawQuestion(
  { card }: View,
  snapshot: Snapshot,
  { rows, columns }: Pick<DrawContext, 'rows' | 'columns'>,
): readonly Line[] {
  const asked = nextAsked(snapshot);
  if (card === undefined || asked === undefined || asked.id !== card.id) return [];
  const left = countAsked(snapshot) - 1;
  const more: readonly Line[] =
    left > 0 ? [[span(`${left} more ${left === 1 ? 'question waits' : 'questions wait'}`, 'warn')]] : [];
  return [...drawCard(card, asked, snapshot, { columns, rows: Math.max(3, rows - more.length) }), ...more];
}

function drawWorking(snapshot: Snapshot, nowMs: number): readonly Line[] {
  if (!isBusy(snapshot)) return [];
  // A call that waits for its approval does not run.
  const waits = snapshot.status === 'awaiting_interaction';
  const tools = snapshot.toolCalls
    .filter(({ status }) => status === 'running' || status === 'preview')
    .slice(-most.tools)
    .map(({ toolName, task, summary = '', updatedAt, status }): Line => {
      const { verb, what } =
        status === 'preview'
          ? { verb: toolName, what: 'is being written' }
          : toolWords(toolName, summary, status);
      return [
        span('▸ ', 'accent'),
        ...taskSpans(task),
        span(visible(verb), 'code'),
        span(` ${visible(what)}`),
        span(since(updatedAt, nowMs), 'dim'),
      ];
    });
  const tasks = snapshot.tasks
    .filter(({ status }) => status === 'running')
    .slice(-most.tasks)
    .map(
      ({ title, id, details }): Line => [
        span('▸ task ', 'accent'),
        span(visible(title ?? id)),
        span(details === undefined || details === firstAttempt ? '' : ` ${visible(details)}`, 'dim'),
        ...stepOf(snapshot, title),
      ],
    );
  return [...drawGoal(snapshot), ...(waits ? [] : tasks), ...tools, ...printedLines(snapshot)];
}

/** Only a further one is worth a word. */
const firstAttempt = 'attempt 1';

/** The plan line of a task: the one in progress, else the first. */
function stepOf({ plans }: Snapshot, task: string | undefined): Line {
  const steps = plans.findLast(({ status }) => status === 'running')?.steps ?? [];
  const own = steps.filter(({ id }) => id === task || id.startsWith(`${task}.`));
  const at = own.find(({ status }) => status === 'in_progress') ?? own[0];
  return at === undefined ? [] : [span(`  ${visible(at.step)}`, 'dim')];
}

function drawGoal({ goal }: Snapshot): readonly Line[] {
  if (goal?.status !== 'active') return [];
  return [[span('▸ goal ', 'accent'), span(progressWords(goal))]];
}

function printedLines({ toolCalls }: Snapshot): readonly Line[] {
  const output = toolCalls.findLast(({ status }) => status === 'running')?.output;
  if (output === undefined) return [];
  const lines = visibleLines(output.replace(/[\r\n]+$/, ''));
  return lines.slice(-most.printed).map((line): Line => [span(`  ${line}`, 'dim')]);
}

function since(updatedAt: string, nowMs: number): string {
  const seconds = Math.floor((nowMs - Date.parse(updatedAt)) / 1000);
  return seconds > 0 ? ` ${seconds}s` : '';
}

/** The cost of an ended turn. Empty if no model was called. */
export function turnCost(
  before: TurnTime | undefined,
  after: TurnTime | undefined,
  { usage }: Pick<Snapshot, 'usage'>,
  nowMs: number,
): readonly Line[] {
  if (before === undefined || after !== undefined || usage?.turn === undefined) return [];
  const { turn } = usage;
  const words = [
    `worked ${toSpan(1000 * workedSeconds(before, nowMs))}`,
    `${tokenWords(turn.inputTokens + turn.outputTokens)} tokens`,
    costWords(turn),
  ];
  return [[span(`· ${words.join(' · ')}`, 'dim')]];
}

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

const nothingShown: Shown = {
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
function plainChanges(
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
    const line = [span(`> ${/^\u2022+$/.test(marks) ? marks : ''}`)];
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
