import type { ModelEvent, ReplyEnd } from '../../core/contract/model.ts';
import { callIds } from '../wire/call-ids.ts';
import { countIn, type Json, listIn, objectIn, partsOf, textIn } from '../wire/json-parts.ts';
import { rowOf } from '../wire/row-of.ts';
import { brokenReply, endOf, SaidFailureError, type WireReader } from '../wire/wire-format.ts';
import { openaiFailure } from './openai-failure.ts';
import { canGoBack } from './responses-input.ts';
import { responsesUsage } from './responses-usage.ts';

/** Pieces of a part of an item: which event they are, and whether they are words of the reply or of its reasoning. */
const deltas: Readonly<Record<string, 'text' | 'reasoning'>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'text',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
};

/** Parts of an item that has come whole, and the field in which their words are. */
const words: Readonly<Record<string, string>> = {
  output_text: 'text',
  refusal: 'refusal',
  summary_text: 'text',
  reasoning_text: 'text',
};

/** Why a reply is incomplete. */
const cuts: Readonly<Record<string, ReplyEnd>> = {
  max_output_tokens: 'length',
  max_tokens: 'length',
  content_filter: 'filtered',
};

/** Items of one reply: calls, each with reasoning before it, and messages between them. */
const maxItems = 1024;

/**
 * A reply of `/responses`: its items as they are done; pieces only so that somebody sees them come. A whole document is
 * read as the last event of a stream.
 */
export function responsesReader(): WireReader {
  let items: Json[] = [];
  /** Items of which pieces have come, and the part of the last one. */
  const pieces = new Map<string, unknown>();
  let refused = false;
  let last: { readonly isWhole: boolean; readonly why: string } | undefined;

  function* takePiece(event: Json, type: 'text' | 'reasoning'): Iterable<ModelEvent> {
    const delta = textIn(event.delta);
    if (delta === '') return;
    const place = placeOf(event.output_index, event.item_id);
    const part = event.summary_index ?? event.content_index;
    const isNext = type === 'reasoning' && pieces.has(place) && pieces.get(place) !== part;
    pieces.set(place, part);
    yield { type, text: isNext ? `\n\n${delta}` : delta };
  }

  function* takeItem(item: Json, place: string): Iterable<ModelEvent> {
    items.push(item);
    if (items.length > maxItems) throw brokenReply(`more than ${maxItems} items in one reply`);
    const isReasoning = item.type === 'reasoning';
    const parts = [...(isReasoning ? listIn(item.summary) : []), ...listIn(item.content)].map(partsOf);
    refused ||= parts.some(({ type }) => type === 'refusal');
    if (pieces.has(place)) return;
    const told = parts.map((part) => textIn(part[rowOf(words, textIn(part.type)) ?? '']));
    const text = told.filter((one) => one !== '').join(isReasoning ? '\n\n' : '');
    if (text !== '') yield { type: isReasoning ? 'reasoning' : 'text', text };
  }

  return {
    *take(frame, name) {
      if (last !== undefined) return;
      const event = partsOf(frame);
      const type =
        event.object === 'response' ? `response.${textIn(event.status)}` : textIn(event.type) || name;
      const response = event.object === 'response' ? event : partsOf(event.response);
      const piece = rowOf(deltas, type);
      if (piece !== undefined) yield* takePiece(event, piece);
      refused ||= type === 'response.refusal.delta';
      if (type === 'response.output_item.added') {
        const { type: kind, name: called } = partsOf(event.item);
        const begins = kind === 'function_call' ? textIn(called) : '';
        if (begins !== '') yield { type: 'calling', name: begins };
      }
      if (type === 'response.output_item.done') {
        const item = partsOf(event.item);
        yield* takeItem(item, placeOf(event.output_index, item.id));
      }
      if (type === 'error')
        throw new SaidFailureError(openaiFailure(undefined, { error: objectIn(event.error) ?? event }));
      if (type === 'response.failed' || type === 'response.cancelled')
        throw new SaidFailureError(openaiFailure(undefined, response));
      if (type !== 'response.completed' && type !== 'response.incomplete') return;
      if (items.length === 0)
        for (const [place, item] of listIn(response.output).entries())
          yield* takeItem(partsOf(item), String(place));
      const usage = responsesUsage(partsOf(response.usage));
      if (usage) yield { type: 'usage', usage };
      last = {
        isWhole: type === 'response.completed',
        why: textIn(partsOf(response.incomplete_details).reason),
      };
    },
    progress: () => (last === undefined ? 'begun' : 'whole'),
    *finish() {
      if (last === undefined) throw brokenReply('the stream ended in the middle of the reply');
      // A call that was cut is none.
      items = items.filter((item) => item.status !== 'incomplete' || item.type !== 'function_call');
      const toId = callIds();
      let calls = 0;
      let isNamed = true;
      for (const { type, call_id: given, name, arguments: text } of items) {
        if (type !== 'function_call') continue;
        const id = toId(textIn(given));
        calls += 1;
        isNamed &&= id === given;
        yield { type: 'call', call: { id, name: textIn(name), arguments: textIn(text) || '{}' } };
      }
      const end: ReplyEnd = last.isWhole
        ? refused
          ? 'refused'
          : calls > 0
            ? 'calls'
            : 'stop'
        : endOf(cuts, last.why || 'max_output_tokens');
      yield { type: 'end', end, ...(last.isWhole && isNamed && canGoBack(items) ? { state: items } : {}) };
    },
  };
}

/** What pieces and their item have in common; a vendor may put anything there. */
function placeOf(index: unknown, id: unknown): string {
  return String(countIn(index) ?? textIn(id));
}
