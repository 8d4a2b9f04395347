/** Applies facts to the transcript, tool calls and patchsets. */
import { compact } from '../../api/envelope.ts';
import type { Fact, FactOf } from './fact.ts';
import { kept, type SessionState, type ToolCall, type TranscriptEntry } from './state.ts';
import type { GateResult, SessionPatchset } from './work.ts';

type Shown = Pick<SessionState, 'transcript' | 'earlier'>;

export function entry(
  id: string,
  kind: TranscriptEntry['kind'],
  content: string,
  atMs: number,
): TranscriptEntry {
  return { id, kind, content, streaming: false, metadata: {}, createdAtMs: atMs, updatedAtMs: atMs };
}

export function appended(shown: Shown, one: TranscriptEntry): Shown {
  return inserted(shown, one, shown.transcript.length);
}

function inserted({ transcript, earlier }: Shown, one: TranscriptEntry, at: number): Shown {
  const grown = at === transcript.length ? [...transcript, one] : transcript.toSpliced(at, 0, one);
  const over = grown.length - kept.transcript;
  if (over <= 0) return { transcript: grown, earlier };
  // Partial replies are not in the journal; they are counted when they end.
  const gone = grown.slice(0, over).filter(({ streaming }) => !streaming);
  return { transcript: grown.slice(over), earlier: earlier + gone.length };
}

/** A reply under way is one entry that grows; its end is the whole text, whatever came of it before. */
export function withReply(state: Shown, fact: FactOf<'replying' | 'replied'>, atMs: number): Shown {
  const { transcript, earlier } = state;
  const { type, id, text, task } = fact;
  const streaming = type === 'replying';
  const at = transcript.findLastIndex((one) => one.id === id);
  const known = transcript[at];
  if (known === undefined) {
    const reply = { ...entry(id, 'assistant_message', text, atMs), streaming, ...compact({ task }) };
    const before = fact.type === 'replied' ? fact.before : undefined;
    const place = before === undefined ? -1 : transcript.findLastIndex((one) => one.id === before);
    // Where it was begun only its own process has seen.
    return inserted(state, reply, place < 0 ? transcript.length : place);
  }
  const content = fact.type === 'replying' && fact.isAnew !== true ? `${known.content ?? ''}${text}` : text;
  return {
    transcript: transcript.with(at, { ...known, content, streaming, updatedAtMs: atMs }),
    earlier,
  };
}

/** The fact that a reply is whole, with the place of its entry among those that are in the journal. */
export function repliedFact(
  { transcript }: Pick<Shown, 'transcript'>,
  { id, text, task }: Pick<FactOf<'replied'>, 'id' | 'text' | 'task'>,
): FactOf<'replied'> {
  const at = transcript.findLastIndex((one) => one.id === id);
  const next = at < 0 ? undefined : transcript.slice(at + 1).find(({ streaming }) => !streaming);
  return { type: 'replied', id, text, ...compact({ before: next?.id, task }) };
}

/** Facts that end all partial replies, in their order. */
export function brokenOff({ transcript }: Pick<Shown, 'transcript'>): readonly Fact[] {
  const open = transcript.filter(({ streaming }) => streaming);
  return open.map(({ id, content = '', task }) =>
    repliedFact({ transcript }, { id, text: content, ...compact({ task }) }),
  );
}

