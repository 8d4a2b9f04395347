/* Tokens, cost, time, outcomes, gates, tasks and tool calls in words. */
import type { PlanMetadata } from '../state/question.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { SessionUsage, StepCost, Used } from '../state/usage.ts';
import { type GateResult, gateWords, type RunOutcome } from '../state/work.ts';
import type { Attachment } from '../thread/attachments.ts';
import { type Span, span, type Tone } from './line.ts';

/** Shares of a limit at which a value is a warning, and nearly exhausted. */
const [warnAt, badAt] = [0.8, 0.95];

/** Usage as items of a status line: `ctx 34%`, `45.2k tok`, `$0.12 of $2.00`. */
export function usageItems(usage: SessionUsage | undefined): readonly Span[] {
  if (usage === undefined) return [];
  const { contextTokens, contextWindow, inputTokens, outputTokens } = usage;
  const tokens = inputTokens + outputTokens;
  return [
    ...(contextTokens === undefined ? [] : [contextItem(contextTokens, contextWindow)]),
    ...(tokens === 0 ? [] : [span(`${tokenWords(tokens)} tok`)]),
    costItem(usage),
  ];
}

function contextItem(tokens: number, window: number | undefined): Span {
  if (window === undefined || window <= 0) return span(`ctx ${tokenWords(tokens)}`);
  const share = tokens / window;
  const percent = share > 0 && share < 0.005 ? '<1' : `${Math.round(100 * share)}`;
  return span(`ctx ${percent}%`, toneOf(share));
}

function costItem(usage: SessionUsage): Span {
  const { limitUsd } = usage;
  if (limitUsd === undefined) return span(costWords(usage));
  const share = limitUsd > 0 ? (usage.costUsd ?? 0) / limitUsd : 1;
  return span(`${costWords(usage)} of ${usdWords(limitUsd)}`, toneOf(share));
}

function toneOf(share: number): Tone {
  return share >= badAt ? 'bad' : share >= warnAt ? 'warn' : 'plain';
}

/** A cost, with a note if some of it has no known price: `$0.12`, `$0.12 + unpriced`, `unpriced`. */
export function costWords({ costUsd, unpriced }: Pick<Used, 'costUsd' | 'unpriced'>): string {
  if (unpriced !== true) return usdWords(costUsd ?? 0);
  return costUsd === undefined ? 'unpriced' : `${usdWords(costUsd)} + unpriced`;
}

/**
 * What a step of a plan is expected to cost, and what it came to: `estimated 12k tokens, $0.03 · actual 14k, $0.04`.
 * Empty where neither is known.
 */
export function estimateWords(
  estimated: Omit<StepCost, 'line'> | undefined,
  actual?: Omit<StepCost, 'line'>,
): string {
  const words: string[] = [];
  if (estimated !== undefined)
    words.push(`estimated ${tokenWords(estimated.tokens)} tokens${priced(estimated)}`);
  if (actual !== undefined)
    words.push(
      `actual ${tokenWords(actual.tokens)}${estimated === undefined ? ' tokens' : ''}${priced(actual)}`,
    );
  return words.join(' · ');
}

function priced({ costUsd }: Pick<StepCost, 'costUsd'>): string {
  return costUsd === undefined ? '' : `, ${usdWords(costUsd)}`;
}

const steps = [
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3],
] as const;

/** A count in at most five characters up to a billion: `950`, `45.2k`, `1.2M`. */
export function tokenWords(tokens: number): string {
  // What would be rounded up to a thousand is one of the next step.
  const step = steps.find(([, size]) => tokens >= 0.9995 * size && tokens >= 1000);
  if (step === undefined) return `${Math.round(tokens)}`;
  const [unit, size] = step;
  const value = tokens / size;
  return `${value >= 99.95 ? Math.round(value) : Math.round(10 * value) / 10}${unit}`;
}

/** Dollars and cents; of less than a cent that it is less. */
export function usdWords(usd: number): string {
  if (usd > 0 && usd < 0.01) return '<$0.01';
  return `$${usd.toFixed(2)}`;
}

type ShownGoal = Pick<NonNullable<Snapshot['goal']>, 'loops' | 'budget'>;

