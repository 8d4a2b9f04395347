/* The proxy through which an agent program reaches its model. */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { readEventStream } from '../../core/base/event-stream.ts';
import type { OpenAnswer } from '../../core/base/http-question.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import type { ModelUsage } from '../../core/interfaces/model.ts';
import { type ProviderFailure, providerFailure } from '../../core/interfaces/provider.ts';
import type { SandboxEgress } from '../../core/interfaces/sandbox.ts';
import { wordMask } from '../../readers/sensitive/mask-words.ts';
import { digestExchanges } from '../../readers/sensitive/model-work.ts';
import { socketName } from '../../workspace/egress/open-egress.ts';
import { createServer, type IncomingMessage, type ServerResponse } from '../../workspace/egress/outside.ts';
import {
  countUsage,
  maxTurns,
  msBeforeRetry,
  recordWork,
  type TurnSetting,
  type TurnsOfTask,
  type TurnsUsed,
  untrustedText,
} from '../model-loop/model-turns.ts';
import type { OpenAgent, OpenModel } from '../model-loop/open-model.ts';

/** The only endpoint outside the sandbox that an agent program can reach: a proxy to its model. */
export interface ModelGate {
  readonly network: SandboxEgress;
  /** Whether a question is with the model now. */
  isAsking(): boolean;
  taken(): TurnsUsed;
  /** Why there was no reply to the last question. */
  failure(): WritError | undefined;
  close(): Promise<void>;
}

/** Below the gate's own address, before the path of the source. */
export const gateRoot = '/v1';

const maxQuestionBytes = 32 * 1024 * 1024;
const maxReplyBytes = 64 * 1024 * 1024;
const maxFailureBytes = 64 * 1024;
const maxEventBytes = 8 * 1024 * 1024;
const withinMs = 300_000;
const idleMs = 300_000;

/** What a gate has to know of what it is opened for. */
export interface GateRun extends TurnSetting {
  readonly services: TurnSetting['services'] & { readonly privateRoot: string };
}

/**
 * Opens the gate for one attempt. The key stays outside the sandbox and the chosen model is enforced. Every request
 * is masked and tool results in it are fenced as untrusted. Each turn is counted and retried as the retry table
 * requires. All other requests are refused.
 */
