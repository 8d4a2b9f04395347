import { type Guard, within } from './guard.ts';

const traffic = 'test/providers/conformance.test.ts';
const hostile = 'test/providers/hostile-wire.test.ts';
const flood = 'a vendor that never stops';
const told = 'anthropic: a key that a vendor repeats';

const reply = (folder: string): string => `${folder}: what the vendor answers becomes one reply`;
const anything = (folder: string): string => `${folder}: whatever stands where something else should`;

/** What a vendor may not do to us, and what Gemini and Anthropic refuse where it is left out. */
export const guards: readonly Guard[] = [
  ...within('providers/wire/read-frame.ts', hostile, [
    ['a frame is not deeper than can be read again', 'if (depth > maxDepth)', 'if (depth < 0)', flood],
    ['a frame holds so many values', 'if (values > maxValues)', 'if (values < 0)', flood],
  ]),
  ...within('providers/wire/wire-provider.ts', hostile, [
    ['a message has so many calls', 'if (ids.size > maxCalls)', 'if (ids.size < 0)', flood],
    [
      'the beginning of a key is not told',
      'length >= Math.min(8, Math.max(1, key.length))',
      'length >= Math.max(1, key.length)',
      told,
    ],
    [
      'half a character is not sent',
      "typeof value === 'string' ? value.toWellFormed() : value",
      'value',
      'anthropic: a state that no reply left behind',
    ],
  ]),
  ...within('providers/wire/row-of.ts', hostile, [
    [
      'what every object inherits is no row',
      'Object.hasOwn(table, name) ? table[name] : undefined',
      'table[name]',
      anything('anthropic'),
    ],
  ]),
  ...within('providers/wire/chat/chat-reader.ts', hostile, [
    ['calls are bounded as they come', 'if (calls.size > maxCalls)', 'if (calls.size < 0)', flood],
  ]),
  ...within('providers/ollama/ollama-reader.ts', hostile, [
    ['calls are bounded as they come', 'if (calls.length === maxCalls)', 'if (calls.length < 0)', flood],
  ]),
  ...within('providers/anthropic/anthropic-reader.ts', hostile, [
    ['blocks are bounded as they come', 'if (started > maxBlocks)', 'if (started < 0)', flood],
  ]),
  ...within('providers/gemini/gemini-messages.ts', traffic, [
    ['a call that nobody signed says so', 'signsCalls ? signed(parts) : parts', 'parts', reply('gemini')],
    [
      'an answer has the id that the vendor gave',
      'toAnswer(result, ids[place])',
      'toAnswer(result, result.callId)',
      reply('gemini'),
    ],
  ]),
  ...within('providers/gemini/kept-parts.ts', traffic, [
    [
      'a signature stays on its part',
      "'text' in part && part.thoughtSignature === undefined;",
      "'text' in part;",
      reply('gemini'),
    ],
  ]),
  ...within('providers/gemini/gemini-failure.ts', traffic, [
    ['a quota of the day is no rate limit', '/PerDay/.test(', '/PerYear/.test(', reply('gemini')],
  ]),
  ...within('providers/anthropic/content-block.ts', traffic, [
    ['a signature goes back', '        signed.push(textIn(signature));\n', '', reply('anthropic')],
    [
      'a call that was cut is none',
      "if (isCut && (given === '{}' || jsonIn(given) === undefined)) return undefined;",
      '',
      reply('anthropic'),
    ],
  ]),
  ...within('providers/anthropic/anthropic-reader.ts', traffic, [
    [
      'what was refused is not called',
      "if (end === 'refused' || end === 'filtered')",
      "if (end === 'filtered')",
      reply('anthropic'),
    ],
    [
      'a stream without its last event is no reply',
      "if (!isWhole || reason === '')",
      "if (reason === '')",
      reply('anthropic'),
    ],
  ]),
  ...within('providers/anthropic/anthropic-format.ts', traffic, [
    [
      'a temperature that is refused is not sent',
      'temperature !== undefined && adaptive;',
      'false;',
      reply('anthropic'),
    ],
  ]),
];
