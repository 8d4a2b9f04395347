import t from 'tap';
import { converse } from '../../agent/converse.ts';
import { openTurns } from '../../agent/model-loop/model-turns.ts';
import { systemClock } from '../../core/base/clock.ts';
import { messageOf } from '../../core/base/errors.ts';
import { createStreamer } from '../../core/base/net.ts';
import type { ModelMessage } from '../../core/interfaces/model.ts';
import { noModelConfig, withModelRow } from '../../engine/state/open-model.ts';
import { openai } from '../../providers/openai/source.ts';
import { guardingProfile } from '../../spec/facts.ts';
import type { Asked } from '../providers/model-server.ts';
import { answeringModel, type ScriptedReply } from './scripted-model.ts';

const streamer = createStreamer({});
t.teardown(() => streamer.close());

interface Talk {
  readonly question?: string;
  /** Characters of the file that hands read. */
  readonly fileSize?: number;
  /** Questions to helpers. */
  readonly helped?: string[];
  readonly before?: readonly ModelMessage[];
  /** As `[models."m"] context` says it. */
  readonly context?: number;
  /** Messages that the talk added. */
  readonly said?: ModelMessage[];
  /** Default: its own. */
  readonly thread?: string;
}

let talks = 0;

/** A question to a model at a real server; hands read a file of 20,000 characters. */
async function talk(
  replyTo: (asked: Asked) => ScriptedReply,
  {
    before = [],
    context,
    said = [],
    helped = [],
    question = 'What is it?',
    fileSize = 20_000,
    thread = `k${talks++}`,
  }: Talk = {},
) {
  await using server = await answeringModel(replyTo);
  const signal = new AbortController().signal;
  const opened = await openai.open({
    base: server.base,
    isOtherBase: true,
    flags: {},
    stream: streamer.stream,
    clock: systemClock,
  });
  const models = context === undefined ? {} : { m: { contextTokens: context } };
  const provider = withModelRow(opened, { ...noModelConfig, models }, 'm');
  const turns = openTurns(
    {
      identity: { contract: { effective: guardingProfile(0) } },
      services: { signal, settings: { clock: systemClock } },
    },
    {
      provider,
      model: 'm',
      origin: { provider: 'p', model: 'm', endpoint: 'p.example', agent: 'coder' },
      secrets: [],
    },
  );
  const end = await converse({
    system: ['Answer.'],
    before,
    question,
    cacheKey: thread,
    hands: { use: async () => ({ outcome: 'done', text: 'x'.repeat(fileSize) }) },
    turns,
    told: {
      event: () => {},
      message: async (message) => void said.push(message),
      helper: async (question) => void helped.push(question),
    },
  });
  return { end, said, asked: server.asked };
}

const read = (id: string, text: string): readonly ModelMessage[] => [
  { role: 'assistant', text: '', calls: [{ id, name: 'read_file', arguments: '{"path":"a"}' }] },
  { role: 'tool', results: [{ callId: id, name: 'read_file', text, isError: false }] },
];
/** A talk of 60,000 characters, most of them results of tools. */
const long: readonly ModelMessage[] = [
  { role: 'user', text: 'The contract: SPEC.' },
  ...Array.from({ length: 20 }, (_, at) => read(`c${at}`, `${at} `.repeat(1000))).flat(),
  { role: 'user', text: 'The plan: PLAN.' },
  { role: 'assistant', text: 'Agreed.', calls: [] },
];
const bodyOf = ({ body }: Asked): string => JSON.stringify(body);
const refusal = (words: string): ScriptedReply => ({
  fails: [400, { error: { message: words, type: 'invalid_request_error' } }],
});

t.test('a question that is too long is shortened and asked once more', async (t) => {
  for (const [words, most] of [
    ["This model's maximum context length is 8192 tokens. However, you requested 30000 tokens.", 30_000],
    ['the request exceeds the available context size. try increasing it', 50_000],
    ['<html><head><title>413 Request Entity Too Large</title></head><hr>nginx</html>', 50_000],
  ] as const) {
    const refused: ScriptedReply = words.startsWith('<') ? { fails: [413, words] } : refusal(words);
    const { end, asked } = await talk((one) => (bodyOf(one).length > most ? refused : { text: 'A file.' }), {
      before: long,
    });
    t.match(end, { kind: 'answered' }, words);
    t.equal(asked.length, 2, 'asked twice in all');
    const [first, second] = asked.map(bodyOf);
    for (const kept of ['SPEC', 'PLAN', 'What is it?', 'Answer.']) t.match(second, kept);
    t.match(second, /left out/);
    t.notMatch(first, /left out/);
    const { max_tokens: reply } = (asked[1] as Asked).body as { max_tokens: number };
    t.ok(reply <= (most === 30_000 ? 2048 : 16_384), `${reply} tokens of reply`);
  }
});

