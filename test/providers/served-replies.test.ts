import type { ServerResponse } from 'node:http';
import t from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, type WritError } from '../../core/base/errors.ts';
import { createStreamer } from '../../core/base/net.ts';
import type { ModelEvent, ModelMessage, ModelRequest } from '../../core/interfaces/model.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { type Asked, serveModel } from './model-server.ts';

const streamer = createStreamer({});
t.teardown(() => streamer.close());

const tools = ['read_file', 'list_dir'].map((name) => ({
  name,
  description: name,
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
}));

interface Server {
  readonly asked: readonly Asked[];
  readonly base: string;
}

/** Asks a provider at a server whose answers `answer` writes; the events of the reply, or the failure. */
async function askAt(
  provider: string,
  answer: (response: ServerResponse, asked: Asked) => void,
  { request = {}, below = '' }: { readonly request?: Partial<ModelRequest>; readonly below?: string } = {},
): Promise<{ readonly events: readonly ModelEvent[]; readonly fault?: WritError; readonly server: Server }> {
  await using server = await serveModel((asked, response) => answer(response, asked));
  const source = await (builtInProviders[provider] as (typeof builtInProviders)[string])();
  const opened = await source.open({
    key: 'sk-canary-0123456789',
    base: `${server.base}${below}`,
    isOtherBase: true,
    flags: {},
    stream: streamer.stream,
    clock: systemClock,
  });
  const events: ModelEvent[] = [];
  try {
    const asking = opened.ask(
      { model: 'm', system: [], messages: [{ role: 'user', text: 'Go.' }], tools, ...request },
      new AbortController().signal,
    );
    for await (const event of asking) events.push(event);
    return { events, server };
  } catch (fault) {
    if (!isWritError(fault, 'PROVIDER_FAILED')) throw fault;
    return { events, fault, server };
  }
}

const joined = (events: readonly ModelEvent[], type: 'text' | 'reasoning'): string =>
  events.flatMap((event) => (event.type === type ? [event.text] : [])).join('');
const textIn = (events: readonly ModelEvent[]): string =>
  joined(events.slice(events.findLastIndex(({ type }) => type === 'reasoned') + 1), 'text');
const callsIn = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'call' ? [event.call] : []));

const stream = (response: ServerResponse, type = 'text/event-stream'): ServerResponse =>
  response.writeHead(200, { 'content-type': type });
const event = (data: unknown): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const chunk = (delta: object, finish: string | null = null): string =>
  event({ choices: [{ index: 0, delta, finish_reason: finish }] });
/** A reply in the chat dialect of these deltas. */
const chat =
  (deltas: readonly object[], finish = 'stop') =>
  (response: ServerResponse): void => {
    stream(response).end(
      [...deltas.map((delta) => chunk(delta)), chunk({}, finish), event('[DONE]')].join(''),
    );
  };
const called = (index: number | undefined, id: string | undefined, name: unknown, args: string): object => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  function: { ...(name === undefined ? {} : { name }), arguments: args },
});

