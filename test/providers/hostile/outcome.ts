import { isWritError } from '../../../core/base/errors.ts';
import { failureKinds, type ModelEvent, type ModelRequest } from '../../../core/interfaces/model.ts';
import type { Provider } from '../../../core/interfaces/provider.ts';

/** What came of a question: a reply, no reply, or what must never come of it. */
export type Outcome =
  | { readonly is: 'reply'; readonly events: readonly ModelEvent[] }
  | { readonly is: 'failed'; readonly kind: string; readonly text: string }
  | { readonly is: 'unsound'; readonly why: string };

const ends = ['stop', 'calls', 'length', 'paused', 'refused', 'filtered'];

/** Asks, and judges the answer by the contract of `Provider` alone. Texts are let go as they come. */
export async function outcomeOf(provider: Provider, request: ModelRequest): Promise<Outcome> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of provider.ask(request, new AbortController().signal)) {
      const why = faultOf(event, events);
      if (why !== undefined) return { is: 'unsound', why: `${why}: ${JSON.stringify(event).slice(0, 200)}` };
      if (event.type !== 'text' && event.type !== 'reasoning') events.push(event);
    }
    JSON.stringify(events);
  } catch (thrown) {
    return faultOfFailure(thrown);
  }
  if (events.at(-1)?.type !== 'end') return { is: 'unsound', why: 'it ends without an end' };
  return { is: 'reply', events };
}

function faultOf(event: ModelEvent, before: readonly ModelEvent[]): string | undefined {
  if (before.at(-1)?.type === 'end') return 'something after the end';
  if (event.type === 'end') return ends.includes(event.end) ? undefined : 'an end that is none';
  if (event.type === 'usage') {
    const counts = Object.values(event.usage);
    return counts.every((count) => Number.isSafeInteger(count) && count >= 0)
      ? undefined
      : 'counts that are none';
  }
  if (event.type === 'call') {
    const { id, name, arguments: given } = event.call;
    if ([id, name, given].some((text) => typeof text !== 'string')) return 'a call that is no text';
    if (id === '') return 'a call without an id';
    return before.some((other) => other.type === 'call' && other.call.id === id) ? 'an id twice' : undefined;
  }
  if (event.type === 'asked')
    return /^[\x21-\x7e]{1,128}$/.test(event.requestId) ? undefined : 'an id of the question that is none';
  if (event.type === 'calling') return event.name === '' ? 'a call without a name' : undefined;
  if (event.type === 'reasoned') return undefined;
  return typeof event.text === 'string' && event.text !== '' ? undefined : 'text that is none';
}

function faultOfFailure(thrown: unknown): Outcome {
  if (!isWritError(thrown, 'PROVIDER_FAILED')) return { is: 'unsound', why: String(thrown) };
  const { kind, status, retryAfterSeconds: wait = 0 } = thrown.detail;
  if (!failureKinds.includes(kind as never)) return { is: 'unsound', why: `no kind: ${String(kind)}` };
  if (typeof wait !== 'number' || !(wait >= 0 && wait <= 86_400))
    return { is: 'unsound', why: `no wait: ${wait}` };
  if (status !== undefined && typeof status !== 'number') return { is: 'unsound', why: 'no status' };
  return { is: 'failed', kind: kind as string, text: JSON.stringify([thrown.message, thrown.detail]) };
}
