import { parseCount, parseText, parseWord, toFields } from '../../../core/base/parse-fields.ts';
import type { ModelEvent, ModelUsage, ToolCall } from '../../../core/contract/model.ts';

const maxText = 8 * 1024 * 1024;
const maxCalls = 128;
const types = ['text', 'reasoning', 'calling', 'call', 'usage', 'notice', 'asked', 'end'] as const;
const ends = ['stop', 'calls', 'length', 'refused', 'filtered'] as const;
const usageFields = ['input', 'output', 'cachedInput', 'reasoning'] as const;

/**
 * Reads the events of one reply, each as it comes: of a known form, calls that can be told apart, `end` last. Throws
 * what is wrong with one.
 */
export function modelEventReader(): { take(value: unknown): ModelEvent; finish(): void } {
  const ids = new Set<string>();
  let ended = false;
  return {
    take(value) {
      if (ended) throw new TypeError('expected `end` to be the last event');
      const event = parseEvent(value);
      if (event.type === 'call') {
        if (ids.has(event.call.id)) throw new TypeError('expected calls with an `id` of their own');
        ids.add(event.call.id);
        if (ids.size > maxCalls) throw new RangeError(`expected at most ${maxCalls} calls in one message`);
      }
      ended ||= event.type === 'end';
      return event;
    },
    finish() {
      if (!ended) throw new TypeError('expected `end`, the reply has none');
    },
  };
}

function parseEvent(value: unknown): ModelEvent {
  const type = parseWord(toFields(value, 'an event'), 'type', types);
  if (type === 'call') {
    const { call } = toFields(value, 'an event `call`', ['type', 'call']);
    return { type, call: parseCall(call) };
  }
  if (type === 'calling') {
    const fields = toFields(value, 'an event `calling`', ['type', 'name']);
    return { type, name: parseText(fields, 'name', 512) };
  }
  if (type === 'usage') {
    const { usage } = toFields(value, 'an event `usage`', ['type', 'usage']);
    return { type, usage: parseUsage(usage) };
  }
  if (type === 'asked') {
    const fields = toFields(value, 'an event `asked`', ['type', 'requestId']);
    const requestId = parseText(fields, 'requestId', 200);
    if (!/^[\x21-\x7e]+$/.test(requestId))
      throw new TypeError('expected `requestId` in visible ASCII, without blanks');
    return { type, requestId };
  }
  if (type === 'end') {
    const fields = toFields(value, 'an event `end`', ['type', 'end', 'state']);
    const { state } = fields;
    return { type, end: parseWord(fields, 'end', ends), ...(state === undefined ? {} : { state }) };
  }
  const fields = toFields(value, `an event \`${type}\``, ['type', 'text']);
  return { type, text: parseText(fields, 'text', type === 'notice' ? 1000 : maxText, 0) };
}

function parseCall(value: unknown): ToolCall {
  const fields = toFields(value, 'a call', ['id', 'name', 'arguments']);
  return {
    id: parseText(fields, 'id', 512),
    name: parseText(fields, 'name', 512),
    arguments: parseText(fields, 'arguments', maxText, 0),
  };
}

function parseUsage(value: unknown): ModelUsage {
  const fields = toFields(value, 'usage', usageFields);
  const counted = usageFields.filter(
    (field) => fields[field] !== undefined || field === 'input' || field === 'output',
  );
  return Object.fromEntries(
    counted.map((field) => [field, parseCount(fields, field, 0)]),
  ) as unknown as ModelUsage;
}
