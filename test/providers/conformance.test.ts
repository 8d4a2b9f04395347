import t, { type Test } from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, type WritError } from '../../core/base/errors.ts';
import { valueAt } from '../../core/base/json-pointer.ts';
import { createStreamer } from '../../core/base/net.ts';
import type {
  AssistantMessage,
  ModelEvent,
  ModelMessage,
  ModelRequest,
} from '../../core/interfaces/model.ts';
import type { Provider } from '../../core/interfaces/provider.ts';
import { caseBody, caseType } from '../../plugins/testers/provider-tester.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { type ProviderCase, providerTester } from '../../testing.ts';
import { seededRandom } from '../chance/seeded-random.ts';
import { toldSeed } from '../chance/told-seed.ts';
import { type ModelServer, sendInPieces, serveModel } from './model-server.ts';
import {
  type CaseSetting,
  caseFolders,
  type Exactly,
  neededCases,
  readCases,
  readSetting,
  type WireCase,
} from './wire-case.ts';

const plain: Omit<ModelRequest, 'model'> = {
  system: ['You change code.', 'You answer in tool calls.'],
  messages: [{ role: 'user', text: 'Say “héllo” 🌍.' }],
  tools: [
    {
      name: 'read_file',
      description: 'Reads a file.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
    {
      name: 'list_dir',
      description: 'Lists a directory.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ],
  maxOutputTokens: 1000,
};
const canary = 'sk-canary-0123456789';
const streamer = createStreamer({});
t.teardown(() => streamer.close());

t.test('every built-in provider has cases, and every folder has the required ones', async (t) => {
  const tested = new Set(caseFolders.map((folder) => readSetting(folder).provider));
  // A program that asks its model itself has no wire of ours; it is held to them in `test/agent/codex/`.
  const wires = Object.keys(builtInProviders).filter((name) => name !== 'codex');
  t.same([...tested].sort(), wires.sort());
  for (const folder of caseFolders) {
    const names = readCases(folder).map(({ name }) => name);
    t.same(
      neededCases.filter((needed) => !names.includes(needed)),
      [],
      folder,
    );
  }
});

for (const folder of caseFolders) {
  const setting = readSetting(folder);
  const cases = readCases(folder);
  t.test(`${folder} gives the same reply however the stream is cut`, async (t) => {
    const random = seededRandom(toldSeed(t));
    const next = (below: number): number => Math.floor(random() * below);
    for (const one of cases) {
      await using server = await serveModel(async (_asked, response) => {
        response.writeHead(one.status ?? 200, { 'content-type': caseType(one), ...one.headers });
        await sendInPieces(response, caseBody(one), next);
        response.end();
      });
      await holdsCase(t, setting, one, server);
    }
  });

  t.test(`${folder} passes the provider tester`, async (t) => {
    const { provider, isOtherBase, model, flags = {} } = setting;
    const source = await builtInProviders[provider]?.();
    if (source === undefined) throw new Error('no such provider');
    // What its question holds is looked at above, field by field.
    const plainly = cases
      .filter((one) => one.flags === undefined && one.expect.option === undefined)
      .map(({ wire: _, ...one }): ProviderCase => one);
    await providerTester(t, { name: provider, source, isOtherBase, model, flags, cases: plainly });
  });
}

function open(
  { provider, isOtherBase, key = canary, ...rest }: CaseSetting,
  one: WireCase,
  server: ModelServer,
) {
  return (builtInProviders[provider] as (typeof builtInProviders)[string])().then((source) =>
    source.open({
      key,
      base: server.base,
      isOtherBase,
      model: one.model ?? rest.model,
      flags: { ...rest.flags, ...one.flags },
      stream: streamer.stream,
      clock: systemClock,
    }),
  );
}

interface Reply {
  readonly text: string;
  readonly reasoning: string;
  readonly message: AssistantMessage;
  readonly events: readonly ModelEvent[];
}

function toRequest({ model }: CaseSetting, one: WireCase): ModelRequest {
  return { ...plain, model: one.model ?? model, ...one.request };
}

async function ask(
  provider: Provider,
  setting: CaseSetting,
  one: WireCase,
  signal = new AbortController().signal,
): Promise<Reply> {
  const request = toRequest(setting, one);
  const events: ModelEvent[] = [];
  for await (const event of provider.ask(request, signal)) events.push(event);
  const joined = (type: 'text' | 'reasoning') =>
    events.flatMap((event) => (event.type === type ? [(event as { text: string }).text] : [])).join('');
  const end = events.at(-1);
  const state = end?.type === 'end' ? end.state : undefined;
  const calls = events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
  const kept = { provider: provider.name, model: request.model, value: state };
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    message: {
      role: 'assistant',
      text: joined('text'),
      calls,
      // As a journal keeps it.
      ...(state === undefined ? {} : { state: JSON.parse(JSON.stringify(kept)) as typeof kept }),
    },
    events,
  };
}

async function holdsCase(t: Test, setting: CaseSetting, one: WireCase, server: ModelServer): Promise<void> {
  const { expect, wire } = one;
  if (expect.option) {
    const fault = await open(setting, one, server).catch((thrown: unknown) => thrown);
    t.match(fault, { code: 'PROVIDER_OPTION', exitCode: 129 }, `${one.name}: ${String(fault)}`);
    const { message, hints } = fault as WritError;
    for (const word of expect.option)
      t.ok([message, ...hints].join('\n').includes(word), `${one.name}: names ${word}`);
    t.same(server.asked, [], `${one.name}: nothing is asked`);
    return;
  }
  const provider = await open(setting, one, server);
  const reply = await ask(provider, setting, one).catch((thrown: unknown) => thrown);
  const [asked] = server.asked;
  if (wire?.path !== undefined) t.equal(asked?.path, wire.path, `${one.name}: path`);
  if (wire?.headers) t.match(asked?.headers, wire.headers, `${one.name}: headers`);
  if (wire?.body !== undefined) t.match(asked?.body, wire.body, `${one.name}: body`);
  for (const field of wire?.without ?? [])
    t.notOk(Object.hasOwn(asked?.body as object, field), `${one.name}: without \`${field}\``);
  holdsExactly(t, asked?.body, wire?.exactly, one.name);
  if (expect.failure) {
    t.ok(isWritError(reply, 'PROVIDER_FAILED'), `${one.name}: ${String(reply)}`);
    t.match(
      (reply as { detail: object }).detail,
      { provider: setting.provider, ...expect.failure },
      one.name,
    );
    t.notMatch(JSON.stringify([reply, String(reply)]), canary, `${one.name}: the key is not told`);
    return;
  }
  if (reply instanceof Error) {
    t.fail(`${one.name}: ${reply.message}`);
    return;
  }
  const { text, reasoning, events, message } = reply as Reply;
  t.equal(text, expect.text ?? '', `${one.name}: text`);
  t.equal(reasoning, expect.reasoning ?? '', `${one.name}: reasoning`);
  t.strictSame(message.calls, expect.calls ?? [], `${one.name}: calls`);
  const usage = events.findLast((event) => event.type === 'usage');
  if (expect.usage) t.strictSame(usage?.type === 'usage' && usage.usage, expect.usage, `${one.name}: usage`);
  t.match(events.at(-1), { type: 'end', end: expect.end ?? 'stop' }, `${one.name}: end`);
  t.equal(events.filter(({ type }) => type === 'end').length, 1, `${one.name}: one end`);
  t.equal(events.filter(({ type }) => type === 'notice').length, expect.notices ?? 0, `${one.name}: notices`);
  if (one.next !== undefined || one.nextExactly !== undefined)
    await holdsNext(t, provider, setting, one, message, server);
}

/** The reply goes back, under the same model with its state, and under another without. */
async function holdsNext(
  t: Test,
  provider: Provider,
  setting: CaseSetting,
  one: WireCase,
  message: AssistantMessage,
  server: ModelServer,
): Promise<void> {
  const request = toRequest(setting, one);
  const results = message.calls.map(({ id, name }) => ({
    callId: id,
    name,
    text: `result of ${id}`,
    isError: false,
  }));
  const asNext = (given: AssistantMessage): readonly ModelMessage[] => [
    ...request.messages,
    given,
    ...(results.length > 0 ? [{ role: 'tool' as const, results }] : []),
    { role: 'user', text: 'Go on.' },
  ];
  const askNext = async (messages: readonly ModelMessage[]): Promise<unknown> => {
    for await (const _event of provider.ask({ ...request, messages }, new AbortController().signal));
    return server.asked.at(-1)?.body;
  };
  const next = await askNext(asNext(message));
  t.match(next, one.next ?? {}, `${one.name}: the next question`);
  holdsExactly(t, next, one.nextExactly, `${one.name}: the next question`);
  if ((one.nextElsewhere ?? one.nextElsewhereExactly) === undefined || message.state === undefined) return;
  const elsewhere = { ...message, state: { ...message.state, model: 'another-model' } };
  const body = await askNext(asNext(elsewhere));
  t.match(body, one.nextElsewhere ?? {}, `${one.name}: the next question after another model's reply`);
  holdsExactly(t, body, one.nextElsewhereExactly, `${one.name}: after another model's reply`);
  t.notMatch(
    JSON.stringify(body),
    JSON.stringify(message.state.value).slice(1, 30),
    `${one.name}: another model's state stays behind`,
  );
}

function holdsExactly(t: Test, body: unknown, parts: Exactly = {}, name: string): void {
  for (const [pointer, part] of Object.entries(parts))
    t.strictSame(valueAt(body, pointer) ?? null, part, `${name}: exactly ${pointer}`);
}
