/* Outcomes, gates, tasks and tool calls in words. */
import type { Snapshot } from '../state/snapshot.ts';
import type { GateResult, RunOutcome } from '../state/work.ts';
import { toSpan } from './usage-words.ts';

export { slashWords } from '../state/slash-words.ts';

export interface Outcome {
  readonly title: string;
  readonly words: string;
  readonly isCommit: boolean;
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

const undecided: Readonly<Record<string, string>> = {
  waiting: 'Waiting for people',
  held: 'Held for review',
  none: 'Nothing committed',
};

function toOutcome({ runId, decision, why, commit }: RunOutcome): Outcome {
  return {
    title: undecided[decision] ?? `Decision.${decision.replace(/^./, (first) => first.toUpperCase())}`,
    words: why,
    isCommit: decision === 'commit',
    runId,
    ...(commit === undefined ? {} : { commit }),
  };
}

export function commandsOf({
  runId,
  isCommit,
}: Outcome): readonly (readonly [line: string, about: string])[] {
  return [
    ...(isCommit ? [[`writ verify ${runId}`, 'anybody can check the seal, offline'] as const] : []),
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
  return { stage, status, words: `${ran} of ${expected} ran`, failed };
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
  'workspace.command': { execute: '$' },
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
    isBad: code !== undefined || status === 'failed',
  };
}
