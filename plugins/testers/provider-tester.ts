/* Tests the promises of a model provider over recorded answers. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { createStreamer } from '../../core/base/net.ts';
import type {
  FailureKind,
  ModelEvent,
  ModelRequest,
  ModelUsage,
  ReplyEnd,
  ToolCall,
} from '../../core/interfaces/model.ts';
import type { Provider, ProviderSource } from '../../core/interfaces/provider.ts';
import { createServer, type IncomingMessage, type ServerResponse } from '../../workspace/egress/outside.ts';
import { piecesHeader } from '../third-party/process/inside/read-in-pieces.ts';
import { type CaseRunner, type Promises, runCases } from './run-cases.ts';

/** A provider to be tested, and what its vendor has answered. */
export interface ProviderSubject {
  /** The name in the slot. */
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
  /** Milliseconds between two pieces of an answer, so that most arrive separately over the transport; default 0. */
  readonly apartMs?: number;
}

interface Reply {
  readonly events: readonly ModelEvent[];
  readonly text: string;
  readonly reasoning: string;
}

const canary = 'sk-canary-0123456789';
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
  const { cases, source, apartMs = 0 } = subject;
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
          for (const [how, pieces] of playsOf(caseBody(one))) {
            await using server = await serveModel(async (response) => {
              const lengths = pieces.map(({ length }) => length).join();
              response.writeHead(one.status ?? 200, {
                'content-type': caseType(one),
                ...one.headers,
                [piecesHeader]: lengths,
              });
              await sendApart(response, pieces, apartMs);
              response.end();
            });
            const asking = collect(await open(server, one), requestOf(one));
            await requireCase(subject.name, one, server, asking, how);
          }
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
    'the caller can stop it, before and in the middle of a reply': async () => {
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
    'two questions that are answered line by line in turn are two replies': async () => {
      const text = textCase();
      const call = cases.find(
        ({ expect }) => (expect.calls ?? []).length > 0 && expect.failure === undefined,
      );
      const pairs =
        call === undefined
          ? [[text, text]]
          : [
              [text, call],
              [call, call],
            ];
      for (const pair of pairs) {
        const answers: ServerResponse[] = [];
        await using server = await serveModel((response) => {
          const type = caseType(pair[answers.length] ?? text);
          answers.push(response.writeHead(200, { 'content-type': type }));
          response.flushHeaders();
        });
        const asking: Promise<Reply>[] = [];
        for (const one of pair) {
          const reply = collect(await open(server, one), requestOf(one));
          reply.catch(() => {});
          asking.push(reply);
          // Waits, so that requests arrive in the order of the calls.
          for (let turn = 0; answers.length < asking.length && turn < 1000; turn += 1) await pause(5);
          assert.equal(answers.length, asking.length, 'one question is one request, while another is open');
        }
        const lines = pair.map((one) => linesOf(caseBody(one)));
        for (let at = 0; at < Math.max(...lines.map(({ length }) => length)); at += 1)
          for (const [index, answer] of answers.entries()) {
            const line = lines[index]?.[at];
            if (line !== undefined) await sendApart(answer, [line], apartMs);
          }
        for (const answer of answers) answer.end();
        for (const [index, one] of pair.entries())
          requireReply(one, await (asking[index] as Promise<Reply>), `beside another, \`${one.name}\``);
      }
    },
    'questions that are asked at once have each their own reply, and each is asked once': async () => {
      const one = textCase();
      await using server = await serveModel(async (response) => {
        response.writeHead(200, { 'content-type': caseType(one) });
        await sendApart(response, [caseBody(one)], apartMs);
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
  one: ProviderCase,
  { asked }: ServedModel,
  asking: Promise<Reply>,
  how: string,
): Promise<void> {
  const { failure } = one.expect;
  const found = failure === undefined ? await asking : await faultOf(asking);
  assert.equal(
    asked.length,
    1,
    `${how}: expected one request for one question, found ${asked.length}: asking again is the engine’s`,
  );
  if (failure !== undefined) {
    requireFailure(name, found, 'the answer');
    const { detail } = found as { detail: Readonly<Record<string, unknown>> };
    for (const [field, value] of Object.entries(failure))
      requireSame(`${how}, \`failure.${field}\``, detail[field], value);
    return;
  }
  const { wire } = one;
  if (wire?.path !== undefined) requireSame('`wire.path`', asked[0]?.path, wire.path);
  if (wire?.body !== undefined) assert.partialDeepStrictEqual(asked[0]?.body, wire.body);
  requireReply(one, found as Reply, how);
}

function requireReply({ expect }: ProviderCase, reply: Reply, how: string): void {
  const { text = '', reasoning = '', calls = [], usage, end = 'stop' } = expect;
  const told = <T extends ModelEvent['type']>(type: T) =>
    reply.events.filter((event): event is Extract<ModelEvent, { type: T }> => event.type === type);
  requireSame(`${how}, \`text\``, reply.text, text);
  requireSame(`${how}, \`reasoning\``, reply.reasoning, reasoning);
  const found = told('call').map(({ call }) => call);
  requireSame(`${how}, \`calls\``, found, calls);
  if (usage !== undefined) requireSame(`${how}, \`usage\``, told('usage').at(-1)?.usage, usage);
  requireSame(`${how}, events of type \`end\``, told('end').length, 1);
  const last = reply.events.at(-1);
  requireSame(`${how}, \`end\``, last?.type === 'end' && last.end, end);
}

function requireSame(field: string, found: unknown, expected: unknown): void {
  const words = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 500);
  assert.deepEqual(found, expected, `${field}: expected ${words(expected)}, found ${words(found)}`);
}

/** Requires that every fault is PROVIDER_FAILED of this provider, and never contains the key. */
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

/** Pieces of one play at most: what is beyond comes as one. */
const maxPieces = 48;
/** Lengths of the pieces that an answer comes in, whatever it holds. */
const lengths = [1, 7, 2, 60, 3, 200];

/** A sink for the octets of an answer. */
interface Taker {
  write(bytes: Buffer): unknown;
}

/** The ways that a body is played, by name, each in its pieces. */
function playsOf(body: Buffer): ReadonlyMap<string, readonly Buffer[]> {
  const places = (holds: (at: number) => boolean) => [...body.keys()].filter((at) => at > 0 && holds(at));
  const plays = new Map([
    [
      'in pieces',
      piecesOf(
        body,
        places((at) => unevenly(at)),
      ),
    ],
  ]);
  // What continues a character of UTF-8 is 10xxxxxx.
  const within = places((at) => ((body[at] ?? 0) & 0xc0) === 0x80);
  if (within.length > 0) plays.set('cut within characters', piecesOf(body, within));
  const frames = places((at) => body[at - 1] === 10);
  if (frames.length > 0) plays.set('cut after each line', piecesOf(body, frames));
  return plays;
}

/** The body line by line. */
function linesOf(body: Buffer): readonly Buffer[] {
  return piecesOf(
    body,
    [...body.keys()].filter((at) => at > 0 && body[at - 1] === 10),
  );
}

/** Sends pieces so long apart, in milliseconds, that they arrive apart. */
async function sendApart(taker: Taker, pieces: readonly Buffer[], apartMs: number): Promise<void> {
  for (const piece of pieces) {
    taker.write(piece);
    await pause(apartMs);
  }
}

async function pause(ms: number): Promise<void> {
  if (ms > 0) await wait(ms);
  else await new Promise((sent) => setImmediate(sent));
}

function piecesOf(body: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const taken = cuts.slice(0, maxPieces - 1);
  return [0, ...taken].map((at, index) => body.subarray(at, taken[index] ?? body.length));
}

const period = lengths.reduce((sum, length) => sum + length, 0);

function unevenly(at: number): boolean {
  let rest = at % period;
  for (const length of lengths) {
    if (rest === 0) return true;
    rest -= length;
    if (rest < 0) return false;
  }
  return false;
}

/** What a vendor answered once, and what has to come of it. */
export interface ProviderCase {
  readonly name: string;
  readonly model?: string;
  /** What differs from the plain question. */
  readonly request?: Partial<ModelRequest>;
  /** Of the answer; default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its body, one of these. A stream of events: each is its data, with `event` beside it where it has a name. */
  readonly events?: readonly { readonly event?: string; readonly data: unknown }[];
  readonly lines?: readonly unknown[];
  readonly json?: unknown;
  readonly text?: string;
  /** Path and body that the question must have, as far as they are named. */
  readonly wire?: { readonly path?: string; readonly body?: unknown };
  readonly expect: {
    readonly text?: string;
    readonly reasoning?: string;
    readonly calls?: readonly ToolCall[];
    readonly usage?: ModelUsage;
    /** Default `stop`. */
    readonly end?: ReplyEnd;
    readonly failure?: {
      readonly kind: FailureKind;
      readonly status?: number;
      readonly retryAfterSeconds?: number;
    };
  };
}

/** The body as the vendor would send it. */
export function caseBody({ events, lines, json, text }: ProviderCase): Buffer {
  if (events)
    return Buffer.from(
      events
        .map(({ event, data }) => {
          const told = typeof data === 'string' ? data : JSON.stringify(data);
          return `${event === undefined ? '' : `event: ${event}\n`}data: ${told}\n\n`;
        })
        .join(''),
    );
  if (lines) return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return Buffer.from(text ?? JSON.stringify(json));
}

export function caseType({ events, lines }: ProviderCase): string {
  if (events) return 'text/event-stream; charset=utf-8';
  return lines ? 'application/x-ndjson' : 'application/json';
}

/** What a question to a model held. */
interface AskedModel {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** As JSON; `undefined` where it is none. */
  readonly body: unknown;
  readonly bytes: Uint8Array;
}

/** A fake vendor on the loopback interface, with scripted answers. */
export interface ServedModel extends AsyncDisposable {
  readonly port: number;
  readonly asked: readonly AskedModel[];
}

/** Closed with everything that is still connected. */
export async function serveModel(
  answer: (response: ServerResponse, asked: AskedModel) => void | Promise<void>,
): Promise<ServedModel> {
  const asked: AskedModel[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    const one = { path: request.url ?? '', headers: request.headers, body: asJson(bytes), bytes };
    asked.push(one);
    try {
      await answer(response, one);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function asJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
