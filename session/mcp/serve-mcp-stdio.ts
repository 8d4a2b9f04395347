import type { Readable } from 'node:stream';
import { parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { lineTransport } from './line-transport.ts';
import type { McpGround } from './mcp-ground.ts';
import { openMcpFamily } from './open-mcp-server.ts';

export interface McpStdio {
  readonly input: Readable;
  /** Standard output: it carries the protocol and nothing else. */
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
