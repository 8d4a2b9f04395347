/** Serves MCP over standard input and output. */
import type { Readable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { cutLines } from '../client/find-session.ts';
import { openMcpFamily } from './open-mcp-server.ts';
import type { McpGround } from './tool.ts';

export interface McpStdio {
  readonly input: Readable;
  /** Writes to stdout, which carries only the protocol. */
  readonly write: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Serves one client over standard input and output, in the era that it opens with. Resolves when it has gone. */
export async function serveMcpStdio(ground: McpGround, { input, write, signal }: McpStdio): Promise<void> {
  const family = openMcpFamily(ground);
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const transport = lineTransport({ input, write, isMessage });
  const report = (fault: Error): void => ground.log(`mcp: ${fault.message.slice(0, 200)}`);
  const handle = serveStdio(() => family.open('stdio'), { transport, maxSubscriptions: 16, onerror: report });
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    resolve();
  };
  const close = (): void => void handle.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  await over;
  signal.removeEventListener('abort', close);
  await handle.close();
}

function isMessage(value: unknown): boolean {
  try {
    parseJSONRPCMessage(value);
    return true;
  } catch {
    return false;
  }
}

interface LineStreams {
  readonly input: Readable;
  /** One whole line, with its end. */
  readonly write: (line: string) => void;
  /** Whether a message has the form of the protocol. */
  readonly isMessage: (value: unknown) => boolean;
}

const maxLineBytes = 4 * 1024 * 1024;
const maxDepth = 64;
/** What came before the end of the input is still answered, for so long. */
const lastAnswersMs = 60_000;

/**
 * JSON-RPC, one message per line. An invalid message gets the JSON-RPC error (-32700, -32600), and the connection
 * continues. Only the end of the client's output ends it. A line that is too long is skipped whole.
 */
function lineTransport({ input, write, isMessage }: LineStreams): Transport {
  const waiting = new Set<string | number>();
  /** Requests to the client that it has not answered. */
  const asked = new Set<string | number>();
  let timer: NodeJS.Timeout | undefined;
  let [hasEnded, isClosed] = [false, false];
  const cut = cutLines(maxLineBytes);
  const refuse = (code: number, message: string, id: string | number | null = null): void =>
    write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);
  const take = (line: Buffer | 'too-long'): void => {
    if (isClosed) return;
    if (line === 'too-long') {
      refuse(-32_600, `expected lines of at most ${maxLineBytes} bytes`);
      return;
    }
    if (line.every((byte) => byte === 13 || byte === 32 || byte === 9)) return;
    const value = read(line);
    if (value === undefined || !isMessage(value)) {
      if (value === undefined) refuse(-32_700, 'expected one line of strict JSON');
      else refuse(-32_600, 'expected a JSON-RPC 2.0 message', idOf(value));
      return;
    }
    const message = value as JSONRPCMessage;
    const isRequest = 'method' in message && 'id' in message;
    if (isRequest && message.id !== undefined) waiting.add(message.id);
    if ('method' in message && message.method === 'notifications/cancelled')
      forget(message.params?.requestId);
    if (!('method' in message) && message.id !== undefined) asked.delete(message.id);
    transport.onmessage?.(message);
  };
  /** A client whose output has ended answers no request. */
  const refuseAsked = (): void => {
    for (const id of asked) {
      asked.delete(id);
      const error = { code: -32_000, message: 'the client closed its output' };
      transport.onmessage?.({ jsonrpc: '2.0', id, error });
    }
  };
  const forget = (id: unknown): void => {
    if (typeof id === 'string' || typeof id === 'number') waiting.delete(id);
    if (hasEnded && waiting.size === 0) void transport.close();
  };
  const onData = (chunk: Buffer): void => {
    for (const line of cut(chunk)) take(line);
  };
  const onEnd = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    if (waiting.size === 0) return void transport.close();
    timer = setTimeout(() => void transport.close(), lastAnswersMs);
    refuseAsked();
  };
  const transport: Transport = {
    async start() {
      input.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onEnd);
      if (input.readableEnded || input.destroyed) onEnd();
    },
    async send(message) {
      if (isClosed) return;
      write(`${JSON.stringify(message)}\n`);
      if (!('method' in message)) return forget(message.id);
      if ('id' in message && message.id !== undefined) asked.add(message.id);
      if (hasEnded) setImmediate(refuseAsked);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(timer);
      input.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onEnd);
      // Later errors have no receiver.
      input.on('error', () => {});
      input.pause();
      transport.onclose?.();
    },
  };
  return transport;
}

function read(line: Buffer): unknown {
  try {
    return parseStrictJson(line, { code: 'INVALID_BODY', maxBytes: maxLineBytes, maxDepth }).value;
  } catch (fault) {
    if (isWritError(fault, 'INVALID_BODY')) return undefined;
    throw fault;
  }
}

function idOf(value: unknown): string | number | null {
  const { id } = Object(value) as { readonly id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
