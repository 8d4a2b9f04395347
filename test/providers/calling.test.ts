import t from 'tap';
import type { ModelEvent } from '../../core/interfaces/model.ts';
import { anthropicReader } from '../../providers/anthropic/source.ts';
import { responsesReader } from '../../providers/openai/source.ts';
import { chatReader } from '../../providers/wire/chat/chat-format.ts';
import type { WireReader } from '../../providers/wire/wire-format.ts';

const chat = (): WireReader => chatReader({ keepsReasoning: false });
const piece = (call: object): object => ({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
const named = { type: 'function_call', id: 'i', call_id: 'c', name: 'shell', arguments: '' };

/** What each wire says before the arguments of a call have come, behind them, and where all of it comes at once. */
const wires: Readonly<
  Record<string, readonly [() => WireReader, begins: object[], more: object[], whole: object]>
> = {
  'the chat dialect': [
    chat,
    [piece({ index: 0, id: 'c', function: { name: 'shell', arguments: '' } })],
    [piece({ index: 0, function: { name: 'shell', arguments: '{}' } })],
    { choices: [{ message: { tool_calls: [{ id: 'c', function: { name: 'shell', arguments: '{}' } }] } }] },
  ],
  responses: [
    responsesReader,
    [{ type: 'response.output_item.added', output_index: 0, item: named }],
    [{ type: 'response.output_item.added', output_index: 1, item: { type: 'message', id: 'm' } }],
    { object: 'response', status: 'completed', output: [{ ...named, arguments: '{}', status: 'completed' }] },
  ],
  anthropic: [
    anthropicReader,
    [
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'c', name: 'shell', input: {} },
      },
    ],
    [
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    ],
    {
      type: 'message',
      content: [{ type: 'tool_use', id: 'c', name: 'shell', input: {} }],
      stop_reason: 'tool_use',
    },
  ],
};

for (const [wire, [open, begins, more, whole]] of Object.entries(wires))
  t.test(`in ${wire} a call is announced once, when it begins`, async (t) => {
    const announced = (frames: readonly object[], reader = open()): readonly ModelEvent[] =>
      frames.flatMap((frame) => [...reader.take(frame, '')]).filter(({ type }) => type === 'calling');
    const reader = open();
    t.strictSame(announced(begins, reader), [{ type: 'calling', name: 'shell' }]);
    t.strictSame(announced(more, reader), [], 'its arguments, and what is no call, announce nothing');
    t.strictSame(announced([whole]), [], 'of what comes whole nothing is still to come');
  });
