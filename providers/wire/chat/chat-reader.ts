import type { FailureKind, ModelEvent, ReplyEnd } from '../../../core/contract/model.ts';
import { callIds } from '../call-ids.ts';
import { countIn, listIn, objectIn, partsOf, textIn } from '../json-parts.ts';
import { rowOf } from '../row-of.ts';
import { saysFailure } from '../said-failure.ts';
import { usageEvent } from '../usage-event.ts';
import {
  brokenReply,
  maxCalls,
  type SaidFailure,
  SaidFailureError,
  type WireReader,
} from '../wire-format.ts';

export interface ChatReaderOptions {
  /** What an `error` in the middle of a reply means. */
  failureOf(frame: unknown): SaidFailure;
  /** Whether the reasoning goes back with the message: then it is its state. */
  readonly keepsReasoning: boolean;
  /** Told where a reply says that it calls, and calls nothing. */
  lostCalls?(): void;
}

interface CallParts {
  id: string;
  name: string;
  readonly parts: string[];
}

const ends: Readonly<Record<string, ReplyEnd>> = {
  stop: 'stop',
  tool_calls: 'calls',
  function_call: 'calls',
  length: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'filtered',
  sensitive: 'filtered',
};

/** Ends that say that the vendor gave up. */
const breaks: Readonly<Record<string, FailureKind>> = {
  insufficient_system_resource: 'overloaded',
  network_error: 'server',
};

/** A reply in the chat dialect: chunks with deltas, or one whole completion. */
export function chatReader({ failureOf, keepsReasoning, lostCalls }: ChatReaderOptions): WireReader {
  const calls = new Map<number, CallParts>();
  const reasoning: string[] = [];
  let finish = '';
  let refused = false;
  /** Answers the name of a call that begins with this piece. */
  const takeCall = (value: unknown, place: number): string => {
    const { index, id, function: named } = partsOf(value);
    const { name, arguments: given } = partsOf(named);
    const at = countIn(index) ?? place;
    const call = calls.get(at) ?? { id: '', name: '', parts: [] };
    calls.set(at, call);
    if (calls.size > maxCalls) throw brokenReply(`more than ${maxCalls} calls in one message`);
    call.id ||= textIn(id);
    const begins = call.name === '' ? textIn(name) : '';
    call.name ||= begins;
    if (typeof given === 'string') call.parts.push(given);
    // Some servers answer with the object itself.
    else if (objectIn(given)) call.parts.push(JSON.stringify(given));
    return begins;
  };
  return {
    *take(frame) {
      if (saysFailure(frame)) throw new SaidFailureError(failureOf(frame));
      const { choices, usage } = partsOf(frame);
      const [choice] = listIn(choices);
      const { delta, message, finish_reason: reason, usage: beside } = partsOf(choice);
      // Some vendors count in the choice.
      const told = toUsage(usage) ?? toUsage(beside);
      if (told) yield told;
      const part = partsOf(delta ?? message);
      const thought = textIn(part.reasoning_content) || textIn(part.reasoning);
      if (thought !== '') {
        reasoning.push(thought);
        yield { type: 'reasoning', text: thought };
      }
      refused ||= textIn(part.refusal) !== '';
      const text = textIn(part.content) || textIn(part.refusal);
      if (text !== '') yield { type: 'text', text };
      const begun = listIn(part.tool_calls).map(takeCall);
      // Of a whole completion nothing is still to come.
      if (delta !== undefined) for (const name of begun) if (name !== '') yield { type: 'calling', name };
      finish ||= textIn(reason);
    },
    *finish() {
      if (finish === '') throw brokenReply('the stream ended in the middle of the reply');
      const broken = rowOf(breaks, finish);
      if (broken) throw new SaidFailureError({ kind: broken, found: finish });
      if (finish === 'tool_calls' && calls.size === 0) {
        lostCalls?.();
        throw brokenReply('it says that it calls, and calls nothing');
      }
      const toId = callIds();
      yield* [...calls].sort(([one], [other]) => one - other).map(([, call]) => toCall(call, toId));
      const end = refused
        ? 'refused'
        : calls.size > 0 && finish === 'stop'
          ? 'calls'
          : (rowOf(ends, finish) ?? 'stop');
      const state = reasoning.join('');
      yield { type: 'end', end, ...(keepsReasoning && state !== '' ? { state } : {}) };
    },
  };
}

function toCall({ id, name, parts }: CallParts, toId: (given: string) => string): ModelEvent {
  const given = parts.join('');
  return { type: 'call', call: { id: toId(id), name, arguments: given === '' ? '{}' : given } };
}

function toUsage(value: unknown): ModelEvent | undefined {
  const usage = objectIn(value);
  const input = countIn(usage?.prompt_tokens);
  const output = countIn(usage?.completion_tokens);
  if (usage === undefined || input === undefined || output === undefined) return undefined;
  const cached =
    countIn(partsOf(usage.prompt_tokens_details).cached_tokens) ??
    countIn(usage.prompt_cache_hit_tokens) ??
    countIn(usage.cached_tokens);
  const thought = countIn(partsOf(usage.completion_tokens_details).reasoning_tokens);
  return usageEvent(input, output, cached, thought);
}