/** A whole reply in each dialect that streams. */
const replies: Readonly<Record<string, readonly [type: string, body: string]>> = {
  openai: ['text/event-stream', `${chunk({ content: 'Hi.' })}${chunk({}, 'stop')}${event('[DONE]')}`],
  zhipu: ['text/event-stream', `${chunk({ content: 'Hi.' })}${chunk({}, 'stop')}${event('[DONE]')}`],
  kimi: ['text/event-stream', `${chunk({ content: 'Hi.' })}${chunk({}, 'stop')}`],
  anthropic: [
    'text/event-stream',
    [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi.' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ]
      .map(event)
      .join(''),
  ],
  gemini: [
    'text/event-stream',
    event({ candidates: [{ content: { parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }] }),
  ],
  ollama: [
    'application/x-ndjson',
    `${JSON.stringify({ message: { content: 'Hi.' }, done: false })}\n${JSON.stringify({ message: {}, done: true, done_reason: 'stop' })}\n`,
  ],
};

t.test('a reply is complete at its end, although the connection stays open', async (t) => {
  await Promise.all(
    Object.entries(replies).map(async ([provider, [type, body]]) => {
      const { events, fault } = await askAt(provider, (response) => void stream(response, type).write(body));
      t.equal(fault, undefined, provider);
      t.equal(joined(events, 'text'), 'Hi.', provider);
      t.match(events.at(-1), { type: 'end', end: 'stop' }, provider);
    }),
  );
});

t.test('a chat reply is complete at `[DONE]`, also without a finish reason', async (t) => {
  const endOf = (deltas: readonly object[], last: string) =>
    askAt('openai', (response) => {
      stream(response).end([...deltas.map((delta) => chunk(delta)), last].join(''));
    });
  const done = event('[DONE]');
  const text = await endOf([{ content: 'Hi.' }], done);
  t.equal(joined(text.events, 'text'), 'Hi.');
  t.match(text.events.at(-1), { type: 'end', end: 'stop' });
  const call = called(0, 'a', 'read_file', '{"path":"x"}');
  const calling = await endOf([{ tool_calls: [call] }], done);
  t.strictSame(callsIn(calling.events), [{ id: 'a', name: 'read_file', arguments: '{"path":"x"}' }]);
  t.match(calling.events.at(-1), { type: 'end', end: 'calls' });
  t.match((await endOf([{ content: 'Hi.' }], '')).fault, { code: 'PROVIDER_FAILED' }, 'it broke off');
  t.match((await endOf([{ content: '' }], done)).fault, { code: 'PROVIDER_FAILED' }, 'there is no reply');
});

t.test('counts that follow the end of a reply are read', async (t) => {
  const { events } = await askAt('openai', (response) => {
    stream(response).write(`${chunk({ content: 'Hi.' })}${chunk({}, 'stop')}`);
    setImmediate(() =>
      response.write(event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } })),
    );
  });
  t.match(events.at(-2), { type: 'usage', usage: { input: 5, output: 2 } });
});

t.test('two calls with one index, or with none, stay two calls', async (t) => {
  const two = [
    { id: 'a', name: 'read_file', arguments: '{"path":"x"}' },
    { id: 'b', name: 'list_dir', arguments: '{"path":"y"}' },
  ];
  for (const index of [0, undefined]) {
    const pieces = [
      called(index, 'a', 'read_file', '{"path"'),
      called(index, index === undefined ? undefined : 'a', undefined, ':"x"}'),
      called(index, 'b', 'list_dir', '{"path"'),
      called(index, undefined, undefined, ':"y"}'),
    ];
    const { events } = await askAt(
      'openai',
      chat(
        pieces.map((one) => ({ tool_calls: [one] })),
        'tool_calls',
      ),
    );
    t.strictSame(callsIn(events), two, `index ${index}`);
    const whole = two.map(({ id, name, arguments: args }) => called(index, id, name, args));
    for (const part of ['delta', 'message'] as const) {
      const frame = { choices: [{ [part]: { tool_calls: whole }, finish_reason: 'tool_calls' }] };
      const asked = await askAt('openai', (response) => void stream(response).end(event(frame)));
      t.strictSame(callsIn(asked.events), two, `index ${index} in one ${part}`);
    }
  }
});

t.test('two calls of one tool without ids stay two calls', async (t) => {
  const two = ['{"path":"x"}', '{"path":"y"}'];
  const argumentsOf = async (...frames: readonly (readonly object[])[]) => {
    const deltas = frames.map((frame) => ({ tool_calls: frame }));
    const { events } = await askAt('openai', chat(deltas, 'tool_calls'));
    return callsIn(events).map((call) => call.arguments);
  };
  for (const index of [0, undefined]) {
    const whole = two.map((one) => called(index, undefined, 'read_file', one));
    t.strictSame(await argumentsOf(...whole.map((one) => [one])), two, `index ${index}, two chunks`);
    t.strictSame(await argumentsOf(whole), two, `index ${index}, one chunk`);
    const pieces = two.flatMap((one) => [
      called(index, undefined, 'read_file', one.slice(0, 5)),
      called(index, undefined, undefined, one.slice(5)),
    ]);
    t.strictSame(await argumentsOf(...pieces.map((one) => [one])), two, `index ${index}, in pieces`);
    const named = ['{"pa', 'th":"x"}', ''].map((one) => called(index, undefined, 'read_file', one));
    t.strictSame(
      await argumentsOf(...named.map((one) => [one])),
      two.slice(0, 1),
      `index ${index}, with each piece`,
    );
  }
});

