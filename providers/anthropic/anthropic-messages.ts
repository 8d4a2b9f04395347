import type { AssistantMessage, ModelRequest, ToolResult } from '../../core/contract/model.ts';
import { argumentsAsObject } from '../wire/call-arguments.ts';
import { type Json, objectIn, textIn } from '../wire/json-parts.ts';
import { replayed } from '../wire/replayed.ts';

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Json[];
}

/** The conversation; what the user says stands in one message with the results before it, and after them. */
export function toMessages({ model, messages }: ModelRequest): readonly AnthropicMessage[] {
  const wire: AnthropicMessage[] = [];
  const toId = wireIds();
  let ids: readonly string[] = [];
  const add = (role: AnthropicMessage['role'], content: readonly Json[]): void => {
    const last = wire.at(-1);
    if (content.length === 0) return;
    if (role === 'user' && last?.role === 'user')
      wire[wire.length - 1] = { role, content: [...last.content, ...content] };
    else wire.push({ role, content });
  };
  for (const message of messages) {
    if (message.role === 'user') add('user', textBlocks(message.text));
    else if (message.role === 'tool')
      add(
        'user',
        message.results.map((result, place) => toResult(result, ids[place] ?? result.callId)),
      );
    else {
      const content = blocksOf(message, model, toId);
      ids = content.flatMap(({ type, id }) => (type === 'tool_use' ? [textIn(id)] : []));
      add('assistant', content);
    }
  }
  return wire;
}

/** Text without anything in it is refused. */
function textBlocks(text: string): readonly Json[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** As they came, where they came from this model: the vendor checks what it signed. */
function blocksOf(message: AssistantMessage, model: string, toId: ToId): readonly Json[] {
  const kept = replayed(message.state, 'anthropic', model);
  if (Array.isArray(kept) && kept.every((block) => objectIn(block))) {
    for (const { type, id } of kept as readonly Json[]) if (type === 'tool_use') toId(textIn(id), true);
    return kept as readonly Json[];
  }
  return [
    ...textBlocks(message.text),
    ...message.calls.map(({ id, name, arguments: given }) => ({
      type: 'tool_use',
      id: toId(id, false),
      name,
      input: argumentsAsObject(given),
    })),
  ];
}

function toResult({ text, isError }: ToolResult, id: string): Json {
  // An error without a word is refused.
  const content = isError && text.trim() === '' ? '(no output)' : text;
  return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
}

type ToId = (given: string, isOwn: boolean) => string;

/** Ids as the vendor wants them, `[a-zA-Z0-9_-]+` and no two alike in a conversation; its own stay as they are. */
function wireIds(): ToId {
  const taken = new Set<string>();
  return (given, isOwn) => {
    const plain = given.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 48) || 'call';
    let id = isOwn ? given : plain;
    for (let next = 2; !isOwn && taken.has(id); next += 1) id = `${plain}-${next}`;
    taken.add(id);
    return id;
  };
}
