import type { Fact } from './fact.ts';
import { kept, type SessionState, type TranscriptEntry } from './state.ts';
import type { GateResult } from './work.ts';

export type Shown = Pick<SessionState, 'transcript' | 'earlier'>;

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
  // Half a reply is in no journal: it is counted where its end stands.
  const gone = grown.slice(0, over).filter(({ streaming }) => !streaming);
  return { transcript: grown.slice(over), earlier: earlier + gone.length };
}

/** A reply under way is one entry that grows; its end is the whole text, whatever came of it before. */
export function withReply(
  state: Shown,
  fact: Extract<Fact, { type: 'replying' | 'replied' }>,
  atMs: number,
): Shown {
  const { transcript, earlier } = state;
  const { type, id, text } = fact;
  const streaming = type === 'replying';
  const at = transcript.findLastIndex((one) => one.id === id);
  const known = transcript[at];
  if (known === undefined) {
    const reply = { ...entry(id, 'assistant_message', text, atMs), streaming };
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
  { id, text }: { readonly id: string; readonly text: string },
): Extract<Fact, { readonly type: 'replied' }> {
  const at = transcript.findLastIndex((one) => one.id === id);
  const next = at < 0 ? undefined : transcript.slice(at + 1).find(({ streaming }) => !streaming);
  return { type: 'replied', id, text, ...(next === undefined ? {} : { before: next.id }) };
}

/** Replies that nobody will end, as far as they came, in their order. */
export function brokenOff({ transcript }: Pick<Shown, 'transcript'>): readonly Fact[] {
  const open = transcript.filter(({ streaming }) => streaming);
  return open.map(({ id, content = '' }) => repliedFact({ transcript }, { id, text: content }));
}

/** What a note tells as data stands with it, and with the session as what holds last. */
export function withNote(
  state: Pick<SessionState, 'transcript' | 'earlier' | 'gates'>,
  { id, text, title, gate, outcome }: Extract<Fact, { type: 'noted' }>,
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

/** No reply goes on behind its turn; why the turn ended stands below it, and that it failed. */
export function withEnd(
  { transcript, earlier }: Shown,
  { turn, end, reason }: Extract<Fact, { type: 'turn-ended' }>,
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