t.test('what a model was found to hold bounds the next question of the thread', async (t) => {
  const replyTo = (one: Asked): ScriptedReply =>
    bodyOf(one).length > 30_000
      ? refusal("This model's maximum context length is 8192 tokens. However, you requested 30000 tokens.")
      : { text: 'A file.' };
  const times: number[] = [];
  for (const thread of ['one', 'one', 'other'])
    times.push((await talk(replyTo, { before: long, thread })).asked.length);
  t.strictSame(times, [2, 1, 2]);
});

t.test('a question of short tokens is shortened by what the vendor counts, or until it fits', async (t) => {
  // One token for each digit: the estimate of three characters for each token would fit.
  const tokensOf = (one: Asked): number => bodyOf(one).match(/\d/g)?.length ?? 0;
  for (const [say, times] of [
    [(sent: number) => `maximum context length is 2,000 tokens. However, you requested ${sent} tokens`, 2],
    [() => 'the model holds a maximum of 2000 tokens: the prompt is too long', 2],
    [() => 'prompt is too long', 4],
  ] as const) {
    const { end, asked } = await talk(
      (one) => (tokensOf(one) > 2000 ? refusal(say(tokensOf(one))) : { text: 'A file.' }),
      { before: long, context: 30_000 },
    );
    t.match(end, { kind: 'answered' }, say(0));
    t.equal(asked.length, times, say(0));
  }
});

t.test('a question that stays too long fails after the fourth time, and is not repeated later', async (t) => {
  let count = 0;
  const said: ModelMessage[] = [];
  const asking = talk(
    () => {
      count += 1;
      return refusal('prompt is too long: 9000 tokens > 8000 maximum');
    },
    { before: long, said },
  );
  const fault = await asking.catch((thrown: unknown) => thrown);
  t.match(messageOf(fault), /too-large/);
  t.equal(count, 4);
  t.strictSame(said, [], 'the next question does not begin with it');
  const other: ModelMessage[] = [];
  await t.rejects(
    talk(() => ({ fails: [400, { error: { message: 'no such model', type: 'invalid_request_error' } }] }), {
      said: other,
    }),
  );
  t.strictSame(other, [{ role: 'user', text: 'What is it?' }], 'after another fault it is kept');
});

t.test('the context of a model bounds what is sent', async (t) => {
  let reads = 0;
  const { end, asked } = await talk(
    () => {
      reads += 1;
      return reads < 6 ? { calls: [['read_file', { path: `${reads}` }]] } : { text: 'A file.' };
    },
    { before: long, context: 8192 },
  );
  t.match(end, { kind: 'answered' });
  t.equal(asked.length, 6);
  for (const one of asked) {
    t.ok(bodyOf(one).length < 8192 * 3, `${bodyOf(one).length} characters`);
    t.match(one.body, { max_tokens: 2048 });
    t.match(bodyOf(one), 'What is it?');
  }
});

/** A server of a small window that counts four characters a token, and the reply that is asked for. */
const smallServer =
  (window: number, words: (prompt: number, reply: number) => string, reads: number) =>
  (one: Asked): ScriptedReply => {
    const { max_tokens: reply, messages } = one.body as {
      readonly max_tokens: number;
      readonly messages: readonly { readonly role: string }[];
    };
    const prompt = Math.ceil(bodyOf(one).length / 4);
    if (prompt + reply > window) return refusal(words(prompt, reply));
    const done = messages.filter(({ role }) => role === 'tool').length;
    return done < reads ? { calls: [['read_file', { path: `${done}` }]] } : { text: 'A file.' };
  };

t.test('a refusal of the reply alone leaves the conversation as it is', async (t) => {
  for (const [window, words] of [
    [
      8192,
      (prompt: number, reply: number) =>
        `This model's maximum context length is 8192 tokens. However, you requested ${prompt + reply} tokens (${prompt} in the messages, ${reply} in the completion).`,
    ],
    [
      16_384,
      (prompt: number, reply: number) =>
        `'max_tokens' or 'max_completion_tokens' is too large: ${reply}. This model's maximum context length is 16384 tokens and your request has ${prompt} input tokens (${reply} > 16384 - ${prompt}).`,
    ],
    [8192, () => 'the request exceeds the available context size (8192 tokens), request 7654321'],
    [
      8192,
      (prompt: number, reply: number) =>
        `input length and \`max_tokens\` exceed context limit: ${prompt} + ${reply} > 8192, decrease input length or \`max_tokens\` and try again`,
    ],
    [8192, () => 'the request exceeds the available context size. try increasing it'],
  ] as const) {
    const { end, said, asked } = await talk(smallServer(window, words, 3), { fileSize: 1000 });
    t.match(end, { kind: 'answered' }, words(1, 1));
    t.equal(asked.length, 5, 'one refusal, three calls and the answer');
    const results = said.flatMap((one) => (one.role === 'tool' ? one.results : []));
    t.equal(results.length, 3);
    t.equal(bodyOf(asked.at(-1) as Asked).match(/x{1000}/g)?.length, 3, 'every result is whole');
  }
});