t.test('pieces of one call with a new id each stay one call', async (t) => {
  const pieces = [
    called(0, 'a', 'read_file', ''),
    called(0, 'b', undefined, '{"pa'),
    called(0, 'c', undefined, 'th":"x"}'),
  ];
  const { events } = await askAt(
    'openai',
    chat(
      pieces.map((one) => ({ tool_calls: [one] })),
      'tool_calls',
    ),
  );
  t.strictSame(callsIn(events), [{ id: 'a', name: 'read_file', arguments: '{"path":"x"}' }]);
});

t.test('a reply that ends for an error or an unknown reason is a failure that says so', async (t) => {
  for (const [reason, kind] of [
    ['error', 'server'],
    ['abort', 'broken-reply'],
    ['toString', 'broken-reply'],
  ] as const) {
    const { fault } = await askAt('openai', chat([{ content: 'Half a' }], reason));
    t.match(fault, { detail: { kind }, message: new RegExp(reason, 'i') }, reason);
  }
  const filtered = await askAt('openai', chat([{ content: 'Half a' }], 'content_filter'));
  t.match(filtered.events.at(-1), { type: 'end', end: 'filtered' });
  const ollama = await askAt('ollama', (response) => {
    stream(response, 'application/x-ndjson').end(
      JSON.stringify({ message: { content: 'x' }, done: true, done_reason: 'error' }),
    );
  });
  t.match(ollama.fault, { detail: { kind: 'broken-reply' }, message: /`error`/ });
});

t.test('an error in the place of a stream is reported in the words of the server', async (t) => {
  const page = `<!DOCTYPE html>\n<html>\n<body>Sign in to the proxy</body>\n${'<br>\n'.repeat(5000)}</html>`;
  const loading = { error: { message: 'model is loading', type: 'unavailable' } };
  for (const provider of ['openai', 'anthropic', 'gemini', 'zhipu', 'kimi', 'ollama', 'deepseek']) {
    for (const [type, body, words] of [
      ['text/event-stream', JSON.stringify(loading), /model is loading/],
      ['text/event-stream', JSON.stringify(loading, null, 2), /model is loading/],
      ['text/event-stream', event(loading), /model is loading/],
      ['application/json', JSON.stringify(loading), /model is loading/],
      ['text/html', page, /Sign in to the proxy|<!DOCTYPE html>/],
      ['application/json', JSON.stringify({ detail: 'model is loading' }), /model is loading/],
      ['text/event-stream', JSON.stringify({ detail: 'model is loading' }), /model is loading/],
      ['text/event-stream', event({ detail: 'model is loading' }), /model is loading/],
      ['text/event-stream', event({ detail: [{ msg: 'model is loading' }] }), /model is loading/],
      [
        'text/event-stream',
        `${event({ object: 'error', message: 'model is loading', code: 400 })}${event('[DONE]')}`,
        /model is loading/,
      ],
    ] as const) {
      // Its answer is lines of JSON, whatever it is labelled as.
      if (
        provider === 'ollama' &&
        (body.startsWith('data:') || body.includes('\n  ') || body.includes('detail'))
      )
        continue;
      if (provider === 'deepseek' && body.startsWith('data:')) continue;
      const { fault } = await askAt(provider, (response) => void stream(response, type).end(body));
      t.match(fault?.message, words, `${provider}: ${type} ${body.slice(0, 20)}`);
      t.ok((fault?.message.length ?? 0) < 800, `${provider}: cut`);
    }
  }
});