/** Adds a note, and its gate or outcome to the state. */
export function withNote(
  state: Pick<SessionState, 'transcript' | 'earlier' | 'gates'>,
  { id, text, title, gate, outcome }: FactOf<'noted'>,
  atMs: number,
): Partial<SessionState> {
  const note = {
    ...entry(id, 'info_note', text, atMs),
    ...(title === undefined ? {} : { title }),
    metadata: { ...(gate === undefined ? {} : { gate }), ...(outcome === undefined ? {} : { outcome }) },
  };
  return {
    ...appended(state, note),
    ...(gate === undefined ? {} : { gates: withGate(state.gates, gate) }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

/** The last word of each stage, in the order in which they were settled. */
function withGate(gates: readonly GateResult[], gate: GateResult): readonly GateResult[] {
  return [...gates.filter(({ stage }) => stage !== gate.stage), gate];
}

/** Ends partial replies and adds the reason of the end. */
export function withEnd(
  { transcript, earlier }: Shown,
  { turn, end, reason }: FactOf<'turn-ended'>,
  atMs: number,
): Shown {
  const isOpen = transcript.some(({ streaming }) => streaming);
  const ended = isOpen
    ? transcript.map((one) => (one.streaming ? { ...one, streaming: false } : one))
    : transcript;
  const shown = { transcript: ended, earlier };
  if (reason === undefined) return shown;
  const note = entry(`${turn}-end`, 'info_note', reason, atMs);
  return appended(shown, end === 'failed' ? { ...note, title: 'Failed' } : note);
}

/** Characters of a diff in a transcript; the patchset has more of it. */
const maxDiff = 32 * 1024;

/** Adds or updates a patchset; the change of a whole run is also a transcript entry. */
export function withPatchset(
  state: Pick<SessionState, 'patchsets'> & Shown,
  { patchset, isWhole }: FactOf<'patched'>,
  atMs: number,
): Pick<SessionState, 'patchsets'> & Partial<Shown> {
  const patchsets = withOne(state.patchsets, { ...patchset, updatedAtMs: atMs }, kept.patchsets);
  if (isWhole !== true) return { patchsets };
  const { transcript, earlier } = state;
  const shown = transcript.findLastIndex(({ metadata }) => metadata.patchset === patchset.id);
  const before = transcript[shown];
  // A settled change that is proposed again gets its own entry.
  if (before === undefined || (before.status !== 'proposed' && patchset.status === 'proposed'))
    return { patchsets, ...appended(state, diffEntry(patchset, atMs)) };
  const { id, createdAtMs } = before;
  const told = { ...diffEntry(patchset, atMs), id, createdAtMs };
  return { patchsets, transcript: transcript.with(shown, told), earlier };
}

/** Depends on the fact alone, so that a replay gives the same entry. */
function diffEntry(patchset: Omit<SessionPatchset, 'updatedAtMs'>, atMs: number): TranscriptEntry {
  const { id, status, changes } = patchset;
  const files = changes.length === 1 ? '1 file' : `${changes.length} files`;
  const { text, left } = bounded(changes.map(diffOf));
  return {
    ...entry(`diff-${id}-${atMs}`, 'diff', text, atMs),
    title: `${files} changed${left ? ', cut here' : ''}`,
    status,
    metadata: { patchset: id, ...(left ? { isCut: true } : {}) },
  };
}

/** Without lines (binary file, plain rename) the entry shows the name. */
function diffOf({ path, changeType, diff }: SessionPatchset['changes'][number]): string {
  return diff === undefined || diff === '' ? `--- ${changeType} ${path}\n` : withNewline(diff);
}

function withNewline(diff: string): string {
  return diff.endsWith('\n') ? diff : `${diff}\n`;
}

/** Whole lines, as many as fit. */
function bounded(diffs: readonly string[]): { readonly text: string; readonly left: boolean } {
  const whole = diffs.join('');
  if (whole.length <= maxDiff) return { text: whole, left: false };
  const end = whole.lastIndexOf('\n', maxDiff);
  return { text: whole.slice(0, end < 0 ? maxDiff : end + 1).toWellFormed(), left: true };
}

/** A new one at the end, or the same one as it is now; the oldest are let go of. */
export function withOne<T extends { readonly id: string }>(
  all: readonly T[],
  one: T,
  most: number,
): readonly T[] {
  if (all.some(({ id }) => id === one.id)) return all.map((known) => (known.id === one.id ? one : known));
  return [...all, one].slice(-most);
}

/** Adds or updates a tool call and its transcript entry. */
export function withTool(
  state: Pick<SessionState, 'toolCalls'> & Shown,
  { id, toolName, status, task, summary, details, output }: FactOf<'tool'>,
  atMs: number,
): Pick<SessionState, 'toolCalls'> & Shown {
  const { toolCalls, transcript, earlier } = state;
  const call: ToolCall = {
    id,
    toolName,
    status,
    ...compact({ task, summary, details }),
    updatedAtMs: atMs,
  };
  const known = toolCalls.findLastIndex((one) => one.id === id);
  if (known >= 0) {
    const shown = transcript.findLastIndex((one) => one.id === id);
    const before = transcript[shown];
    const calls = toolCalls.with(known, { ...toolCalls[known], ...call });
    return {
      toolCalls: output === undefined ? calls : withOutput(calls, id, output),
      transcript:
        before === undefined
          ? transcript
          : transcript.with(shown, {
              ...before,
              ...(summary === undefined ? {} : { content: summary }),
              status,
              updatedAtMs: atMs,
            }),
      earlier,
    };
  }
  const shown = { title: toolName, status, ...compact({ task }) };
  const told = { ...entry(id, 'tool_call', summary ?? '', atMs), ...shown };
  return { toolCalls: [...toolCalls, call].slice(-kept.toolCalls), ...appended(state, told) };
}

/** With what one of them printed; of the calls before the last ones that is let go of. */
export function withOutput(calls: readonly ToolCall[], id: string, output: string): readonly ToolCall[] {
  const others = calls.filter((one) => one.id !== id && one.output !== undefined);
  const over = new Set(others.slice(0, Math.max(0, others.length + 1 - kept.output)));
  return calls.map((one) => {
    if (one.id === id) return { ...one, output };
    if (!over.has(one)) return one;
    const { output: _, ...bare } = one;
    return bare;
  });
}

/** Calls with one more that a model has begun to write, or without it. */
export function withAnnounced(
  toolCalls: readonly ToolCall[],
  { id, toolName, task }: FactOf<'announced'>,
  updatedAtMs: number,
): readonly ToolCall[] {
  if (toolName === undefined) return toolCalls.filter((one) => one.id !== id || one.status !== 'preview');
  const call: ToolCall = { id, toolName, status: 'preview', ...compact({ task }), updatedAtMs };
  return withOne(toolCalls, call, kept.toolCalls);
}

/** Removes announced calls at the end of a turn. */
export function withoutAnnounced(toolCalls: readonly ToolCall[]): readonly ToolCall[] {
  return toolCalls.some(({ status }) => status === 'preview')
    ? toolCalls.filter(({ status }) => status !== 'preview')
    : toolCalls;
}
