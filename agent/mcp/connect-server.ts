/* Talks with one MCP server; the only module that loads the MCP client. */
import { Readable } from 'node:stream';
import type { Client, Transport } from '@modelcontextprotocol/client';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import type { HttpStreamer, OpenAnswer } from '../../core/base/http-question.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { lineCutter } from '../../workspace/process/capture.ts';
import { type McpFaultReason, type McpServer, mcpFault, type StartedProgram } from './start-server.ts';

/** A tool as its server declares it; nothing of it is trusted. */
export interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A server that answers. Its tools are read once, when it starts: a later change of them has no effect. */
export interface McpConnection extends AsyncDisposable {
  readonly tools: readonly DeclaredTool[];
  /** Version by its own word. */
  readonly version: string;
  /** Text of the answer. Throws MCP_SERVER_FAILED, which ends the server. */
  call(tool: string, given: Readonly<Record<string, unknown>>): Promise<McpAnswer>;
}

interface McpAnswer {
  readonly isError: boolean;
  readonly text: string;
}

/** The program of a server, or access to its address. */
export type McpWay =
  | { readonly program: StartedProgram }
  | { readonly send: HttpStreamer; readonly token?: string };

/** Octets of one line of a program, and of one answer over HTTP. */
const maxMessageBytes = 4 * 1024 * 1024;
/** Octets that a program may send in all, and that may wait for it to read them. */
const maxTotalBytes = 64 * 1024 * 1024;
const maxWaitingBytes = 8 * 1024 * 1024;
/** Time for a server to start and to list its tools. */
export interface McpTimes {
  readonly startMs: number;
}

const usualTimes: McpTimes = { startMs: 60_000 };
/** The client's own deadlines never come first. */
const never = 2 ** 31 - 1;
const maxPages = 8;
const maxTools = 128;
const maxDepth = 64;
/** Characters of an answer that a model gets; the tool rules can set less. */
const maxText = 64 * 1024;