t.test('an error after the beginning of a stream is reported in the words of the server', async (t) => {
  const { fault } = await askAt('openai', (response) => {
    stream(response).end(
      `${chunk({ content: 'Half' })}${JSON.stringify({ error: { message: 'out of memory' } })}`,
    );
  });
  t.match(fault?.message, /out of memory/);
});

t.test('a call without a name is not echoed, and its result is said by the user', async (t) => {
  const { events } = await askAt('openai', chat([{ tool_calls: [called(0, 'a', '', '{}')] }], 'tool_calls'));
  t.match(callsIn(events), [{ id: 'a', name: '' }]);
  const calls = [
    { id: 'a', name: '', arguments: '{}' },
    { id: 'b', name: 'read_file', arguments: '{}' },
  ];
  const results = calls.map(({ id, name }) => ({ callId: id, name, text: `result of ${id}`, isError: true }));
  for (const [provider, [type, body]] of Object.entries(replies))
    for (const value of [
      undefined,
      [{ functionCall: { name: '' }, type: 'tool_use', id: 'a', name: '', input: {} }],
    ])
      for (const count of [1, 2]) {
        const messages: ModelMessage[] = [
          { role: 'user', text: 'Go.' },
          {
            role: 'assistant',
            text: '',
            calls: calls.slice(0, count),
            ...(value === undefined ? {} : { state: { provider, model: 'm', value } }),
          },
          { role: 'tool', results: results.slice(0, count) },
        ];
        const { server, fault } = await askAt(provider, (response) => void stream(response, type).end(body), {
          request: { messages },
        });
        t.equal(fault, undefined, provider);
        const sent = JSON.stringify(server.asked[0]?.body);
        t.notMatch(sent, '"name":""', provider);
        t.match(sent, /without a valid name.{0,40}: result of a/, provider);
        if (count === 2) t.match(sent, 'result of b', provider);
      }
});

t.test('a name of a tool is joined and cleaned', async (t) => {
  for (const pieces of [
    ['read_', 'file'],
    ['read_file', 'read_file'],
    ['functions.read_file'],
    ['functions.', 'read_file'],
    ['default_api.read_file'],
    ['read_file<|channel|>commentary'],
    ['functions.read_file:0'],
  ]) {
    const deltas = pieces.map((piece, place) => ({
      tool_calls: [called(0, place === 0 ? 'a' : undefined, piece, '')],
    }));
    const { events } = await askAt(
      'openai',
      chat([...deltas, { tool_calls: [called(0, undefined, undefined, '{}')] }], 'tool_calls'),
    );
    t.strictSame(callsIn(events), [{ id: 'a', name: 'read_file', arguments: '{}' }], pieces.join(' '));
    t.strictSame(
      events.filter(({ type }) => type === 'calling'),
      [{ type: 'calling', name: 'read_file' }],
      pieces.join(' '),
    );
  }
  const { events } = await askAt('ollama', (response) => {
    const message = { tool_calls: [{ function: { name: 'functions.read_file', arguments: {} } }] };
    stream(response, 'application/x-ndjson').end(
      JSON.stringify({ message, done: true, done_reason: 'stop' }),
    );
  });
  t.match(callsIn(events), [{ name: 'read_file' }]);
});

t.test('thoughts between tags are reasoning, however they are cut', async (t) => {
  const text = '\n<think>One <b>two</b> </th three</think>\n\nHi, `<think>` is a tag.</think>';
  for (const size of [1, 2, 5, 7, 100]) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const { events } = await askAt('openai', chat(pieces.map((content) => ({ content }))));
    t.equal(joined(events, 'reasoning'), 'One <b>two</b> </th three', `${size}`);
    t.equal(joined(events, 'text'), 'Hi, `<think>` is a tag.</think>', `${size}`);
  }
  const cut = await askAt('openai', chat([{ content: '<think>On' }, { content: 'e</thi' }], 'length'));
  t.equal(joined(cut.events, 'reasoning'), 'One</thi');
  t.equal(joined(cut.events, 'text'), '');
  for (const plain of ['<thi', 'A <think>b</think>', '   x', '<b>x</b>']) {
    const { events } = await askAt('openai', chat([...plain].map((content) => ({ content }))));
    t.equal(joined(events, 'text'), plain);
  }
});

