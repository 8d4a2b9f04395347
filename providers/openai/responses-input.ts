import type { ModelMessage, ModelRequest } from '../../core/contract/model.ts';
import type { Json } from '../wire/json-parts.ts';
import { objectIn } from '../wire/json-parts.ts';
import { replayed } from '../wire/replayed.ts';
import { shortName } from './short-name.ts';

/** The conversation as input items. A reply of this model goes back as the items that it came as. */
export function toInput({ messages, model }: ModelRequest): readonly Json[] {
  return messages.flatMap((message) => toItems(message, model));
}

function toItems(message: ModelMessage, model: string): readonly Json[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'tool')
    return message.results.map(({ callId, text }) => ({
      type: 'function_call_output',
      call_id: shortName(callId),
      output: text,
    }));
  const { text, calls, state } = message;
  const items = replayed(state, 'openai', model);
  // Kept under the chat dialect, it is text.
  if (Array.isArray(items) && items.every((item) => objectIn(item) !== undefined)) return items;
  return [
    ...(text === '' ? [] : [{ role: 'assistant', content: text }]),
    ...calls.map(({ id, name, arguments: given }) => ({
      type: 'function_call',
      call_id: shortName(id),
      name,
      arguments: given,
    })),
  ];
}

/**
 * Whether items can go back as they are to a vendor that stored none of them: reasoning has to be encrypted, and to
 * stand before something; calls have to have the ids under which they will be answered.
 */
export function canGoBack(items: readonly Json[]): boolean {
  return (
    items.length > 0 &&
    items.at(-1)?.type !== 'reasoning' &&
    items.every(({ type, encrypted_content: encrypted, call_id: id }) => {
      if (type === 'reasoning') return typeof encrypted === 'string' && encrypted !== '';
      if (type === 'function_call') return typeof id === 'string' && id === shortName(id);
      return type === 'message';
    })
  );
}
