import type { WireCase } from '../wire-case.ts';

const chat = (delta: object, finish: string | null = null): unknown => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** Calls as one wire says them: `count` in one reply that is otherwise whole. */
type Calls = (count: number) => readonly unknown[];

const numbered = <T>(count: number, make: (place: number) => T): readonly T[] =>
  Array.from({ length: count }, (_none, place) => make(place));

/** Frames of a reply with many calls, by folder of cases; the chat dialect where a folder says nothing. */
export const callsOf: Readonly<Record<string, Calls>> = {
  gemini: (count) => [
    {
      candidates: [
        {
          content: { parts: numbered(count, () => ({ functionCall: { name: 'list_dir', args: {} } })) },
          finishReason: 'STOP',
        },
      ],
    },
  ],
  anthropic: (count) => [
    { type: 'message_start', message: {} },
    ...numbered(count, (index) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: `c${index}`, name: 'list_dir', input: {} },
    })),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ],
  openai: (count) => [
    ...numbered(count, (index) => ({
      type: 'response.output_item.done',
      output_index: index,
      item: { type: 'function_call', call_id: `c${index}`, name: 'list_dir', arguments: '{}' },
    })),
    { type: 'response.completed', response: {} },
  ],
  ollama: (count) => [
    { message: { tool_calls: numbered(count, () => ({ function: { name: 'list_dir', arguments: {} } })) } },
    { done: true, done_reason: 'stop' },
  ],
};

export const chatCalls: Calls = (count) => [
  chat({
    tool_calls: numbered(count, (index) => ({ index, id: `c${index}`, function: { name: 'list_dir' } })),
  }),
  chat({}, 'tool_calls'),
];

/** A frame of the calls of a reply that never ends, as small as they come, by its number. */
export const moreCalls: Readonly<Record<string, (frame: number) => unknown>> = {
  gemini: () => ({
    candidates: [{ content: { parts: numbered(10, () => ({ functionCall: {} })) } }],
  }),
  anthropic: (index) => ({ type: 'content_block_start', index, content_block: { type: 'tool_use' } }),
  openai: (index) => ({
    type: 'response.output_item.done',
    output_index: index,
    item: { type: 'function_call' },
  }),
  ollama: () => ({ message: { tool_calls: numbered(50_000, () => 0) } }),
};

export const moreChatCalls = (frame: number): unknown =>
  chat({ tool_calls: numbered(100, (place) => ({ index: frame * 100 + place })) });

/** Frames as a wire sends them: lines where the folder's own text comes in lines, events elsewhere. */
export function asBody(text: WireCase, frames: readonly unknown[]): string {
  return frames.map((frame) => asFrame(text, JSON.stringify(frame))).join('');
}

export function asFrame(text: WireCase, json: string): string {
  return text.lines ? `${json}\n` : `data: ${json}\n\n`;
}