t.test('text before a closing tag without an opening one is reasoning, however it is cut', async (t) => {
  const text = 'One `</think>` two\n</think> \n\nHi.\n</think>\n';
  for (const size of [1, 2, 5, 7, 100]) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const { events } = await askAt('openai', chat(pieces.map((content) => ({ content }))));
    t.equal(textIn(events), 'Hi.\n</think>\n', `${size}`);
  }
  const calling = chat(
    [{ content: 'I look.\n</thi' }, { content: 'nk>' }, { tool_calls: [called(0, 'a', 'read_file', '{}')] }],
    'tool_calls',
  );
  t.equal(textIn((await askAt('openai', calling)).events), '');
  t.equal(textIn((await askAt('openai', chat([{ content: '</think>\n\nHi.' }]))).events), 'Hi.');
  for (const answer of [
    'Close it with </think>\nThen answer.',
    'A <think>\nb\n</think>\n',
    'Write:\n```\na\n</think>\n```\n',
    'a\n</think> b',
    'a\n</thi',
  ]) {
    const { events } = await askAt('openai', chat([...answer].map((content) => ({ content }))));
    t.equal(textIn(events), answer);
    t.notMatch(events, [{ type: 'reasoned' }]);
  }
});

t.test('a content that is a list of parts is joined', async (t) => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'One.' }] },
    { type: 'text', text: 'Hi' },
    { type: 'image_url', image_url: { url: 'x' } },
    { type: 'text', text: ' you' },
    5,
  ];
  const { events, fault } = await askAt('openai', chat([{ content }, { content: '.' }]));
  t.equal(fault, undefined);
  t.equal(joined(events, 'reasoning'), 'One.');
  t.equal(joined(events, 'text'), 'Hi you.');
});

t.test('a call written as text is named', async (t) => {
  const call = '{"name": "read_file", "arguments": {"path": "x"}}';
  for (const text of [
    `I look.\n<tool_call>\n${call}\n</tool_call>`,
    '<function=read_file>\n<parameter=path>\nx\n</parameter>\n</function>',
    `[TOOL_CALLS][${call}]`,
    '<|channel|>commentary to=functions.read_file <|message|>{}',
    call,
    `\`\`\`json\n${call}\n\`\`\``,
    `I look.\n\`\`\`\n{"path": "x"}\n\`\`\`\nThen:\n\`\`\`json\n[\n${call}\n]\n\`\`\``,
    '<|python_tag|>{"name": "read_file", "parameters": {"path": "x"}}',
    '<function_calls><invoke name="read_file"><parameter name="path">x</parameter></invoke></function_calls>',
    '<minimax:tool_call>\n<invoke name="read_file">\n</invoke>\n</minimax:tool_call>',
    '[read_file(path="x"), list_dir(path="y")]',
    '{"function": "read_file", "arguments": {"path": "x"}}',
    '{"tool_calls": [{"type": "function", "function": {"name": "read_file", "arguments": "{}"}}]}',
    `<tools>${call}</tools>`,
    `<tools>\n${call}\n</tools>`,
  ]) {
    const { events } = await askAt('openai', chat([{ content: text }]));
    t.match(
      events.filter(({ type }) => type === 'notice'),
      [{ text: /call of `read_file` as text/ }],
      text,
    );
  }
  for (const text of [
    'read_file reads',
    '<tool_call> is a marker',
    '{"name": "read_file"}',
    '```json\n{"name": "left-pad", "arguments": {"path": "x"}}\n```',
    '```json\n{"name": "read_file", "description": "reads"}\n```',
    '```js\nread_file(path)\n```',
    '[other(path="x")]',
    'The element <tools> is not read_file.',
  ]) {
    const { events } = await askAt('openai', chat([{ content: text }]));
    t.strictSame(
      events.filter(({ type }) => type === 'notice'),
      [],
      text,
    );
  }
});

