import type { Snapshot } from '../state/snapshot.ts';
import { type Line, span, type Tone } from './line.ts';
import { usageItems } from './usage-words.ts';
import { visible } from './visible.ts';
import { toSpan } from './words/to-span.ts';

/** One fact of the status line. */
export interface StatusItem {
  readonly text: string;
  readonly tone: Tone;
  /** From 1: what goes last where there is no room. */
  readonly weight: number;
}

/** What a screen knows beside the snapshot. */
export interface StatusFacts {
  /** What confines commands; absent while nobody knows. */
  readonly sandbox?: string;
  /** How many approvals are live. */
  readonly approvals?: number;
  /** How long the turn has worked. */
  readonly seconds?: number;
  /** The session is being opened: what its snapshot says is what is known already. */
  readonly isStarting?: boolean;
  /** The key of this screen that takes the session back from whoever else steers it. */
  readonly takeBack?: string;
  /** The key of this screen that stops a turn at work. */
  readonly stop?: string;
}

/** What is always told: what happens, what it costs, what is open, who has the session. */
export function statusItems(snapshot: Snapshot, facts: StatusFacts): readonly StatusItem[] {
  const { provider, status, controller, threadId, settings } = snapshot;
  return [
    stateItem(status, facts),
    ...stopItems(snapshot, facts),
    { text: provider.model ?? provider.provider, tone: 'plain', weight: 4 },
    ...usageItems(snapshot.usage).map((item): StatusItem => ({ ...item, weight: 2 })),
    ...(settings.networkAccess === undefined
      ? []
      : [
          {
            text: `net ${settings.networkAccess}`,
            tone: settings.networkAccess === 'allow' ? ('warn' as const) : ('plain' as const),
            weight: 3,
          },
        ]),
    ...heldItems(snapshot),
    ...(settings.review === 'on' ? [{ text: 'review on', tone: 'plain' as const, weight: 4 }] : []),
    ...(facts.sandbox === undefined
      ? []
      : [
          {
            text: facts.sandbox === 'none' ? 'NO sandbox' : `sandbox ${facts.sandbox}`,
            tone: facts.sandbox === 'none' ? ('bad' as const) : ('plain' as const),
            weight: facts.sandbox === 'none' ? 2 : 6,
          },
        ]),
    ...controllerItems(controller, facts),
    ...((facts.approvals ?? 0) > 0
      ? [{ text: `${facts.approvals} pre-approved`, tone: 'warn' as const, weight: 3 }]
      : []),
    ...(settings.context === undefined
      ? []
      : [
          {
            text: settings.context,
            tone: 'plain' as const,
            // What changes nothing is worth to know; `dev` is what a session is for.
            weight: settings.context === 'dev' ? 7 : 3,
          },
        ]),
    ...(threadId === '' ? [] : [{ text: threadId.slice(0, 8), tone: 'dim' as const, weight: 8 }]),
  ];
}

/** Before who steers goes where there is no room: nobody finds a key that is told nowhere. */
function stopItems(
  { status, controller }: Pick<Snapshot, 'status' | 'controller'>,
  { stop }: StatusFacts,
): readonly StatusItem[] {
  const isWorking = status === 'thinking' || status === 'executing_tool';
  const isOurs = controller.kind === 'tui' || controller.kind === 'cli';
  return stop === undefined || !isWorking || !isOurs
    ? []
    : [{ text: `${stop} stops`, tone: 'dim', weight: 5 }];
}

/** A change that waits for its review, while nothing asks for that. */
function heldItems({ held, status }: Pick<Snapshot, 'held' | 'status'>): readonly StatusItem[] {
  if (held === undefined || status === 'awaiting_interaction') return [];
  return [{ text: 'a change is held: /review', tone: 'warn', weight: 2 }];
}

function stateItem(status: Snapshot['status'], { seconds, isStarting }: StatusFacts): StatusItem {
  const since = seconds === undefined || seconds < 1 ? '' : ` ${toSpan(seconds * 1000)}`;
  const [text, tone] = isStarting === true ? (['starting…', 'accent'] as const) : stateWords[status];
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

function controllerItems(
  { kind, ownerLabel }: Snapshot['controller'],
  { takeBack }: StatusFacts,
): readonly StatusItem[] {
  if (kind === 'tui' || kind === 'cli') return [{ text: 'you steer', tone: 'plain', weight: 5 }];
  if (kind === 'none') return [{ text: 'no controller', tone: 'plain', weight: 5 }];
  const who = `${kind} ${ownerLabel ?? ''}`.trim();
  return [
    { text: `${who} steers`, tone: 'warn', weight: 2 },
    ...(takeBack === undefined
      ? []
      : [{ text: `${takeBack} takes it back`, tone: 'accent' as const, weight: 1 }]),
  ];
}

/** The items in one line of at most so many columns: what weighs least is left out first. */
export function statusLine(
  items: readonly StatusItem[],
  columns: number,
  widthOf: (text: string) => number,
): Line {
  const told = items.map((item) => ({ ...item, text: visible(item.text) }));
  const width = (shown: readonly StatusItem[]): number =>
    shown.reduce((sum, { text }) => sum + widthOf(text), 0) + Math.max(0, shown.length - 1) * 3;
  let shown: readonly StatusItem[] = told;
  while (shown.length > 1 && width(shown) > columns) {
    const heaviest = Math.max(...shown.map(({ weight }) => weight));
    const at = shown.findLastIndex(({ weight }) => weight === heaviest);
    shown = shown.filter((_, index) => index !== at);
  }
  return shown.flatMap(({ text, tone }, at) =>
    at === 0 ? [span(text, tone)] : [span(' · ', 'dim'), span(text, tone)],
  );
}