/** How far a goal is within what it may use up: `run 2 · 18k of 100k tok · $0.04 of $1.00 · 3m 34s of 10m 00s`. */
export function progressWords({ loops, budget: { tokens, costUsd, seconds } }: ShownGoal): string {
  const span = (count: number): string => toSpan(1000 * count);
  return [
    `run ${loops + 1}`,
    `${tokenWords(tokens.used)} of ${tokenWords(tokens.limit)} tok`,
    `${usdWords(costUsd.used)} of ${usdWords(costUsd.limit)}`,
    `${span(seconds.used)} of ${span(seconds.limit)}`,
  ].join(' · ');
}

/** What executing a plan grants its goal: `200k tokens, $2.00, 1h 00m`; empty for a plan without a goal. */
export function grantsWords({ grants }: PlanMetadata): string {
  if (grants === undefined) return '';
  const { tokens, costUsd, seconds } = grants;
  return [`${tokenWords(tokens)} tokens`, usdWords(costUsd), toSpan(1000 * seconds)].join(', ');
}

/** A duration: `0s`, `59s`, `2m 05s`, `1h 04m`, `3d 2h`. */
export function toSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [60, 3600, 86_400].map((size) => Math.floor(seconds / size)) as [
    number,
    number,
    number,
  ];
  if (minutes < 1) return `${seconds}s`;
  if (hours < 1) return `${minutes}m ${two(seconds % 60)}s`;
  if (days < 1) return `${hours}h ${two(minutes % 60)}m`;
  return `${days}d ${hours % 24}h`;
}

/** How long ago something was, at the time `now`: `just now`, `5m ago`, `3h ago`, `12d ago`. What is to come is now. */
export function toAgo(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (!(minutes >= 1)) return 'just now';
  if (minutes < 60) return `${minutes}m ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}h ago`;
  return `${Math.floor(minutes / 1440)}d ago`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

type Costs = Pick<Snapshot['plans'][number], 'estimates' | 'actuals'>;

export function stepCosts({ estimates = [], actuals = [] }: Costs): ReadonlyMap<string, string> {
  const lines = new Set([...estimates, ...actuals].map(({ line }) => line));
  const of = (costs: typeof estimates, line: string) => costs.find((one) => one.line === line);
  return new Map([...lines].map((line) => [line, estimateWords(of(estimates, line), of(actuals, line))]));
}

/** The estimated cost of a plan and its basis; empty without an estimate. */
export function planCostWords({ estimated, estimatedFrom: from = 0 }: PlanMetadata): string {
  if (estimated === undefined || estimated.tokens === 0) return '';
  const basis = from === 0 ? 'assumed' : `from ${from} earlier ${from === 1 ? 'task' : 'tasks'}`;
  return `${estimateWords(estimated)} (${basis})`;
}

export function lineCostWords({ estimates = [], lines = [] }: PlanMetadata): readonly string[] {
  if (estimates.length < 2) return [];
  return estimates.flatMap((cost) => {
    const at = lines.indexOf(cost.line);
    return at < 0 ? [] : [`line ${at + 1}: ${estimateWords(cost)}`];
  });
}

export { slashWords } from '../state/slash-words.ts';

export interface Outcome {
  readonly title: string;
  readonly words: string;
  readonly isCommit: boolean;
  readonly isRefused: boolean;
  readonly runId: string;
  readonly commit?: string;
}

export function outcomeOf({ outcome }: Pick<Snapshot, 'outcome'>): Outcome | undefined {
  return outcome && toOutcome(outcome);
}

export function readOutcome({
  metadata,
}: Pick<Snapshot['transcript'][number], 'metadata'>): Outcome | undefined {
  const { outcome } = metadata as { readonly outcome?: RunOutcome };
  return outcome && toOutcome(outcome);
}

/** How a run ended, by the type of its decision; `api/run/verdict.ts` uses the same words. */
export const outcomeTitles: Readonly<Record<RunOutcome['decision'], string>> = {
  commit: 'Committed',
  abandon: 'Refused',
  rollback: 'Rolled back',
  checkpoint: 'Waiting for people',
  retry: 'Tried again',
  waiting: 'Waiting for people',
  held: 'Waiting for your review',
  none: 'Nothing committed',
};

function toOutcome({ runId, decision, why, commit }: RunOutcome): Outcome {
  return {
    title: outcomeTitles[decision],
    words: why,
    isCommit: decision === 'commit',
    isRefused: decision === 'abandon' || decision === 'rollback',
    runId,
    ...(commit === undefined ? {} : { commit }),
  };
}

export function commandsOf({
  runId,
  isCommit,
}: Outcome): readonly (readonly [line: string, about: string])[] {
  return [
    ...(isCommit ? [[`writ verify ${runId}`, 'verify the seal, offline'] as const] : []),
    [`writ show ${runId}`, 'what was checked, found and decided'],
  ];
}

export interface Gate {
  readonly stage: string;
  readonly status: string;
  readonly words: string;
  readonly failed: readonly string[];
}

export function gatesIn({ gates = [] }: Pick<Snapshot, 'gates'>): readonly Gate[] {
  return gates.map(toGate);
}

export function readGate({ metadata }: Pick<Snapshot['transcript'][number], 'metadata'>): Gate | undefined {
  const { gate } = metadata as { readonly gate?: GateResult };
  return gate && toGate(gate);
}

function toGate({ stage, status, ran, expected, failed = [] }: GateResult): Gate {
  return { stage, status, words: gateWords({ ran, expected }), failed };
}

interface DoneTask {
  readonly run: string;
  readonly task: string;
}

/** As a session names its Tasks. */
const ofRun = /^([0-9a-f]{8}-[0-9a-f-]{27})\/(task-\d{1,4})$/;

/** The completed task of a run; undefined if it is not done. The session decides whether it can be undone. */
export function toDoneTask({ id, status }: Snapshot['tasks'][number]): DoneTask | undefined {
  const [, run = '', task = ''] = ofRun.exec(id) ?? [];
  return run === '' || status !== 'completed' ? undefined : { run, task };
}

export function undoMessage({ run, task }: DoneTask): string {
  return `/undo ${run} ${task}`;
}

interface ToolWords {
  /** What was done: `read`, `search`, `$` for a command; of any other tool its name and what it did. */
  readonly verb: string;
  readonly what: string;
  readonly came: string;
  readonly isBad: boolean;
}

const verbs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'workspace.fs': { read: 'read', write: 'write', delete: 'delete', list: 'list' },
  'workspace.search': { search: 'search' },
  'workspace.command': { execute: '$', list: 'commands', output: 'output of', stop: 'stop' },
};
/** A shorter duration is not shown. */
const leastMs = 1000;

