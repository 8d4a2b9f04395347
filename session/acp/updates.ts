/* Turns the state of a session into the updates that an editor shows: messages, tool calls, diffs and the plan. */
import { isAbsolute, join } from 'node:path';
import type {
  PlanEntry,
  SessionUpdate,
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from '@agentclientprotocol/sdk';
import { readHunks } from '../screen/hunks.ts';
import { visible } from '../screen/line.ts';
import { commandsOf, readGate, readOutcome, toolWords } from '../screen/words.ts';
import type { SessionState, ToolCall, TranscriptEntry } from '../state/state.ts';
import { roundedUsage } from '../state/usage.ts';

/** What an editor was sent of a session. */
export interface SentUpdates {
  /** The updates since the last call. With `replays`, messages of the person are among them. */
  next(state: SessionState, replays?: boolean): readonly SessionUpdate[];
  /** Everything up to now counts as sent. */
  skip(state: SessionState): void;
  /** A message that is no entry of the transcript. */
  say(text: string): SessionUpdate;
}

/** Follows one session. Paths of tool calls are resolved against `root`. */
export function openUpdates(root: string): SentUpdates {
  const done = new Set<string>();
  /** Text of the reply that streams, as far as it was sent. */
  const replies = new Map<string, string>();
  /** Last form of each tool call, plan, mode and usage. */
  const shown = new Map<string, string>();
  let last = '';
  let others = 0;
  const chunk = (
    id: string,
    text: string,
    kind: 'agent_message_chunk' | 'user_message_chunk' = 'agent_message_chunk',
  ): SessionUpdate => {
    // Editors that ignore the id of a message join neighbours.
    const lead = last !== '' && last !== id ? '\n\n' : '';
    last = id;
    return { sessionUpdate: kind, messageId: id, content: { type: 'text', text: `${lead}${seen(text)}` } };
  };
  const reply = (one: TranscriptEntry): readonly SessionUpdate[] => {
    const { id, task } = one;
    const content = `${task === undefined ? '' : `**${task}:** `}${one.content ?? ''}`;
    const sent = replies.get(id) ?? '';
    replies.set(id, content);
    if (content === sent) return [];
    if (content.startsWith(sent)) return [chunk(id, content.slice(sent.length))];
    // What was sent cannot be taken back: the reply begins again as another message.
    others += 1;
    return [chunk(`${id}-${others}`, content)];
  };
  /** Sends a tool call once, then each other form of it. */
  const call = (id: string, form: CallForm): readonly SessionUpdate[] => {
    const text = JSON.stringify(form);
    const before = shown.get(id);
    if (before === text) return [];
    shown.set(id, text);
    last = '';
    const told = { toolCallId: id, ...form };
    return [
      before === undefined
        ? { sessionUpdate: 'tool_call', ...told }
        : { sessionUpdate: 'tool_call_update', ...told },
    ];
  };
  const changed = (name: string, update: SessionUpdate): readonly SessionUpdate[] => {
    const text = JSON.stringify(update);
    if (shown.get(name) === text) return [];
    shown.set(name, text);
    return [update];
  };
  const entry = (one: TranscriptEntry, state: SessionState, replays: boolean): readonly SessionUpdate[] => {
    const { id, kind, content = '' } = one;
    switch (kind) {
      case 'user_message':
        return replays ? [chunk(id, content, 'user_message_chunk')] : [];
      case 'assistant_message':
        return reply(one);
      case 'tool_call': {
        const known = state.toolCalls.findLast((tool) => tool.id === id);
        return call(id, toolForm(known ?? toolOf(one), root));
      }
      case 'diff':
        return call(id, diffForm(one, state, root));
      case 'info_note':
        return [chunk(id, noteText(one))];
      case 'plan_summary':
        return [];
    }
  };
  return {
    next(state, replays = false) {
      const updates: SessionUpdate[] = [];
      for (const one of state.transcript) {
        if (done.has(one.id) || isPreview(one)) continue;
        updates.push(...entry(one, state, replays));
        if (one.streaming) break;
        if (isSettled(one)) done.add(one.id);
      }
      return [
        ...updates,
        ...changed('plan', { sessionUpdate: 'plan', entries: planEntries(state) }),
        ...changed('mode', { sessionUpdate: 'current_mode_update', currentModeId: state.settings.context }),
        ...usageOf(state).flatMap((usage) => changed('usage', usage)),
      ];
    },
    skip(state) {
      this.next(state);
      last = '';
    },
    say(text) {
      others += 1;
      return chunk(`writ-${others}`, text);
    },
  };
}

/** Text that no screen obeys; line ends stay. */
function seen(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map((line) => visible(line.replaceAll('\t', '    ')))
    .join('\n');
}

interface CallForm {
  readonly title: string;
  readonly kind: ToolKind;
  readonly status: 'in_progress' | 'completed' | 'failed';
  readonly content: ToolCallContent[];
  readonly locations: ToolCallLocation[];
}

function isPreview({ kind, status }: TranscriptEntry): boolean {
  return kind === 'tool_call' && status === 'preview';
}

function isSettled({ kind, status }: TranscriptEntry): boolean {
  return kind === 'tool_call' ? status !== 'running' : kind !== 'diff' || status !== 'proposed';
}

/** A call that left the window of tool calls. */
function toolOf({ id, title = 'tool', content, status, updatedAtMs }: TranscriptEntry): ToolCall {
  return {
    id,
    toolName: title,
    status: status === 'completed' ? 'completed' : 'failed',
    ...(content === undefined ? {} : { summary: content }),
    updatedAtMs,
  };
}

const toolKinds: Readonly<Record<string, ToolKind>> = {
  read: 'read',
  list: 'read',
  write: 'edit',
  delete: 'delete',
  search: 'search',
  $: 'execute',
};

function toolForm(
  { toolName, status, task, summary = '', details, output }: ToolCall,
  root: string,
): CallForm {
  const { verb, what, came, isBad } = toolWords(toolName, summary, status);
  const kind = toolKinds[verb] ?? (toolName.startsWith('web') ? 'fetch' : 'other');
  const isFile = kind === 'read' || kind === 'edit' || kind === 'delete';
  const text = [details, output].filter((one) => one !== undefined && one !== '').join('\n');
  return {
    title: visible(
      [task === undefined ? '' : `${task}:`, verb, what, came === '' ? '' : `(${came})`]
        .filter(Boolean)
        .join(' '),
    ),
    kind,
    status: status === 'running' ? 'in_progress' : status === 'completed' && !isBad ? 'completed' : 'failed',
    content: text === '' ? [] : [fenced(text)],
    locations: isFile ? locationsOf([what], root) : [],
  };
}

const ends = { proposed: 'in_progress', accepted: 'completed', rejected: 'failed' } as const;

function diffForm(
  { title = 'Change', status = 'proposed', metadata }: TranscriptEntry,
  { patchsets }: SessionState,
  root: string,
): CallForm {
  const changes = patchsets.find(({ id }) => id === metadata.patchset)?.changes ?? [];
  return {
    title: visible(title),
    kind: 'edit',
    status: ends[status as keyof typeof ends] ?? 'completed',
    content: changes.flatMap(({ path, diff = '', unshown = 0 }) => [
      ...diffsOf(join(root, path), diff),
      ...(unshown > 0 ? [fenced(`${path}: ${unshown} more hunks are not shown`)] : []),
    ]),
    locations: locationsOf(
      changes.map(({ path }) => path),
      root,
    ),
  };
}

/** Each hunk of a unified diff as the text before and after it. */
export function diffsOf(path: string, diff: string): ToolCallContent[] {
  return readHunks(diff).map(({ lines }) => {
    const side = (other: 'added' | 'removed'): string =>
      lines
        .flatMap(({ kind, text }) => (kind === other || kind === 'note' ? [] : [`${seen(text)}\n`]))
        .join('');
    const oldText = side('added');
    return { type: 'diff', path, oldText: oldText === '' ? null : oldText, newText: side('removed') };
  });
}

/** Files of the workspace, as an editor opens them. */
export function locationsOf(paths: readonly string[], root: string): ToolCallLocation[] {
  return paths
    .filter((path) => path !== '' && !path.split('/').includes('..'))
    .map((path) => ({ path: isAbsolute(path) ? path : join(root, path) }));
}

/** Text as it is, whatever Markdown would make of it. */
export function fenced(text: string): ToolCallContent {
  const shown = seen(text).trimEnd();
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return { type: 'content', content: { type: 'text', text: `${fence}text\n${shown}\n${fence}` } };
}

/** A note in the words of the screens. */
function noteText(entry: TranscriptEntry): string {
  const gate = readGate(entry);
  if (gate !== undefined) {
    return [
      `gate ${gate.stage} ${gate.status} · ${gate.words}`,
      ...gate.failed.map((one) => `- ${one}`),
    ].join('\n');
  }
  const outcome = readOutcome(entry);
  if (outcome !== undefined) {
    const commit = outcome.commit === undefined ? [] : [`commit \`${outcome.commit}\``];
    const commands = commandsOf(outcome).map(([line, about]) => `\`${line}\`: ${about}`);
    return [
      `**${outcome.title}**: ${outcome.words}`,
      ...[...commit, ...commands].map((line) => `- ${line}`),
    ].join('\n');
  }
  const { title, content = '' } = entry;
  return title === undefined ? content : `**${title}**: ${content}`;
}

/** The steps of the plan of the last run, or of those that a model reports. */
function planEntries({ plans }: SessionState): PlanEntry[] {
  const plan = plans.findLast(({ run }) => run !== undefined) ?? plans.at(-1);
  if (plan === undefined || plan.status === 'cancelled') return [];
  return plan.steps.map(({ step, status }) => ({ content: visible(step), priority: 'medium', status }));
}

function usageOf({ usage }: SessionState): readonly SessionUpdate[] {
  const { contextTokens, contextWindow, costUsd } = roundedUsage(usage);
  if (contextTokens === undefined || contextWindow === undefined) return [];
  return [
    {
      sessionUpdate: 'usage_update',
      used: contextTokens,
      size: contextWindow,
      ...(costUsd === undefined ? {} : { cost: { amount: costUsd, currency: 'USD' } }),
    },
  ];
}