t.test('a prompt that is too long is known by the words of many servers', async (t) => {
  for (const words of [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    'the request exceeds the available context size. try increasing the context size',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'Trying to keep the first 9000 tokens when context the overflows. The number of tokens to keep from the initial prompt is greater than the context length',
    'prompt is too long: 210000 tokens > 200000 maximum',
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`',
    'Please reduce the length of the messages or completion.',
    'Range of input length should be [1, 30720]',
    'prompt token count of 130000 exceeds the limit of 128000',
    'The prompt (total length 9000) is too long and exceeds the maximum model length of 8192',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    'Context size has been exceeded.',
    'Trying to keep the first 4500 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    'Reached context length of 4096 tokens with model (arch: qwen2) that does not currently support mid-generation context overflow.',
    'Prompt length 5000 is greater than max_seq_len 4096',
    '`inputs` must have less than 4096 tokens. Given: 5000',
    'Invalid request: Your request exceeded model token limit: 8192 (requested: 20000)',
  ])
    for (const provider of ['openai', 'anthropic', 'gemini', 'zhipu', 'kimi', 'ollama', 'deepseek']) {
      const body = { error: { message: words, type: 'invalid_request_error' } };
      const { fault } = await askAt(
        provider,
        (response) => void response.writeHead(400).end(JSON.stringify(body)),
      );
      t.match(fault, { detail: { kind: 'too-large' } }, `${provider}: ${words}`);
    }
  for (const status of [413, 429]) {
    const message =
      'Request too large for m on tokens per min (TPM): Limit 30000, Requested 38016. The input or output tokens must be reduced.';
    const body = JSON.stringify({ error: { message, code: 'rate_limit_exceeded', type: 'tokens' } });
    const { fault } = await askAt('openai', (response) => void response.writeHead(status).end(body));
    t.match(fault, { detail: { kind: 'too-large' } }, `${status}: waiting does not help`);
  }
  const other = await askAt(
    'openai',
    (response) => void response.writeHead(400).end('{"error":{"message":"bad context"}}'),
  );
  t.match(other.fault, { detail: { kind: 'bad-request' } });
});

t.test('a redirect is reported with the address that it leads to', async (t) => {
  for (const status of [301, 302, 307, 308]) {
    const { fault, server } = await askAt('openai', (response) => {
      response
        .writeHead(status, { location: 'https://models.example/v1/chat/completions?token=secret' })
        .end('moved');
    });
    t.match(fault, {
      detail: { kind: 'wrong-address', status },
      message:
        /redirects to `https:\/\/models\.example\/v1\/chat\/completions`.*`--api-base` to `https:\/\/models\.example\/v1`/,
    });
    t.match(fault?.message, server.base);
    t.notMatch(fault?.message, 'secret');
  }
  const { fault } = await askAt('ollama', (response) => void response.writeHead(301).end());
  t.match(fault, { detail: { kind: 'wrong-address' }, message: /which it does not name/ });
});

t.test('a wrong base path is reported with the address that was asked', async (t) => {
  for (const [provider, below, body, words] of [
    ['openai', '', '404 page not found', /chat\/completions`.*\/v1`/],
    ['openai', '/api', '{"detail":"Not Found"}', /\/api\/chat\/completions`/],
    [
      'openai',
      '/v1/v1',
      '{"error":{"message":"Invalid URL (POST /v1/v1/chat/completions)"}}',
      /Correct `--api-base`/,
    ],
    ['anthropic', '', '<html>model</html>', /\/v1\/messages`/],
    ['gemini', '', '<html>', /streamGenerateContent`/],
    ['ollama', '/v1', '404 page not found', /Set `--api-base` to `http:\/\/127\.0\.0\.1:\d+`/],
  ] as const) {
    const { fault } = await askAt(provider, (response) => void response.writeHead(404).end(body), { below });
    t.match(fault, { detail: { kind: 'wrong-address', status: 404 }, message: words }, `${provider}${below}`);
  }
  const unknown = { error: { message: 'The model `m` does not exist.' } };
  const { fault } = await askAt(
    'openai',
    (response) => void response.writeHead(404).end(JSON.stringify(unknown)),
  );
  t.match(fault, { detail: { kind: 'unknown-model' } });
});