/** Greets a server and reads its tools. Throws MCP_SERVER_FAILED. */
export async function connectServer(
  server: McpServer,
  way: McpWay,
  { startMs }: McpTimes = usualTimes,
): Promise<McpConnection> {
  const sdk = await import('@modelcontextprotocol/client');
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined);
  const over = new AbortController();
  let fault: Error | undefined;
  const fail = (reason: McpFaultReason, found: string, cause?: unknown): void => {
    fault ??= mcpFault(server, reason, found, cause);
    broken.reject(fault);
    over.abort();
  };
  const transport =
    'program' in way
      ? pipeTransport(way.program, fail)
      : new sdk.StreamableHTTPClientTransport(new URL(server.url ?? ''), {
          fetch: fetchOf(server, way, { fail, over: over.signal }),
          reconnectionOptions: {
            maxRetries: 0,
            initialReconnectionDelay: 1000,
            maxReconnectionDelay: 1000,
            reconnectionDelayGrowFactor: 1,
          },
        });
  const client = new sdk.Client(
    { name: 'writ', version: '1' },
    // No schema of a server is ever compiled: it would run patterns that the server wrote.
    {
      capabilities: {},
      listMaxPages: maxPages,
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
  const close = async (): Promise<void> => {
    fail('ended', 'was ended');
    await client.close().catch(() => undefined);
  };
  /** Every wait ends: with an answer, with the fault of the server, or with its deadline, which is one. */
  const within = async <T>(ms: number, what: string, ask: () => Promise<T>): Promise<T> => {
    const timer = setTimeout(() => fail('late', `${what} within ${ms / 1000} s`), ms);
    try {
      return await Promise.race([ask(), broken.promise]);
    } catch (cause) {
      // The fault that ended the connection says more than what the client makes of it.
      if (fault !== undefined) throw fault;
      throw cause;
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    const found = await within(startMs, 'did not start', () => greet(client, transport));
    return {
      ...found,
      async call(tool, given) {
        const ms = server.timeoutSeconds * 1000;
        try {
          const answer = await within(ms, `did not answer \`${tool}\``, () =>
            client.callTool({ name: tool, arguments: { ...given } }, { timeout: never }),
          );
          return { isError: answer.isError === true, text: textOf(answer) };
        } catch (cause) {
          // An error that the server answers with, about this call alone.
          if (fault === undefined && sdk.ProtocolError.isInstance(cause))
            return { isError: true, text: messageOf(cause).slice(0, maxText).toWellFormed() };
          throw failed(cause);
        }
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (cause) {
    const thrown = failed(cause);
    await close();
    throw thrown;
  }

  function failed(cause: unknown): Error {
    if (fault === undefined) fail('protocol', `does not speak MCP: ${messageOf(cause)}`, cause);
    return fault ?? mcpFault(server, 'protocol', 'does not speak MCP', cause);
  }
}

async function greet(
  client: Client,
  transport: Transport,
): Promise<Pick<McpConnection, 'tools' | 'version'>> {
  await client.connect(transport, { timeout: never });
  const { tools } = await client.listTools(undefined, { timeout: never });
  return {
    version: `${client.getServerVersion()?.version ?? ''}`.slice(0, 100),
    tools: tools.slice(0, maxTools).map(({ name, description = '', inputSchema }) => ({
      name,
      description,
      inputSchema,
    })),
  };
}

type Fail = (reason: McpFaultReason, found: string, cause?: unknown) => void;

/** Lines of JSON over the pipes of a program. Whatever else it prints ends it. */
function pipeTransport({ pipes, ended, said }: StartedProgram, fail: Fail): Transport {
  const { input, output } = pipes;
  const cut = lineCutter(
    maxMessageBytes,
    () => new RangeError(`a line of more than ${maxMessageBytes} bytes`),
  );
  let total = 0;
  let isOver = false;
  const transport: Transport = {
    async start() {
      input.on('error', () => undefined);
      output.on('error', () => undefined);
      output.on('data', (chunk: Buffer) => {
        if (isOver) return;
        try {
          total += chunk.length;
          if (total > maxTotalBytes) throw new RangeError(`more than ${maxTotalBytes} bytes in all`);
          for (const line of cut(chunk))
            if (line.some((octet) => octet > 32)) transport.onmessage?.(parseFrame(line));
        } catch (thrown) {
          isOver = true;
          fail(thrown instanceof RangeError ? 'flood' : 'garbage', `sent ${messageOf(thrown)}`, thrown);
        }
      });
      void ended.then((how) => {
        isOver = true;
        const last = faultLine(said()).slice(-200);
        fail('ended', `${how}${last === '' ? '' : `: ${last}`}`);
      });
    },
    async send(message) {
      if (isOver) throw new Error('the server has ended');
      input.write(`${JSON.stringify(message)}\n`);
      if (input.writableLength <= maxWaitingBytes) return;
      isOver = true;
      fail('flood', 'does not read what it asks for');
    },
    async close() {
      isOver = true;
      transport.onclose?.();
    },
  };
  return transport;
}

/** The line of what a program printed that names its fault, else the last one. */
function faultLine(printed: string): string {
  const lines = printed.split('\n').filter((line) => line.trim() !== '');
  return (
    lines.findLast((line) => /^\s*(?:[\w.]*(?:Error|Exception)\b.*:|error:)/.test(line)) ?? lines.at(-1) ?? ''
  );
}

function parseFrame(line: Uint8Array): never {
  let value: unknown;
  try {
    const lenient = { roundsNumbers: true, allowsIllFormed: 'surrogates' } as const;
    ({ value } = parseStrictJson(line, { maxBytes: maxMessageBytes, maxDepth, ...lenient }));
  } catch (cause) {
    throw new TypeError('a line on stdout that is no JSON', { cause });
  }
  if (!isRecord(value)) throw new TypeError('a line on stdout that is no message');
  // The client checks the rest of its form.
  return value as never;
}

/** The client's requests, through the egress rules to exactly the address of the server. */
function fetchOf(
  { url = '', timeoutSeconds }: McpServer,
  { send, token }: Extract<McpWay, { readonly send: unknown }>,
  { fail, over }: { readonly fail: Fail; readonly over: AbortSignal },
) {
  const { host } = new URL(url);
  const patienceMs = Math.max(usualTimes.startMs, timeoutSeconds * 1000);
  return async (
    _asked: string | URL,
    { method = 'GET', headers, body }: RequestInit = {},
  ): Promise<Response> => {
    over.throwIfAborted();
    // Without its stream of notifications a server can only answer.
    if (method !== 'POST' || typeof body !== 'string') return new Response(null, { status: 405 });
    const answer = await send({
      url,
      method,
      headers: {
        ...Object.fromEntries(new Headers(headers)),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body,
      withinMs: patienceMs,
      idleMs: patienceMs,
      maxBytes: maxTotalBytes,
    }).catch((cause: unknown) => {
      const why = isWritError(cause, 'NETWORK_FAILED') ? cause.detail.reason : messageOf(cause);
      fail('unreachable', `cannot be reached at \`${host}\`: ${why}`, cause);
      throw cause;
    });
    if (answer.status >= 300 && answer.status < 400) {
      await answer[Symbol.asyncDispose]();
      fail('unreachable', `answers with a redirect (HTTP ${answer.status}), which is not followed`);
      throw new TypeError('a redirect');
    }
    if (answer.status >= 400) {
      await answer[Symbol.asyncDispose]();
      fail('protocol', `answers with HTTP ${answer.status}`);
      throw new TypeError('an HTTP error');
    }
    const isBare = answer.status === 204 || answer.status === 202;
    if (isBare) await answer[Symbol.asyncDispose]();
    const kept = ['content-type', 'mcp-session-id'].flatMap((one): [string, string][] => {
      const value = answer.headers[one];
      return value === undefined ? [] : [[one, value]];
    });
    return new Response(
      isBare ? null : (Readable.toWeb(Readable.from(bounded(answer, fail, over))) as BodyInit),
      {
        status: answer.status,
        headers: kept,
      },
    );
  };
}

async function* bounded(answer: OpenAnswer, fail: Fail, over: AbortSignal): AsyncGenerator<Uint8Array, void> {
  await using open = answer;
  const stop = (): void => void open[Symbol.asyncDispose]();
  over.addEventListener('abort', stop, { once: true });
  let size = 0;
  for await (const part of open.body) {
    size += part.length;
    if (size > maxMessageBytes) {
      fail('flood', `sent an answer of more than ${maxMessageBytes} bytes`);
      return;
    }
    yield part;
  }
}

/** The text of an answer; other content is named and left out. */
function textOf({ content, structuredContent }: Awaited<ReturnType<Client['callTool']>>): string {
  const parts = content.map(partOf);
  // A server that gives both gives the same twice.
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const text = parts.join('\n');
  return text.length <= maxText
    ? text
    : `${text.slice(0, maxText).toWellFormed()}\n[cut: the first ${maxText} characters]`;
}

function partOf(one: Awaited<ReturnType<Client['callTool']>>['content'][number]): string {
  switch (one.type) {
    case 'text':
      return one.text;
    case 'resource':
      return 'text' in one.resource
        ? one.resource.text
        : `[left out: a resource of type ${word(one.resource.mimeType)}]`;
    case 'resource_link':
      return `[left out: a link to the resource ${word(one.uri)}]`;
    default:
      return `[left out: ${word(one.type)} of type ${word('mimeType' in one ? one.mimeType : undefined)}]`;
  }
}

function word(text: unknown): string {
  return `${text ?? 'unknown'}`.replace(/[^\x21-\x7e]/g, '?').slice(0, 200);
}

const maxGiven = 256 * 1024;

/** The arguments of a call, or why they are none. */
export function readGiven(text: string): Readonly<Record<string, unknown>> | string {
  if (text.length > maxGiven) return `expected arguments of at most ${maxGiven} characters`;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : 'the arguments are not an object';
  } catch {
    return 'the arguments are not JSON';
  }
}

/** Characters of the arguments that a person sees. */
const maxShown = 2000;

/** The arguments of a call as a person sees them: JSON, masked and cut. */
export function shownArguments(
  given: Readonly<Record<string, unknown>>,
  mask: (text: string) => string,
): string {
  return JSON.stringify(maskedTexts(given, mask)).slice(0, maxShown).toWellFormed();
}

/** Masked before JSON escapes a part of a secret. */
function maskedTexts(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((one) => maskedTexts(one, mask));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [mask(name), maskedTexts(one, mask)]));
}

/** Every name and text of the arguments. */
export function* textsIn(value: unknown): Iterable<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const one of value) yield* textsIn(one);
  else if (isRecord(value))
    for (const [name, one] of Object.entries(value)) {
      yield name;
      yield* textsIn(one);
    }
}
