/* Reads one content block of a streamed Anthropic reply. */
import type { ModelEvent, ToolCall } from '../../core/interfaces/model.ts';
import { argumentsAsObject, jsonIn } from '../wire/read-frame.ts';
import { type Json, objectIn, textIn } from '../wire/wire-format.ts';

/** A content block as it comes. */
export interface Block {
  /** Adds a delta; returns the events for its new content. */
  add(delta: Json): readonly ModelEvent[];
  /** Returns the block's call; `undefined` if its end is missing. Absent for other kinds of block. */
  readonly call?: (toId: (given: string) => string, isCut: boolean) => ToolCall | undefined;
  /**
   * Returns the block to send back, with everything that the vendor signs; `undefined` if the vendor would refuse it.
   */
  kept(call: ToolCall | undefined): Json | undefined;
}

/**
 * Opens a block from its start event, which may contain the whole block; `undefined` for a kind that was not
 * requested.
 */
export function openBlock(start: Json): Block | undefined {
  return Object.hasOwn(kinds, textIn(start.type)) ? kinds[start.type as keyof typeof kinds]() : undefined;
}

const kinds = {
  text: (): Block => {
    const pieces: string[] = [];
    return {
      add: ({ text }) => told('text', text, pieces),
      // The vendor sends empty text and refuses it.
      kept() {
        const text = pieces.join('');
        return text.trim() === '' ? undefined : { type: 'text', text };
      },
    };
  },
  thinking: (): Block => {
    const pieces: string[] = [];
    const signed: string[] = [];
    return {
      add({ thinking, signature }) {
        signed.push(textIn(signature));
        return told('reasoning', thinking, pieces);
      },
      // What is not signed would be refused; what is may be empty.
      kept() {
        const signature = signed.join('');
        return signature === '' ? undefined : { type: 'thinking', thinking: pieces.join(''), signature };
      },
    };
  },
  redacted_thinking: (): Block => {
    let sealed = '';
    return {
      add({ data }) {
        sealed ||= textIn(data);
        return [];
      },
      kept: () => ({ type: 'redacted_thinking', data: sealed }),
    };
  },
  tool_use: (): Block => {
    const pieces: string[] = [];
    let named: { readonly id: string; readonly name: string; readonly input: string } | undefined;
    return {
      add({ partial_json: piece, input, id, name }) {
        named ??= { id: textIn(id), name: textIn(name), input: JSON.stringify(objectIn(input) ?? {}) };
        pieces.push(textIn(piece));
        return [];
      },
      call(toId, isCut) {
        const { id = '', name = '', input = '{}' } = named ?? {};
        const given = pieces.join('') || input;
        // Cut before its first argument it looks like a call without any.
        if (isCut && (given === '{}' || jsonIn(given) === undefined)) return undefined;
        return { id: toId(id), name, arguments: given };
      },
      kept: (call) =>
        call && {
          type: 'tool_use',
          id: call.id,
          name: call.name,
          input: argumentsAsObject(call.arguments),
        },
    };
  },
};

function told(type: 'text' | 'reasoning', text: unknown, pieces: string[]): readonly ModelEvent[] {
  if (typeof text !== 'string' || text === '') return [];
  pieces.push(text);
  return [{ type, text }];
}