t.test(
  'a reply that is longer than the model allows is asked for again, as the vendor wants it',
  async (t) => {
    const bodies = async (refuse: (body: Record<string, unknown>) => string | undefined) => {
      const { end, asked } = await talk((one) => {
        const words = refuse(one.body as Record<string, unknown>);
        return words === undefined ? { text: 'A file.' } : refusal(words);
      });
      t.match(end, { kind: 'answered' });
      return asked.map(({ body }) => body as Record<string, unknown>);
    };
    for (const [words, most] of [
      ['max_tokens is too large: 16384. This model supports at most 4096 completion tokens', 4096],
      ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 8192],
      ['max_tokens: Input should be less than or equal to 2048', 2048],
    ] as const) {
      const asked = await bodies(({ max_tokens: reply }) => (Number(reply) > most ? words : undefined));
      t.strictSame(
        asked.map(({ max_tokens: reply }) => reply),
        [16_384, most],
        words,
      );
    }
    const renamed = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
    const [, again] = await bodies((body) => ('max_tokens' in body ? renamed : undefined));
    t.match(again, { max_completion_tokens: 16_384, max_tokens: undefined });
  },
);

t.test('a question that is longer than the window is sent without its middle', async (t) => {
  const question = `First words. ${'attached '.repeat(10_000)} Last words.`;
  const words = (prompt: number, reply: number) =>
    `maximum context length is 8192 tokens, however you requested ${prompt + reply} tokens`;
  for (const context of [8192, undefined]) {
    const { end, asked } = await talk(
      smallServer(8192, words, 0),
      context === undefined ? { question } : { question, context },
    );
    t.match(end, { kind: 'answered' }, `${context}`);
    t.ok(asked.length <= 2, `${asked.length} calls`);
    t.match(bodyOf(asked.at(-1) as Asked), /First words.*left out.*Last words/);
  }
});

t.test('an empty reply is reported, and is no answer', async (t) => {
  for (const text of ['', ' \n']) {
    const { end, said } = await talk(() => ({ text }));
    t.match(end, { kind: 'nothing', reason: /the reply of the model is empty/ });
    t.strictSame(said, [{ role: 'user', text: 'What is it?' }], 'nothing of it is kept');
  }
  const { end } = await talk(() => ({ text: 'A file.' }));
  t.match(end, { kind: 'answered' });
});

t.test('helpers answer at the same time, each in a conversation of its own that only reads', async (t) => {
  const lastOf = ({ body }: Asked) =>
    JSON.stringify((body as { readonly messages: readonly unknown[] }).messages.at(-1));
  const toolsOf = ({ body }: Asked) =>
    (body as { readonly tools: readonly { readonly function: { readonly name: string } }[] }).tools.map(
      (one) => one.function.name,
    );
  const helped: string[] = [];
  const { end, said, asked } = await talk(
    (one) => {
      const last = lastOf(one);
      if (last.includes('What is it?'))
        return { calls: [['ask_helpers', { questions: ['Where?', 'Why?'] }]] };
      if (last.includes('"Where?"')) return { calls: [['ask_helpers', { questions: ['Deeper?'] }]] };
      if (last.includes('"Why?"')) return { text: 'Because.' };
      return { text: last.includes('no such tool') ? 'There.' : 'It is known.' };
    },
    { helped },
  );
  t.match(end, { kind: 'answered', text: 'It is known.' });
  t.strictSame(helped, ['Where?', 'Why?']);
  const [result] = said.flatMap((one) => (one.role === 'tool' ? one.results : []));
  t.match(result, { name: 'ask_helpers', text: 'Answer 1:\nThere.\n\nAnswer 2:\nBecause.', isError: false });
  const [first, ...rest] = asked;
  t.match(toolsOf(first as Asked), ['read_file']);
  t.ok(toolsOf(first as Asked).includes('ask_helpers'));
  const ofHelpers = rest.filter((one) => !JSON.stringify(one.body).includes('What is it?'));
  t.equal(ofHelpers.length, 3);
  for (const one of ofHelpers) {
    t.notOk(toolsOf(one).includes('ask_helpers'), 'a helper has no helpers');
    t.notMatch(JSON.stringify(one.body), 'Answer.', 'nothing of the conversation');
  }
});

t.test(
  'what is no list of one to four questions is refused, and a helper without an answer says why',
  async (t) => {
    const answers: string[] = [];
    const calls: readonly (readonly [string, object])[] = [
      ['ask_helpers', { questions: [] }],
      ['ask_helpers', { questions: ['1', '2', '3', '4', '5'] }],
      ['ask_helpers', { questions: ['Silent?'] }],
    ];
    let next = 0;
    const { said } = await talk((one) => {
      if (JSON.stringify(one.body).includes('Silent?') && !JSON.stringify(one.body).includes('What is it?'))
        return {};
      const call = calls[next++];
      return call === undefined
        ? { text: 'Done.' }
        : { calls: [call as readonly [string, Record<string, unknown>]] };
    });
    for (const one of said) if (one.role === 'tool') for (const { text } of one.results) answers.push(text);
    t.match(answers, [
      'expected 1 to 4 questions, found 0',
      'expected 1 to 4 questions, found 5',
      /^Answer 1:\n\[no answer: /,
    ]);
  },
);
