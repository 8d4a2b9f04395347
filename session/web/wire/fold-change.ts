/* Applies an event of a session to the snapshot of the page. */
import type { Seen } from '../seen.ts';

/** One event of the second wire (docs/session-events.md). */
export interface Change {
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: string;
}

const listOf = {
  transcript_entry: 'transcript',
  plan: 'plans',
  task: 'tasks',
  tool_call: 'toolCalls',
  patchset: 'patchsets',
  interaction: 'interactions',
} as const;

/** Kinds of events that the page knows; others change nothing that it shows. */
export const changeKinds = [
  'resync',
  'text_delta',
  'element_removed',
  'member_removed',
  'status_changed',
  'controller_changed',
  'session_changed',
  ...Object.keys(listOf),
] as const;

interface Element {
  readonly id: string;
}

/**
 * What is seen after a change: pure, and what a change leaves alone is the same object. `undefined` before the first
 * `resync`.
 */
export function foldChange(seen: Seen | undefined, { kind, payload, at }: Change): Seen | undefined {
  if (kind === 'resync') return payload.snapshot as Seen;
  if (seen === undefined) return undefined;
  if (kind === 'text_delta') return { ...seen, ...withText(seen, payload, at), updatedAt: at };
  if (kind === 'element_removed') return { ...seen, ...without(seen, payload), updatedAt: at };
  if (kind === 'member_removed') return { ...withoutMember(seen, payload), updatedAt: at };
  const list = listOf[kind as keyof typeof listOf];
  if (list !== undefined) return { ...seen, [list]: withElement(seen[list], payload), updatedAt: at };
  if (/^(?:status|controller|session)_changed$/.test(kind)) return { ...seen, ...payload, updatedAt: at };
  return seen;
}

function withText({ transcript }: Seen, { id, text }: Change['payload'], at: string): Partial<Seen> {
  const place = transcript.findLastIndex((one) => one.id === id);
  const entry = transcript[place];
  if (entry === undefined || typeof text !== 'string') return {};
  return {
    transcript: transcript.with(place, {
      ...entry,
      content: `${entry.content ?? ''}${text}`,
      updatedAt: at,
    }),
  };
}

function without(seen: Seen, { list, id }: Change['payload']): Partial<Seen> {
  const name = Object.values(listOf).find((one) => one === list);
  if (name === undefined) return {};
  const elements: readonly Element[] = seen[name];
  return { [name]: elements.filter((one) => one.id !== id) };
}

function withoutMember(seen: Seen, { member }: Change['payload']): Seen {
  return Object.fromEntries(Object.entries(seen).filter(([name]) => name !== member)) as unknown as Seen;
}

function withElement(elements: readonly Element[], payload: Change['payload']): readonly unknown[] {
  const place = elements.findLastIndex(({ id }) => id === payload.id);
  return place < 0 ? [...elements, payload] : elements.with(place, payload as unknown as Element);
}
