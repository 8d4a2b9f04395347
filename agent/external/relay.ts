/* The relay through which an external agent reaches its model: it adds the key and records what goes by. */
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { readEventStream } from '../../core/base/event-stream.ts';
import type { OpenAnswer } from '../../core/base/http-question.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import type { ModelUsage } from '../../core/interfaces/model.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import type { SandboxEgress } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import { wordMask } from '../../readers/sensitive/mask-words.ts';
import { digestExchanges } from '../../readers/sensitive/model-work.ts';
import { openPublicClient } from '../../workspace/egress/ask-public.ts';
import type { EgressPolicy } from '../../workspace/egress/openings.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import { defaultLimits, type EgressLimits } from '../../workspace/egress/passage.ts';
import {
  asJson,
  bodyOf,
  drained,
  type ServeRequest,
  sentIn,
  serveOnWay,
} from '../agent-program/model-gate.ts';
import {
  countUsage,
  maxTurns,
  recordWork,
  type TurnSetting,
  type TurnsOfTask,
  type TurnsUsed,
} from '../model-loop/model-turns.ts';
import type { OpenExternal, OpenModel } from '../model-loop/open-model.ts';

/** What the agent sends where a key is expected. */
export const placeholderKey = 'writ-relay-adds-the-key';

/** The relay of one attempt. */
export interface AgentRelay {
  readonly network: SandboxEgress;
  taken(): TurnsUsed;
  /** What the tool rule opened, and what came of it. */
  connections(): CheckNetwork;
  /** Why the last request got no answer; `undefined` if the last one got one. */
  failure(): WritError | undefined;
  /** Adds a session log to the work of every model that was called. */
  addLog(sha256: string): void;
  close(): Promise<void>;
}

/** What a relay is opened for. */
interface RelayRun extends TurnSetting {
  readonly services: TurnSetting['services'] & {
    readonly privateRoot: string;
    readonly settings: TurnSetting['services']['settings'] & { readonly outside?: Outside };
  };
}

interface RelaySetting extends TurnsOfTask {
  readonly openings: EgressPolicy['openings'];
  readonly program: NonNullable<ModelWork['program']>;
  /** Cost units after which no request is sent; absent: no limit. */
  readonly unitsLeft?: number | undefined;
}

const maxReplyBytes = 64 * 1024 * 1024;
const maxEventBytes = 8 * 1024 * 1024;
const withinMs = 300_000;
/** Models that one attempt may name: agents use a second one for titles and summaries. */
const maxModels = 4;

const limits: EgressLimits = {
  ...defaultLimits,
  connections: maxTurns,
  idleMs: 300_000,
  connectionMs: 3_600_000,
};

/** Header that carries the key, by provider; all others use `authorization: Bearer`. */
const keyHeaders: Readonly<Record<string, string>> = { anthropic: 'x-api-key', gemini: 'x-goog-api-key' };

/** The requests that a model answers. Files, fine-tuning and accounts are not reached with the user's key. */
const modelPaths =
  /^(?:\/v1(?:beta)?)?\/(?:responses|chat\/completions|messages(?:\/count_tokens)?|models\/([\w.-]{1,128}):(?:generateContent|streamGenerateContent|countTokens))$/;

/** Headers that are the relay's own business, or could carry another key. */
const ownHeaders =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|content-encoding|accept-encoding|authorization|x-api-key|x-goog-api-key|api-key|cookie|set-cookie|location)$/;

/** Returns a base URL without the version at its end: `https://host/v1` → `https://host`. */
export function rootOf(base: string): string {
  return base.replace(/\/v1(?:beta)?$/, '');
}

/**
 * Opens the relay of one attempt. It sends requests for a model to exactly the base URL of the provider, through the
 * checks of the egress proxy, with the user's key in place of the agent's. Every other request is refused. Secrets are
 * masked in both directions. The relay retries nothing: the agent does.
 */
