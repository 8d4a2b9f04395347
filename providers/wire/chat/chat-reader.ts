import type { FailureKind, ModelEvent, ReplyEnd } from '../../../core/contract/model.ts';
import { jsonIn } from '../call-arguments.ts';
import { callIds } from '../call-ids.ts';
import { countIn, listIn, objectIn, partsOf, textIn } from '../json-parts.ts';
import { rowOf } from '../row-of.ts';
import { usageEvent } from '../usage-event.ts';
import { brokenReply, endOf, maxCalls, SaidFailureError, type WireReader } from '../wire-format.ts';

export interface ChatReaderOptions {
  /** Whether the reasoning goes back with the message: then it is its state. */
  readonly keepsReasoning: boolean;
  /** Told where a reply says that it calls, and calls nothing. */
  lostCalls?(): void;
}

interface CallParts {
  /** Place among the calls of the message: the vendor's index, else the order in which they come. */
  readonly at: number;
  id: string;
  name: string;
  readonly parts: string[];
  /** A piece came without a name, or with whole arguments: the name once more begins another call. */
  isNamedOnce: boolean;
}

const ends: Readonly<Record<string, ReplyEnd>> = {
  stop: 'stop',
  // What servers and gateways pass on of a model's own words.
  end_turn: 'stop',
  stop_sequence: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  complete: 'stop',
  completed: 'stop',
  tool_calls: 'calls',
  tool_use: 'calls',
  function_call: 'calls',
  length: 'length',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'filtered',
  sensitive: 'filtered',
};

/** Ends that say that the vendor gave up. */
const breaks: Readonly<Record<string, FailureKind>> = {
  insufficient_system_resource: 'overloaded',
  network_error: 'server',
  error: 'server',
};

/** A reply in the chat dialect: chunks with deltas, or one whole completion. */
export function chatReader({ keepsReasoning, lostCalls }: ChatReaderOptions): WireReader {
  const calls = openCalls();
  const reasoning: string[] = [];
  let finish = '';
  let refused = false;
  return {
    *take(frame) {
      const { choices, usage } = partsOf(frame);
      const [choice] = listIn(choices);
      const { delta, message, finish_reason: reason, usage: beside } = partsOf(choice);
      // Some vendors count in the choice.
      const told = toUsage(usage) ?? toUsage(beside);
      if (told) yield told;
      const part = partsOf(delta ?? message);
      const thought =
        textIn(part.reasoning_content) || textIn(part.reasoning) || partsIn(part.content, 'thinking');
      if (thought !== '') {
        reasoning.push(thought);
        yield { type: 'reasoning', text: thought };
      }
      refused ||= textIn(part.refusal) !== '';
      const text = textIn(part.content) || partsIn(part.content, 'text') || textIn(part.refusal);
      if (text !== '') yield { type: 'text', text };
      const begun = calls.take(listIn(part.tool_calls), delta === undefined);
      // Of a whole completion nothing is still to come.
      if (delta !== undefined) for (const name of begun) yield { type: 'calling', name };
      finish ||= textIn(reason).toLowerCase();
    },
    progress: () => (finish === '' ? 'begun' : 'ending'),
    *finish() {
      if (finish === '') throw brokenReply('the stream ended in the middle of the reply');
      const broken = rowOf(breaks, finish);
      if (broken) throw new SaidFailureError({ kind: broken, found: finish });
      if (rowOf(ends, finish) === 'calls' && calls.all.length === 0) {
        lostCalls?.();
        throw brokenReply('it says that it calls, and calls nothing');
      }
      const said = refused ? 'refused' : endOf(ends, finish);
      const toId = callIds();
      yield* calls.all.toSorted((one, other) => one.at - other.at).map((call) => toCall(call, toId));
      const end = calls.all.length > 0 && said === 'stop' ? 'calls' : said;
      const state = reasoning.join('');
      yield { type: 'end', end, ...(keepsReasoning && state !== '' ? { state } : {}) };
    },
  };
}

/** Text of a content in parts, such as `{type: 'text', text}` and `{type: 'thinking', thinking: […]}`. */
function partsIn(content: unknown, kind: 'text' | 'thinking'): string {
  return listIn(content)
    .map(partsOf)
    .filter(({ type }) => type === kind)
    .map((part) => textIn(part[kind]) || partsIn(part[kind], 'text'))
    .join('');
}

/** The calls of one message out of their pieces. */
function openCalls(): {
  /** Takes the pieces of one frame; answers the names of calls that begin or go on in them. */
  take(pieces: readonly unknown[], areWhole: boolean): readonly string[];
  readonly all: readonly CallParts[];
} {
  const all: CallParts[] = [];
  const byIndex = new Map<number, CallParts>();
  const begin = (index: number | undefined): CallParts => {
    const call = { at: index ?? all.length, id: '', name: '', parts: [], isNamedOnce: false };
    all.push(call);
    if (index !== undefined) byIndex.set(index, call);
    if (all.length > maxCalls) throw brokenReply(`more than ${maxCalls} calls in one message`);
    return call;
  };
  const take = (value: unknown, isWhole: boolean, isNextWithoutIndex: boolean): string => {
    const { index: given, id: givenId, function: called } = partsOf(value);
    const { name: givenName, arguments: givenArgs } = partsOf(called);
    // Some servers answer with the object itself.
    const args = objectIn(givenArgs) ? JSON.stringify(givenArgs) : textIn(givenArgs);
    const index = countIn(given);
    const id = textIn(givenId);
    const name = textIn(givenName);
    const before = index === undefined ? all.at(-1) : byIndex.get(index);
    const isOther =
      before === undefined ||
      isWhole ||
      // Some servers give each piece of one call a new id: a piece that begins a call has a name.
      (id !== '' && before.id !== '' && id !== before.id && typeof givenName === 'string') ||
      (name !== '' && name !== before.name && before.parts.length > 0) ||
      (name !== '' && before.isNamedOnce && args !== '' && (id === '' || id !== before.id)) ||
      (index === undefined && isNextWithoutIndex);
    const call = isOther ? begin(index) : before;
    call.id ||= id;
    // A name may come in pieces, or whole with each piece.
    const isNew = name !== '' && name !== call.name;
    if (isNew) call.name += name;
    if (args !== '') call.parts.push(args);
    call.isNamedOnce ||= args !== '' && (name === '' || objectIn(jsonIn(args)) !== undefined);
    return isNew ? call.name : '';
  };
  return {
    all,
    take: (pieces, areWhole) =>
      pieces.map((piece, place) => take(piece, areWhole, place > 0)).filter((name) => name !== ''),
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
