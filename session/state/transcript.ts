import type { Fact } from './fact.ts';
import { kept, type SessionState, type TranscriptEntry } from './state.ts';

export type Shown = Pick<SessionState, 'transcript' | 'earlier'>;

export function entry(
  id: string,
  kind: TranscriptEntry['kind'],
  content: string,
  atMs: number,
): TranscriptEntry {
  return { id, kind, content, streaming: false, metadata: {}, createdAtMs: atMs, updatedAtMs: atMs };
}

export function appended({ transcript, earlier }: Shown, one: TranscriptEntry): Shown {
  const over = Math.max(0, transcript.length + 1 - kept.transcript);
  return {
    transcript: [...(over === 0 ? transcript : transcript.slice(over)), one],
    earlier: earlier + over,
  };
}

/** A reply under way is one entry that grows; its end is the whole text, whatever came of it before. */
export function withReply(
  state: SessionState,
  { type, id, text }: Extract<Fact, { type: 'replying' | 'replied' }>,
  atMs: number,
): Shown {
  const { transcript, earlier } = state;
  const streaming = type === 'replying';
  // Tasks that are worked side by side reply side by side.
  const from = Math.max(0, transcript.length - kept.replies);
  const within = transcript.slice(from).findLastIndex((one) => one.id === id);
  const at = within < 0 ? transcript.length : from + within;
  const known = transcript[at];
  if (known === undefined)
    return appended(state, { ...entry(id, 'assistant_message', text, atMs), streaming });
  const content = streaming ? `${known.content ?? ''}${text}` : text;
  return {
    transcript: transcript.with(at, { ...known, content, streaming, updatedAtMs: atMs }),
    earlier,
  };
}

/** No reply goes on behind its turn; why the turn ended stands below it. */
export function withEnd(
  { transcript, earlier }: Shown,
  { turn, reason }: Extract<Fact, { type: 'turn-ended' }>,
  atMs: number,
): Shown {
  const isOpen = transcript.slice(-kept.replies).some(({ streaming }) => streaming);
  const ended = isOpen
    ? transcript.map((one) => (one.streaming ? { ...one, streaming: false } : one))
    : transcript;
  const shown = { transcript: ended, earlier };
  return reason === undefined ? shown : appended(shown, entry(`${turn}-end`, 'info_note', reason, atMs));
}
