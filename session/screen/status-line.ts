/* The status of a session in words: the status line of the terminal, and the facts of `/status` and the page. */
import type { ApprovalPolicy } from '../state/settings.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { nextAsked } from './asked.ts';
import { type Line, span, type Tone, visible } from './line.ts';
import type { Diagnostics } from './session-door.ts';
import {
  costWords,
  progressWords,
  readOutcome,
  tokenWords,
  toSpan,
  uncommittedWords,
  usageItems,
  usdWords,
} from './words.ts';

/** Ports of the page and of the MCP server. */
export const usualPorts = { web: 3000, mcp: 6789 } as const;

/** One fact of the status line. */
export interface StatusItem {
  readonly text: string;
  readonly tone: Tone;
  /** From 1: the highest weight is dropped first on a narrow screen. */
  readonly weight: number;
}

export interface StatusFacts {
  readonly sandbox?: string;
  /** The port of the page, if it is another than usual. */
  readonly port?: number;
  readonly approvals?: number;
  readonly seconds?: number;
  readonly isStarting?: boolean;
  readonly takeBack?: string;
  readonly stop?: string;
}

/** The facts of the status line: activity, model, usage, limits, controller, thread. */
export function statusItems(snapshot: Snapshot, facts: StatusFacts): readonly StatusItem[] {
  const { provider, status, controller, threadId, settings, held } = snapshot;
  const { sandbox, port, approvals = 0, stop, takeBack } = facts;
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
    port !== undefined && { text: `page on port ${port}`, tone: 'plain', weight: 6 },
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

/* The facts of a session. */

const approvalWords: Readonly<Record<ApprovalPolicy, string>> = {
  never: 'asks nothing, refuses what is dangerous',
  'allow-all': 'asks nothing, allows every call',
  'on-failure': 'asks before a retry outside of what the sandbox allows',
  'on-request': 'asks before dangerous commands, commits and unknown tools',
  untrusted: 'asks before every call that is not a proven read',
};

type Fact = readonly [name: string, value: string];

type StatusOf = Pick<
  Snapshot,
  | 'provider'
  | 'settings'
  | 'threadId'
  | 'workingDir'
  | 'controller'
  | 'usage'
  | 'goal'
  | 'instructions'
  | 'skills'
>;

/**
 * Model, cost, settings, controller, sandbox, MCP servers, session policy and hooks, for `/status` and the page. The
 * page shows who steers elsewhere.
 */
export function statusFacts(
  snapshot: StatusOf,
  diagnostics: Partial<Diagnostics>,
  { isPage = false }: { readonly isPage?: boolean } = {},
): readonly Fact[] {
  const { provider, settings, threadId, workingDir, controller } = snapshot;
  const {
    pid,
    key,
    attachable = [],
    approvalPolicy,
    sandbox,
    mcp = [],
    policy = [],
    hooks = [],
    ports,
    logFile,
    lastError,
  } = diagnostics;
  const isOurs = controller.kind === 'tui' || controller.kind === 'cli';
  const facts: readonly (Fact | undefined | false)[] = [
    ['model', provider.model === undefined ? provider.provider : `${provider.model} of ${provider.provider}`],
    key && ['key', `${key.name} from ${key.source}`],
    ...costFacts(snapshot),
    ['for', settings.context === 'dev' ? 'development (dev)' : `${settings.context}: it only reads`],
    ['network', `${settings.networkAccess}, for plans from now on`],
    ['review', settings.review === 'on' ? 'on: changes are held until you have reviewed them' : 'off'],
    ['instructions', instructionWords(snapshot)],
    snapshot.skills && ['skills', skillWords(snapshot.skills)],
    ['directory', workingDir],
    ['thread', threadId],
    !isPage && ['steered by', isOurs ? 'you' : `${controller.kind} ${controller.ownerLabel ?? ''}`.trim()],
    !isPage && ['may steer', ['you', ...attachable].join(', ')],
    ...(sandbox === undefined ? [] : sandboxFacts(sandbox)),
    approvalPolicy !== undefined && ['approvals', `\`${approvalPolicy}\`: ${approvalWords[approvalPolicy]}`],
    ...mcp.map(mcpFact),
    ...policy.map((one): Fact => ['policy', `${one.key}: ${[one.value].flat().join(', ')} · ${one.from}`]),
    ...hooks.map((one): Fact => ['hook', one]),
    ports && ['served on', `port ${ports.web}${ports.mcp === undefined ? '' : `, MCP on port ${ports.mcp}`}`],
    logFile !== undefined && ['log', logFile],
    lastError !== undefined && ['last failure', lastError],
    pid !== undefined && ['process', `${pid}`],
  ];
  return facts.filter((one) => one !== undefined && one !== false);
}

function instructionWords({ instructions = [] }: StatusOf): string {
  if (instructions.length === 0) return 'the model got no instruction file yet';
  return instructions.map(({ path, sha256 }) => `${path} (${sha256.slice(0, 12)})`).join(', ');
}

const mostSkills = 20;

function skillWords(skills: NonNullable<StatusOf['skills']>): string {
  const named = skills.slice(0, mostSkills).map(({ name, isRead }) => (isRead ? `${name} (read)` : name));
  const more = skills.length > named.length ? ` and ${skills.length - named.length} more` : '';
  return `${named.join(', ')}${more}`;
}

function costFacts({ usage, goal }: StatusOf): readonly (Fact | undefined | false)[] {
  if (usage === undefined) return [['cost', 'no model was asked yet']];
  const { contextTokens, contextWindow, limitUsd, turn } = usage;
  const limit = limitUsd === undefined ? '· no limit (/budget sets one)' : `of at most ${usdWords(limitUsd)}`;
  const window = contextWindow === undefined ? '' : ` of ${tokenWords(contextWindow)}`;
  const tokens = (used: Pick<typeof usage, 'inputTokens' | 'outputTokens'>): string =>
    `${tokenWords(used.inputTokens)} read, ${tokenWords(used.outputTokens)} written`;
  return [
    ['cost', `${costWords(usage)} ${limit}`],
    turn && ['last turn', `${costWords(turn)} · ${tokens(turn)}`],
    ['tokens', tokens(usage)],
    contextTokens !== undefined && ['context used', `${tokenWords(contextTokens)}${window} tokens`],
    goal && ['goal', `${goal.status} · ${progressWords(goal)}`],
  ];
}

const selfApprovals = {
  possible: 'YES: a command could reach what approves it',
  impossible: 'no, it was tried',
  not_tried: 'not tried yet',
} as const;

function sandboxFacts({ backend, enforced, selfApproval }: Diagnostics['sandbox']): readonly Fact[] {
  const confines = `${backend}${enforced.length === 0 ? '' : `: ${enforced.join(', ')}`}`;
  return [
    ['sandbox', backend === 'none' ? 'NONE: nothing confines commands' : confines],
    ['self-approval', selfApprovals[selfApproval]],
  ];
}

/** `/mcp`: the MCP servers of a session, with the reason of a failure and their tools; what is not in force yet. */
export function mcpFacts({ mcp = [], mcpUncommitted = [] }: Partial<Diagnostics>): readonly Fact[] {
  if (mcp.length + mcpUncommitted.length === 0)
    return [['', 'no server is configured: `writ mcp add NAME -- COMMAND`, in a shell, adds one']];
  return [
    ...mcp.map((one): Fact => [one.server, mcpFact(one)[1]]),
    ...(mcpUncommitted.length === 0 ? [] : [['not in force', uncommittedWords(mcpUncommitted)] as const]),
  ];
}

/** State, reach and tools of an MCP server; approved tools first. */
function mcpFact({ server, from, state, reach, why, tools }: NonNullable<Diagnostics['mcp']>[number]): Fact {
  const named = (are: boolean): string =>
    tools
      .filter(({ isApproved }) => isApproved === are)
      .map(({ name, sha256 }) => (are ? `${name} (${sha256.slice(0, 12)})` : name))
      .join(', ');
  const facts = [
    `${state.replace('_', ' ')}, of the ${from} configuration`,
    reach,
    ...(why === undefined ? [] : [why]),
    ...(named(true) === '' ? [] : [`approved: ${named(true)}`]),
    ...(named(false) === '' ? [] : [`not used yet: ${named(false)}`]),
  ];
  return [`mcp ${server}`, facts.join(' · ')];
}
