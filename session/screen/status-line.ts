/* The status line of the terminal. */
import type { Snapshot } from '../state/snapshot.ts';
import { nextAsked } from './asked.ts';
import { type Line, span, type Tone, visible } from './line.ts';
import { readOutcome, toSpan, usageItems } from './words.ts';

/** One fact of the status line. */
export interface StatusItem {
  readonly text: string;
  readonly tone: Tone;
  /** From 1: the highest weight is dropped first on a narrow screen. */
  readonly weight: number;
}

export interface StatusFacts {
  readonly sandbox?: string;
  readonly approvals?: number;
  readonly seconds?: number;
  readonly isStarting?: boolean;
  readonly takeBack?: string;
  readonly stop?: string;
}

/** The facts of the status line: activity, model, usage, limits, controller, thread. */
export function statusItems(snapshot: Snapshot, facts: StatusFacts): readonly StatusItem[] {
  const { provider, status, controller, threadId, settings, held } = snapshot;
  const { sandbox, approvals = 0, stop, takeBack } = facts;
  const isOurs = controller.kind === 'tui' || controller.kind === 'cli';
  const isWorking = status === 'thinking' || status === 'executing_tool';
  const isHeld = held !== undefined && status !== 'awaiting_interaction';
  const isOpen = settings.networkAccess === 'allow';
  const items: readonly (StatusItem | false | undefined | '')[] = [
    stateItem(snapshot, facts),
    isOurs && isAnswered(snapshot) && { text: 'Tab drafts a change of it', tone: 'dim', weight: 5 },
    // More important than the controller: the key is shown nowhere else.
    isWorking && isOurs && stop && { text: `${stop} stops`, tone: 'dim', weight: 5 },
    { text: provider.model ?? provider.provider, tone: 'plain', weight: 4 },
    ...usageItems(snapshot.usage).map((item): StatusItem => ({ ...item, weight: 2 })),
    settings.networkAccess && {
      text: `net ${settings.networkAccess}`,
      tone: isOpen ? 'warn' : 'plain',
      weight: 3,
    },
    isHeld && { text: 'a change is held: /review', tone: 'warn', weight: 2 },
    settings.review === 'on' && { text: 'review on', tone: 'plain', weight: 4 },
    sandbox === 'none'
      ? { text: 'NO sandbox', tone: 'bad', weight: 2 }
      : sandbox && { text: `sandbox ${sandbox}`, tone: 'plain', weight: 6 },
    controllerItem(controller, isOurs),
    !isOurs &&
      controller.kind !== 'none' &&
      takeBack && { text: `${takeBack} takes it back`, tone: 'accent', weight: 1 },
    approvals > 0 && { text: `${approvals} pre-approved`, tone: 'warn', weight: 3 },
    settings.context && {
      text: settings.context,
      tone: 'plain',
      weight: settings.context === 'dev' ? 7 : 3,
    },
    threadId && { text: threadId.slice(0, 8), tone: 'dim', weight: 8 },
  ];
  return items.filter((item) => typeof item === 'object');
}

/** Whether the last turn was an answer in words, of which a change can be drafted. */
export function isAnswered({
  status,
  settings,
  transcript,
}: Pick<Snapshot, 'status' | 'settings'> & {
  readonly transcript: readonly Pick<Snapshot['transcript'][number], 'kind'>[];
}): boolean {
  const last = transcript.findLast(({ kind }) => kind !== 'info_note');
  return status === 'idle' && settings.context === 'dev' && last?.kind === 'assistant_message';
}

function stateItem(snapshot: Snapshot, { seconds, isStarting }: StatusFacts): StatusItem {
  const since = seconds === undefined || seconds < 1 ? '' : ` ${toSpan(seconds * 1000)}`;
  const { status, transcript } = snapshot;
  const end =
    status === 'completed' ? transcript.findLast((one) => readOutcome(one) !== undefined) : undefined;
  const outcome = end && readOutcome(end);
  const [text, tone] =
    isStarting === true
      ? (['starting…', 'accent'] as const)
      : isAnswered(snapshot)
        ? (['ready: answered, nothing changed', 'good'] as const)
        : outcome?.isCommit === true
          ? (['done: committed', 'good'] as const)
          : stateWords[status];
  return { text: `${text}${since}`, tone, weight: 1 };
}

const stateWords: Readonly<Record<Snapshot['status'], readonly [string, Tone]>> = {
  idle: ['ready', 'good'],
  thinking: ['thinking', 'accent'],
  executing_tool: ['working', 'accent'],
  awaiting_interaction: ['asks you', 'warn'],
  completed: ['done', 'good'],
  error: ['failed', 'bad'],
};

function controllerItem({ kind, ownerLabel }: Snapshot['controller'], isOurs: boolean): StatusItem {
  if (isOurs) return { text: 'you steer', tone: 'plain', weight: 5 };
  if (kind === 'none') return { text: 'no controller', tone: 'plain', weight: 5 };
  return { text: `${`${kind} ${ownerLabel ?? ''}`.trim()} steers`, tone: 'warn', weight: 2 };
}

/** The items in one line of at most so many columns: what weighs least is left out first. */
export function statusLine(
  items: readonly StatusItem[],
  columns: number,
  widthOf: (text: string) => number,
): Line {
  const visibleItems = items.map((item) => ({ ...item, text: visible(item.text) }));
  const width = (shown: readonly StatusItem[]): number =>
    shown.reduce((sum, { text }) => sum + widthOf(text), 0) + Math.max(0, shown.length - 1) * 3;
  let shown: readonly StatusItem[] = visibleItems;
  while (shown.length > 1 && width(shown) > columns) {
    const heaviest = Math.max(...shown.map(({ weight }) => weight));
    const at = shown.findLastIndex(({ weight }) => weight === heaviest);
    shown = shown.filter((_, index) => index !== at);
  }
  return shown.flatMap(({ text, tone }, at) =>
    at === 0 ? [span(text, tone)] : [span(' · ', 'dim'), span(text, tone)],
  );
}

/* How long a turn works or waits. */

export interface TurnTime {
  /** The question that is waited for; absent while the turn works. */
  readonly asked: string | undefined;
  readonly sinceMs: number;
  readonly workedMs: number;
}

/** The time of the running turn; undefined if none runs. Time that a question waits does not count as work. */
export function turnTime(
  before: TurnTime | undefined,
  snapshot: Pick<Snapshot, 'status' | 'interactions'>,
  nowMs: number,
): TurnTime | undefined {
  if (!isBusy(snapshot)) return undefined;
  const asked = snapshot.status === 'awaiting_interaction' ? (nextAsked(snapshot)?.id ?? '') : undefined;
  if (before === undefined) return { asked, sinceMs: nowMs, workedMs: 0 };
  if (before.asked === asked) return before;
  const worked = before.asked === undefined ? nowMs - before.sinceMs : 0;
  return { asked, sinceMs: nowMs, workedMs: before.workedMs + worked };
}

export function secondsOf(time: TurnTime, nowMs: number): number {
  return time.asked === undefined ? workedSeconds(time, nowMs) : Math.floor((nowMs - time.sinceMs) / 1000);
}

export function workedSeconds({ asked, sinceMs, workedMs }: TurnTime, nowMs: number): number {
  return Math.floor((workedMs + (asked === undefined ? nowMs - sinceMs : 0)) / 1000);
}

export function isBusy({ status }: Pick<Snapshot, 'status'>): boolean {
  return status === 'thinking' || status === 'executing_tool' || status === 'awaiting_interaction';
}
