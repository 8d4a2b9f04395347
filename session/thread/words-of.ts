import type { JournalRecord } from '../../store/parse-journal.ts';
import { kept, type TranscriptEntry } from '../state/state.ts';
import { factsType } from './open-thread.ts';

/** What was said in a thread: the last entries of its transcript, and how many came before. */
export interface ThreadWords {
  readonly transcript: readonly TranscriptEntry[];
  readonly earlier: number;
}

/**
 * The words of records that anybody may have written: messages, replies, notes and names of tools, each of a form that
 * was looked at. Nothing else is taken from them, no approval, no plan, nobody's name. Pure; damage is passed over.
 */
export function wordsOf(records: readonly Pick<JournalRecord, 'type' | 'data'>[]): ThreadWords {
  const all = records.flatMap(({ type, data }) =>
    type === factsType && Array.isArray(data) ? data.flatMap(toEntry) : [],
  );
  const transcript = all.slice(-kept.transcript);
  return { transcript, earlier: all.length - transcript.length };
}

const kinds = { said: 'user_message', replied: 'assistant_message', noted: 'info_note' } as const;

function toEntry(fact: unknown): readonly TranscriptEntry[] {
  const { type, id, text, toolName, status, atMs } = (fact ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || !isTime(atMs)) return [];
  const entry = { id, streaming: false, metadata: {}, createdAtMs: atMs, updatedAtMs: atMs };
  if ((type === 'said' || type === 'replied' || type === 'noted') && typeof text === 'string')
    return [{ ...entry, kind: kinds[type], content: text }];
  // Each call is told once, and how it ended is nothing to believe.
  const isCall = type === 'tool' && (status === 'preview' || status === 'running');
  return isCall && typeof toolName === 'string' ? [{ ...entry, kind: 'tool_call', title: toolName }] : [];
}

const lastTime = 8.64e15;

/** Milliseconds since the epoch that a date can be made of. */
export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= lastTime;
}
