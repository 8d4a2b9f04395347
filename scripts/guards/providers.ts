import { type Guard, within } from './guard.ts';

const traffic = 'test/providers/conformance.test.ts';
const sources = 'test/providers/sources.test.ts';
const formats = 'test/providers/chat-formats.test.ts';

const reply = (folder: string): string => `${folder}: what the vendor answers becomes one reply`;

/** Single rules of wires, each of which a vendor answers with a refusal, a lost reply or a wait for nothing. */
export const guards: readonly Guard[] = [
  ...within('providers/openai/responses-input.ts', traffic, [
    [
      'reasoning that only the vendor has stays behind',
      "return typeof encrypted === 'string' && encrypted !== '';",
      'return true;',
      reply('openai'),
    ],
    [
      'reasoning before nothing stays behind',
      "    items.at(-1)?.type !== 'reasoning' &&\n",
      '',
      reply('openai'),
    ],
  ]),
  ...within('providers/openai/responses-reader.ts', traffic, [
    [
      'a call that was cut is none',
      "item.status !== 'incomplete' || item.type !== 'function_call'",
      'true',
      reply('openai'),
    ],
    [
      'a stream without its last event is no reply',
      "      if (last === undefined) throw brokenReply('the stream ended in the middle of the reply');",
      "      last ??= { isWhole: true, why: '' };",
      'openai: a connection that breaks',
    ],
    ['an error of its own in a stream', "if (type === 'error')", "if (type === '')", reply('openai')],
  ]),
  ...within('providers/wire/chat/chat-messages.ts', traffic, [
    [
      'a message that says nothing does not go back',
      "  if (text === '' && calls.length === 0) return [];\n",
      '',
      reply('kimi'),
    ],
  ]),
  ...within('providers/wire/chat/chat-format.ts', formats, [
    [
      'a gateway that loses calls is not asked for a stream again',
      '          streams = false;\n',
      '',
      'a gateway that loses the calls',
    ],
  ]),
  ...within('providers/deepseek/deepseek-dialect.ts', traffic, [
    [
      'an empty reasoning goes back where there was none',
      "thinks ? 'always' : 'never'",
      "thinks ? 'where-there-is' : 'never'",
      reply('deepseek'),
    ],
  ]),
  ...within('providers/deepseek/deepseek-flags.ts', sources, [
    ['xhigh is max', "    spellings: { xhigh: 'max' },\n", '', '`xhigh` is `max`'],
  ]),
  ...within('providers/kimi/kimi-thinking.ts', traffic, [
    [
      'thinking is not switched off where it cannot be',
      'flag !== undefined && does !==',
      "flag === '' && does !==",
      reply('kimi'),
    ],
  ]),
  ...within('providers/kimi/kimi-dialect.ts', traffic, [
    [
      'an empty balance is no rate limit',
      "    exceeded_current_quota_error: 'no-credit',\n",
      '',
      reply('kimi'),
    ],
  ]),
  ...within('providers/zhipu/zhipu-failure.ts', traffic, [
    ['arrears are no rate limit', "    1113: 'no-credit',\n", '', reply('zhipu')],
    ['a window that is used up is no rate limit', "    1308: 'quota-used-up',\n", '', reply('zhipu')],
  ]),
  ...within('providers/zhipu/zhipu-dialect.ts', traffic, [
    ['arguments of calls come in pieces', '{ tool_stream: true }', '{}', reply('zhipu')],
  ]),
  ...within('providers/model-table.ts', 'test/providers/model-table.test.ts', [
    [
      'no more cached tokens than there are',
      'Math.min(cachedInput, input)',
      'cachedInput',
      'more cached tokens than there are',
    ],
  ]),
];
