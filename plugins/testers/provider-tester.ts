import assert from 'node:assert/strict';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { createStreamer } from '../../core/base/net.ts';
import type { ModelEvent, ModelRequest } from '../../core/contract/model.ts';
import type { Provider, ProviderSource } from '../../core/contract/provider.ts';
import { caseBody, caseType, type ProviderCase } from './provider-case.ts';
import { type CaseRunner, type Promises, runCases } from './run-cases.ts';
import { type ServedModel, serveModel } from './served-model.ts';

/** A provider to be tested, and what its vendor has answered. */
export interface ProviderSubject {
  /** As it stands in the slot. */
  readonly name: string;
  readonly source: ProviderSource;
  /** At least one with a text, and one with a failure. */
  readonly cases: readonly ProviderCase[];
  /** Default: the source's own. */
  readonly model?: string;
  readonly flags?: Readonly<Record<string, string>>;
  /** Whether the address of the server counts as another base than the vendor's; default true. */
  readonly isOtherBase?: boolean;
  /** What the provider calls a server on this port of the loopback; default: by its address. */
  readonly baseAt?: (port: number) => string;
}

interface Reply {
  readonly events: readonly ModelEvent[];
  readonly text: string;
  readonly reasoning: string;
}

const canary = 'sk-canary-0123456789';
/** Lengths of the pieces that an answer comes in: characters and frames are cut anywhere. */
const pieces = [1, 7, 2, 60, 3, 200];
const plain: Omit<ModelRequest, 'model'> = {
  system: ['You change code.', 'You answer in tool calls.'],
  messages: [{ role: 'user', text: 'Say “héllo” 🌍.' }],
  tools: [
    {
      name: 'read_file',
      description: 'Reads a file.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ],
  maxOutputTokens: 1000,
};

/**
 * Runs a provider through what every provider promises, over recorded answers of its vendor; rejects with an
 * AssertionError that names the promise that is not kept.
 */
export async function providerTester(
  runner: CaseRunner | undefined,
  subject: ProviderSubject,
): Promise<void> {
  const streamer = createStreamer({});
  try {
    await runCases(runner, 'provider', subject.name, promisesOf(subject, opener(subject, streamer.stream)));
  } finally {
    await streamer.close();
  }
}

type Open = (server: ServedModel, one: ProviderCase) => Promise<Provider>;

function opener(subject: ProviderSubject, stream: ReturnType<typeof createStreamer>['stream']): Open {
  const { source, baseAt = (port: number) => `http://127.0.0.1:${port}` } = subject;
  return async ({ port }, { model }) =>
    source.open({
      key: canary,
      base: baseAt(port),
      isOtherBase: subject.isOtherBase ?? true,
      model: model ?? subject.model ?? source.defaultModel,
      flags: subject.flags ?? {},
      stream,
      clock: systemClock,
    });
}

function promisesOf(subject: ProviderSubject, open: Open): Promises {
  const { cases, source } = subject;
  const requestOf = (one: ProviderCase): ModelRequest => ({
    ...plain,
    model: one.model ?? subject.model ?? source.defaultModel,
    ...one.request,
  });
  const textCase = (): ProviderCase => {
    const found = cases.find(({ expect }) => (expect.text ?? '') !== '' && expect.failure === undefined);
    assert.ok(found, 'expected a case with a text');
    return found;
  };
  return {
    'there is a case with a text, and one with a failure': async () => {
      textCase();
      assert.ok(
        cases.some(({ expect }) => expect.failure !== undefined),
        'expected a case with a failure',
      );
    },
    ...Object.fromEntries(
      cases.map((one) => [
        `recorded, \`${one.name}\` becomes what it is, however it is cut`,
        async () => {
          await using server = await serveModel(async (response) => {
            response.writeHead(one.status ?? 200, { 'content-type': caseType(one), ...one.headers });
            await sendInPieces(response, caseBody(one));
            response.end();
          });
          await requireCase(subject.name, one, server, collect(await open(server, one), requestOf(one)));
        },
      ]),
    ),
    'a connection that breaks is no reply': async () => {
      const one = textCase();
      const whole = caseBody(one);
      for (const share of [0, 0.3, 0.6])
        for (const how of ['dropped', 'ended']) {
          await using server = await serveModel((response) => {
            response.writeHead(200, { 'content-type': caseType(one) });
            const cut = whole.subarray(0, Math.floor(whole.length * share));
            if (cut.length === 0) response.flushHeaders();
            else response.write(cut);
            setImmediate(() => (how === 'dropped' ? response.destroy() : response.end()));
          });
          const fault = await faultOf(collect(await open(server, one), requestOf(one)));
          requireFailure(subject.name, fault, `${how} at ${share}`);
        }
    },
    'whoever asked can stop it, before and in the middle of a reply': async () => {
      const one = textCase();
      for (const share of [undefined, 0.5]) {
        const stop = new AbortController();
        await using server = await serveModel((response) => {
          if (share !== undefined) {
            response.writeHead(200, { 'content-type': caseType(one) });
            const whole = caseBody(one);
            response.write(whole.subarray(0, Math.floor(whole.length * share)));
          }
          stop.abort(new Error('stopped'));
        });
        const fault = await faultOf(collect(await open(server, one), requestOf(one), stop.signal));
        assert.equal(messageOf(fault), 'stopped');
      }
    },
    'questions that are asked at once have each their own reply, and each is asked once': async () => {
      const one = textCase();
      await using server = await serveModel(async (response) => {
        response.writeHead(200, { 'content-type': caseType(one) });
        await sendInPieces(response, caseBody(one));
        response.end();
      });
      const provider = await open(server, one);
      const replies = await Promise.all([1, 2, 3].map(() => collect(provider, requestOf(one))));
      for (const { text } of replies) assert.equal(text, one.expect.text);
      assert.equal(
        server.asked.length,
        replies.length,
        'what is asked once is asked once: retries are the engine’s',
      );
    },
  };
}

async function requireCase(
  name: string,
  { expect, wire }: ProviderCase,
  { asked }: ServedModel,
  asking: Promise<Reply>,
): Promise<void> {
  const { failure, text = '', reasoning = '', calls = [], usage, end = 'stop' } = expect;
  if (failure !== undefined) {
    const fault = await faultOf(asking);
    requireFailure(name, fault, 'the answer');
    assert.partialDeepStrictEqual((fault as { detail: object }).detail, { provider: name, ...failure });
    return;
  }
  const reply = await asking;
  assert.equal(asked.length, 1, 'expected one question');
  if (wire?.path !== undefined) assert.equal(asked[0]?.path, wire.path);
  if (wire?.body !== undefined) assert.partialDeepStrictEqual(asked[0]?.body, wire.body);
  assert.equal(reply.text, text);
  assert.equal(reply.reasoning, reasoning);
  const told = <T extends ModelEvent['type']>(type: T) =>
    reply.events.filter((event): event is Extract<ModelEvent, { type: T }> => event.type === type);
  assert.deepEqual(
    told('call').map(({ call }) => call),
    calls,
  );
  if (usage !== undefined) assert.deepEqual(told('usage').at(-1)?.usage, usage);
  assert.equal(told('end').length, 1, 'expected one `end`');
  const last = reply.events.at(-1);
  assert.equal(last?.type === 'end' && last.end, end);
}

/** Whatever breaks is told as PROVIDER_FAILED of this provider, and never with the key. */
function requireFailure(name: string, fault: unknown, when: string): void {
  assert.ok(
    isWritError(fault, 'PROVIDER_FAILED'),
    `${when}: expected PROVIDER_FAILED, got ${messageOf(fault)}`,
  );
  assert.equal(fault.detail.provider, name);
  assert.ok(
    !JSON.stringify([fault.message, fault.detail]).includes(canary),
    `${when}: expected a failure without the key`,
  );
}

async function collect(
  provider: Provider,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<Reply> {
  const events: ModelEvent[] = [];
  for await (const event of provider.ask(request, signal)) events.push(event);
  const joined = (type: 'text' | 'reasoning') =>
    events.flatMap((event) => (event.type === type ? [(event as { text: string }).text] : [])).join('');
  return { events, text: joined('text'), reasoning: joined('reasoning') };
}

async function faultOf(asking: Promise<Reply>): Promise<unknown> {
  return asking.then(
    ({ text }) => assert.fail(`expected no reply, got ${JSON.stringify(text.slice(0, 100))}`),
    (fault: unknown) => fault,
  );
}

async function sendInPieces(response: { write(bytes: Buffer): unknown }, body: Buffer): Promise<void> {
  for (let at = 0, turn = 0; at < body.length; turn += 1) {
    const size = pieces[turn % pieces.length] ?? 1;
    response.write(body.subarray(at, at + size));
    at += size;
    await new Promise((sent) => setImmediate(sent));
  }
}