export async function openRelay(
  run: RelayRun,
  model: OpenModel & { readonly external: OpenExternal },
  { openings, program, unitsLeft, spend, task, called }: RelaySetting,
): Promise<AgentRelay> {
  const { signal, settings, privateRoot } = run.services;
  const { external, origin, words = {} } = model;
  const root = new URL(rootOf(external.base));
  const client = openPublicClient(signal, settings.outside, limits);
  const send = client.stream({ all: false, openings });
  const mask = wordMask(model.secrets);
  const models = new Map<string, ReturnType<typeof openCount>>();
  const logged: ModelWork[] = [];
  let requests = 0;
  let failure: WritError | undefined;

  const roleOf = (name: string) => ({ ...origin, model: name, program });
  const openCount = (name: string) => ({
    usage: countUsage({ provider: external.priced(name), model: name }, { meter: settings.meter, task }),
    work: recordWork({ origin: roleOf(name), words }, { ...(called === undefined ? {} : { called }) }),
  });
  const counted = () => {
    const all = [...models.values()].map(({ usage }) => usage.counted());
    return {
      costUnits: all.reduce((sum, one) => sum + one.costUnits, 0),
      tokensUsed: all.reduce((sum, one) => sum + one.tokensUsed, 0),
    };
  };

  const serve: ServeRequest = async (request, response) => {
    const refuse = (status: number, message: string): void => {
      failure = new WritError('AGENT_FAILED', { message });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message, type: 'writ' } }));
    };
    const asked = readPath(request.url ?? '', root);
    if (request.method !== 'POST' || asked === undefined)
      return refuse(403, 'the relay of writ sends requests for a model, and no other');
    if (request.headers['content-encoding'] !== undefined)
      return refuse(415, 'the relay of writ accepts no compressed request');
    const text = await bodyOf(request);
    const question = text === undefined ? undefined : asJson(text);
    const name = asked.model ?? (isRecord(question) ? question.model : undefined);
    if (text === undefined || typeof name !== 'string' || !/^[^\p{Cc}]{1,256}$/u.test(name))
      return refuse(400, 'expected a JSON object of a bounded size that names its model');
    const refusal = external.refusal(name);
    if (refusal !== undefined) return refuse(403, refusal);
    if (!models.has(name) && models.size >= maxModels)
      return refuse(400, `an external agent may use ${maxModels} models in one attempt`);
    if (requests >= maxTurns) return refuse(400, `an attempt may send ${maxTurns} requests`);
    if (unitsLeft !== undefined && counted().costUnits >= unitsLeft)
      return refuse(402, 'the cost limit of the spec is reached');
    const count = models.get(name) ?? openCount(name);
    models.set(name, count);
    requests += 1;
    let settle: (usage?: ModelUsage) => void;
    try {
      settle = count.usage.begin(text.length);
    } catch (refused) {
      return refuse(402, messageOf(refused));
    }
    const masked = mask(text) === text ? text : maskJson(question, mask);
    const over = new AbortController();
    response.once('close', () => over.abort());
    const seen: SeenAnswer = { bytes: 0, usage: undefined };
    failure = undefined;
    try {
      const stream = digestExchanges(send, (exchange) =>
        count.work.add(sentIn(asJson(masked)), 'http', exchange),
      );
      await using answer = await stream({
        url: `${root.origin}${asked.path}`,
        method: 'POST',
        headers: { ...passedHeaders(request.headers), ...keyHeader(origin.provider, external.key) },
        body: masked,
        withinMs,
        idleMs: limits.idleMs,
        maxBytes: maxReplyBytes,
        signal: AbortSignal.any([signal, over.signal]),
      });
      if (
        answer.headers['content-encoding'] !== undefined &&
        answer.headers['content-encoding'] !== 'identity'
      )
        return refuse(502, 'the model host sent a compressed answer, which was not asked for');
      if (answer.status !== 200) failure = statusFailure(root.host, answer.status);
      await passOn(answer, response, external.key, seen);
    } catch (caught) {
      if (over.signal.aborted || signal.aborted) return void response.destroy();
      const message = isWritError(caught) ? caught.message : mask(messageOf(caught));
      if (!response.headersSent) return refuse(502, message);
      failure = new WritError('AGENT_FAILED', { message });
      response.destroy();
    } finally {
      settle(seen.usage ?? (seen.bytes > 0 && asked.isTurn ? estimated(masked, seen.bytes) : undefined));
      spend?.({ turns: requests, ...counted() });
    }
  };
  const opened = await serveOnWay(privateRoot, serve);
  return {
    network: opened.network,
    taken: () => ({
      turns: requests,
      ...counted(),
      notices: model.notices ?? [],
      requests: [],
      models: [...models.values()].flatMap(({ work }) => work.models()).concat(logged),
    }),
    connections: () => ({ opened: openings.flat(), uses: client.uses() }),
    failure: () => failure,
    addLog(sha256) {
      for (const name of models.keys()) {
        const nothing = { tools: [], instructions: [], data_classes: ['public'], exchanges: [] } as const;
        const work: ModelWork = { ...roleOf(name), ...nothing, form: 'http', logs: [sha256] };
        logged.push(work);
        called?.(work);
      }
    },
    close: opened.close,
  };
}

interface AskedPath {
  /** With its query, without a key in it. */
  readonly path: string;
  /** Named by the path itself. */
  readonly model: string | undefined;
  /** Answers with a turn of the model, not with a count of tokens. */
  readonly isTurn: boolean;
}

/** Reads the path of a request for a model; `undefined` for every other request. */
function readPath(text: string, root: URL): AskedPath | undefined {
  if (!text.startsWith('/') || !URL.canParse(text, root)) return undefined;
  const { pathname, searchParams, origin } = new URL(text, root);
  const before = root.pathname === '/' ? '' : root.pathname;
  if (origin !== root.origin || !pathname.startsWith(before)) return undefined;
  const found = modelPaths.exec(pathname.slice(before.length));
  if (found === null) return undefined;
  searchParams.delete('key');
  const query = searchParams.toString();
  const isTurn = !/count_tokens$|:countTokens$/.test(pathname);
  return { path: query === '' ? pathname : `${pathname}?${query}`, model: found[1], isTurn };
}

function passedHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      ownHeaders.test(name) || value === undefined
        ? []
        : [[name, typeof value === 'string' ? value : value.join(', ')]],
    ),
  );
}

function keyHeader(provider: string, key: string | undefined): Readonly<Record<string, string>> {
  if (key === undefined) return {};
  const name = Object.hasOwn(keyHeaders, provider) ? keyHeaders[provider] : undefined;
  return name === undefined ? { authorization: `Bearer ${key}` } : { [name]: key };
}

function maskJson(question: unknown, mask: (text: string) => string): string {
  return JSON.stringify(question, (_name, value) => (typeof value === 'string' ? mask(value) : value));
}

function statusFailure(host: string, status: number): WritError {
  return new WritError('AGENT_FAILED', { message: `the model at \`${host}\` answered HTTP ${status}` });
}

/** What was seen of an answer: its octets, and what the provider reports that it used. */
interface SeenAnswer {
  bytes: number;
  usage: ModelUsage | undefined;
}

/** Passes an answer on as it arrives, without the key if the host repeats it, and reads its usage. */
async function passOn(
  answer: OpenAnswer,
  response: Parameters<ServeRequest>[1],
  key: string | undefined,
  seen: SeenAnswer,
): Promise<void> {
  const hide = openHiding(key);
  const isStream = (answer.headers['content-type'] ?? '').includes('event-stream');
  const whole: Uint8Array[] = [];
  const passed = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of answer.body) {
      seen.bytes += chunk.length;
      const shown = hide.add(chunk);
      if (shown.length > 0 && !response.write(shown)) await drained(response);
      yield chunk;
    }
    response.write(hide.rest());
  };
  const headers = Object.entries(passedHeaders(answer.headers));
  const shown = headers.map(([name, value]) => [
    name,
    key === undefined ? value : value.replaceAll(key, '***'),
  ]);
  response.writeHead(answer.status, Object.fromEntries(shown));
  if (isStream)
    for await (const { data } of readEventStream(passed(), { maxEventBytes })) readUsage(asJson(data), seen);
  else {
    let size = 0;
    for await (const chunk of passed()) {
      size += chunk.length;
      if (size <= maxEventBytes) whole.push(chunk);
    }
    const found = asJson(Buffer.concat(whole).toString('utf8'));
    for (const one of Array.isArray(found) ? found : [found]) readUsage(one, seen);
  }
  response.end();
}

/**
 * Reads usage from an event or an answer of any of the wire formats. They report totals, some of them in pieces, so
 * the largest number of each kind counts.
 */
function readUsage(event: unknown, seen: SeenAnswer): void {
  if (!isRecord(event)) return;
  const within = [event, event.response, event.message].filter(isRecord);
  for (const usage of within.flatMap((one) => [one.usage, one.usageMetadata]).filter(isRecord)) {
    const numberOf = (...names: readonly string[]): number =>
      Math.max(0, ...names.map((name) => Number(usage[name] ?? 0)).filter(Number.isFinite));
    const cached = numberOf('cache_read_input_tokens') + numberOf('cache_creation_input_tokens');
    const { input = 0, output = 0 } = seen.usage ?? {};
    seen.usage = {
      input: Math.max(input, numberOf('input_tokens', 'prompt_tokens', 'promptTokenCount') + cached),
      output: Math.max(output, numberOf('output_tokens', 'completion_tokens', 'candidatesTokenCount')),
    };
  }
  if (seen.usage !== undefined && seen.usage.input + seen.usage.output === 0) seen.usage = undefined;
}

/** Upper bound of what a provider does not report: four characters per token. */
function estimated(question: string, bytes: number): ModelUsage {
  return { input: Math.ceil(question.length / 4), output: Math.ceil(bytes / 4) };
}

/** Replaces a word in a sequence of pieces, also where it crosses their borders. */
export function openHiding(text: string | undefined): { add(piece: Uint8Array): Buffer; rest(): Buffer } {
  if (text === undefined || text === '')
    return { add: (piece) => Buffer.from(piece), rest: () => Buffer.alloc(0) };
  const word = Buffer.from(text);
  let kept = Buffer.alloc(0);
  const hidden = Buffer.from('*'.repeat(word.length));
  return {
    add(piece) {
      const all = Buffer.concat([kept, piece]);
      for (let at = all.indexOf(word); at >= 0; at = all.indexOf(word, at + word.length))
        hidden.copy(all, at);
      let length = Math.min(word.length - 1, all.length);
      while (length > 0 && !all.subarray(-length).equals(word.subarray(0, length))) length -= 1;
      kept = Buffer.from(all.subarray(all.length - length));
      return all.subarray(0, all.length - length);
    },
    rest: () => kept,
  };
}