export async function openModelGate(
  run: GateRun,
  chosen: OpenModel & { readonly agent: OpenAgent },
  about: TurnsOfTask = {},
): Promise<ModelGate> {
  const { spend, task } = about;
  const work = recordWork(chosen, about);
  const { model, provider, agent, temperature, secrets } = chosen;
  const { signal, settings, privateRoot } = run.services;
  const { promptInjection } = run.identity.contract.effective.security;
  const { begin, counted } = countUsage({ provider, model }, { meter: settings.meter, task });
  const mask = wordMask(secrets);
  let turns = 0;
  let asking = 0;
  let failure: WritError | undefined;

  const failed = (
    said: Pick<ProviderFailure, 'kind' | 'found' | 'retryAfterSeconds'>,
    status?: number,
  ): WritError =>
    providerFailure({
      provider: provider.name,
      kind: said.kind,
      found: mask(said.found),
      ...(status === undefined ? {} : { status }),
      ...(said.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: said.retryAfterSeconds }),
    });

  const ask = async (question: Readonly<Record<string, unknown>>, over: AbortSignal): Promise<OpenAnswer> => {
    const prepared = agent.source.prepare(question, (text) => untrustedText(promptInjection, text));
    const body = JSON.stringify(
      { ...prepared, model, ...(temperature === undefined ? {} : { temperature }) },
      (_name, value) => (typeof value === 'string' ? mask(value) : value),
    );
    const stream = digestExchanges(agent.stream, (exchange) =>
      work.add(sentIn(JSON.parse(body)), 'http', exchange),
    );
    const answer = await stream({
      url: `${agent.base}${agent.source.path}`,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(agent.key === undefined ? {} : { authorization: `Bearer ${agent.key}` }),
      },
      body,
      withinMs,
      idleMs,
      maxBytes: maxReplyBytes,
      signal: over,
    });
    if (answer.status === 200) return answer;
    const text = await textOf(answer);
    await answer[Symbol.asyncDispose]();
    const wait = Number(answer.headers['retry-after']);
    const said = agent.source.failureOf(answer.status, asJson(text)) ?? { kind: 'server', found: text };
    throw failed(
      Number.isFinite(wait) && wait >= 0 && answer.headers['retry-after'] !== undefined
        ? { retryAfterSeconds: wait, ...said }
        : said,
      answer.status,
    );
  };

  const askTill = async (question: Readonly<Record<string, unknown>>, over: AbortSignal) => {
    turns += 1;
    for (let tried = 1; ; tried += 1) {
      try {
        return await ask(question, over);
      } catch (caught) {
        over.throwIfAborted();
        const fault = isWritError(caught, 'NETWORK_FAILED')
          ? failed({
              kind: caught.detail.reason === 'unreachable' ? 'unreachable' : 'broken-reply',
              found: messageOf(caught),
            })
          : caught;
        const wait = msBeforeRetry(fault, tried);
        if (wait === undefined) throw fault;
        await settings.clock.sleep(wait, over);
      }
    }
  };

  /** Passes the reply on as it comes, and reads it beside. */
  const passOn = async (
    answer: OpenAnswer,
    response: ServerResponse,
    used: (usage: ModelUsage) => void,
  ): Promise<void> => {
    let isUsed = false;
    const passed = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of answer.body) {
        if (!response.write(chunk)) await drained(response);
        yield chunk;
      }
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for await (const { data } of readEventStream(passed(), { maxEventBytes })) {
      const event = asJson(data);
      const said = agent.source.failureOf(undefined, event);
      if (said) failure = failed(said);
      const usage = agent.source.usageOf(event);
      if (usage === undefined) continue;
      isUsed = true;
      used(usage);
    }
    // A reply without usage is not free, and a reply without an end is an error.
    if (!isUsed && failure === undefined)
      failure = failed({ kind: 'broken-reply', found: 'the reply has no end' });
    response.end();
  };

  const serve: ServeRequest = async (request, response) => {
    const path = `${gateRoot}${agent.source.path}`;
    if (request.method !== 'POST' || request.url !== path)
      return refuse(response, 404, `expected POST ${path}`);
    if (request.headers['content-encoding'] !== undefined)
      return refuse(response, 415, 'expected no encoding');
    const question = asJson((await bodyOf(request)) ?? '');
    if (!isRecord(question)) return refuse(response, 400, 'expected a JSON object of a bounded size');
    if (turns >= maxTurns) {
      failure = new WritError('TURN_LIMIT', { detail: { maxTurns } });
      return refuse(response, 400, failure.message);
    }
    const over = new AbortController();
    response.once('close', () => over.abort());
    failure = undefined;
    let settle: ReturnType<typeof begin>;
    try {
      settle = begin(JSON.stringify(question).length);
    } catch (refused) {
      failure = isWritError(refused) ? refused : failed({ kind: 'bad-request', found: messageOf(refused) });
      return refuse(response, 400, failure.message);
    }
    let used: ModelUsage | undefined;
    asking += 1;
    try {
      await using answer = await askTill(question, AbortSignal.any([signal, over.signal]));
      await passOn(answer, response, (usage) => {
        used = usage;
      });
    } catch (caught) {
      if (over.signal.aborted || signal.aborted) return void response.destroy();
      failure = isWritError(caught, 'PROVIDER_FAILED')
        ? caught
        : failed({ kind: 'broken-reply', found: messageOf(caught) });
      const { status } = failure.detail as { readonly status?: number };
      if (response.headersSent) response.destroy();
      else refuse(response, status ?? 502, failure.message);
    } finally {
      asking -= 1;
      settle(used);
      if (used !== undefined) spend?.({ turns, ...counted() });
    }
  };

  const opened = await serveOnWay(privateRoot, serve);
  return {
    network: opened.network,
    isAsking: () => asking > 0,
    taken: () => ({ turns, ...counted(), notices: [], requests: [], models: work.models() }),
    failure: () => failure,
    close: opened.close,
  };
}

/** Answers one request of a program in a sandbox. A rejection closes its connection. */
export type ServeRequest = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Serves HTTP on a new socket, which a sandbox with this network reaches at `wayAddress`, and nothing else. */
export async function serveOnWay(
  privateRoot: string,
  serve: ServeRequest,
): Promise<Pick<ModelGate, 'network' | 'close'>> {
  const server = createServer({ headersTimeout: 30_000, requestTimeout: 120_000 });
  server.maxConnections = 64;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {});
    serve(request, response).catch(() => response.destroy());
  });
  // Agents use the proxy of their environment for what is not the model; without an answer some wait for ever.
  server.on('connect', (_request: IncomingMessage, client: Duplex) => {
    client.on('error', () => {});
    client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
  const way = await mkdtemp(join(privateRoot, 'model-'));
  const directory = await open(way, 'r');
  const drop = async (): Promise<void> => {
    await directory.close();
    await rm(way, { recursive: true, force: true });
  };
  try {
    // The path of a socket is short; see open-egress.ts.
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(`/proc/self/fd/${directory.fd}/${socketName}`, resolve);
    });
  } catch (fault) {
    await drop();
    throw fault;
  }
  return {
    network: { way },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((closed) => server.close(() => closed()));
      await drop();
    },
  };
}

/** Texts and tools of a program's question, whatever its form. */
export function sentIn(question: unknown): {
  readonly texts: readonly string[];
  readonly tools: readonly string[];
} {
  const { tools, ...rest } = Object(question) as { readonly tools?: unknown };
  const names = (Array.isArray(tools) ? tools : []).map((tool: unknown) => {
    const { name, type } = Object(tool) as { readonly name?: unknown; readonly type?: unknown };
    return name ?? type;
  });
  return { texts: stringsIn(rest), tools: names.filter((name) => typeof name === 'string') };
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'writ', param: null, code: null } }));
}

export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) resolve();
    response.once('drain', resolve).once('close', resolve);
  });
}

/** The whole body; `undefined` where it is too large. */
export async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size > maxQuestionBytes) return undefined;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function textOf({ body }: OpenAnswer): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size > maxFailureBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxFailureBytes).toString('utf8');
}

export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