/** Parses a tool call's summary: action, object and result. */
export function toolWords(toolName: string, summary: string, status: string | undefined): ToolWords {
  const [, said = summary, outcome, code, ms, why] =
    /^(.*) \((done|denied|failed)(?:, exit code (-?\d+))?, (\d+) ms\)(?:: (.*))?$/s.exec(summary) ?? [];
  const [, action = '', rest = ''] = /^(\S+) ?(.*)$/s.exec(said) ?? [];
  const verb = Object.hasOwn(verbs, toolName) ? verbs[toolName]?.[action] : undefined;
  const came = [
    ...(outcome === 'denied' ? ['denied'] : []),
    ...(outcome === 'failed' && code === undefined ? ['failed'] : []),
    ...(code === undefined ? [] : [`exit code ${code}`]),
    ...(Number(ms ?? 0) < leastMs ? [] : [toSpan(Number(ms))]),
    ...(why === undefined ? [] : [why]),
  ];
  return {
    verb: verb ?? `${toolName} ${action}`.trim(),
    what: rest,
    came: came.join(', '),
    // An exit code with a reason is expected: a check ran on the old code.
    isBad: status === 'failed' || (code !== undefined && why === undefined),
  };
}

/** Marks of what came with a message, such as `[image logo.png 12 kB]`. */
export function attachmentMarks({
  metadata,
}: Pick<Snapshot['transcript'][number], 'metadata'>): readonly string[] {
  const { attachments = [] } = metadata as { readonly attachments?: readonly Attachment[] };
  return attachments.map(({ name, mediaType, bytes }) => {
    const kind = mediaType.startsWith('image/') ? 'image' : 'text';
    return `[${kind} ${name.split('/').at(-1)} ${sizeWords(bytes)}]`;
  });
}

/** A size such as `164 B`, `12 kB` or `4.2 MB`. */
function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Says that tables of the configuration are not in force yet. */
export function uncommittedWords(tables: readonly string[]): string {
  const named = tables.map((name) => `\`[${name}]\``).join(', ');
  const foreign = tables.some((name) => !/^mcp(?:\.|$)/.test(name))
    ? ' writ reads only `[mcp.NAME]`: `writ mcp add --project` writes it.'
    : '';
  const [differ, count] = tables.length === 1 ? ['differs', 'counts'] : ['differ', 'count'];
  return `${named} of \`.writ/config.toml\` ${differ} from HEAD and ${count} once committed.${foreign}`;
}
