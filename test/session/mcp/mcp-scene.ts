import { PassThrough } from 'node:stream';
import {
  Client,
  type ClientOptions,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import t, { type Test } from 'tap';
import { serveMcpStdio } from '../../../session/mcp/serve-mcp-stdio.ts';
import type { McpGround, WritAnswer } from '../../../session/mcp/tool.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';

type Line = Readonly<Record<string, unknown>> & {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
};

export type Scene = ReturnType<typeof openScene>;

/** A server on streams of this process, and whoever writes to it. */
export function openScene(t: Test, ground: Partial<McpGround> & Pick<McpGround, 'cwd'>) {
  const input = new PassThrough();
  const over = new AbortController();
  const lines: Line[] = [];
  const logged: string[] = [];
  const readers = new Set<(line: Line) => void>();
  const served = serveMcpStdio(
    {
      version: '0.0.0',
      ask: async (): Promise<WritAnswer> => ({ data: {} }),
      approval: { policy: 'on-request' },
      readsOnly: () => false,
      log: (line) => logged.push(line),
      ...ground,
    },
    {
      input,
      write: (text) => {
        const line = JSON.parse(text) as Line;
        lines.push(line);
        for (const read of readers) read(line);
      },
      signal: over.signal,
    },
  );
  t.teardown(async () => {
    over.abort();
    await served;
  });
  const say = (text: string): void => void input.write(text);
  return {
    lines,
    logged,
    served,
    say,
    end: () => void input.end(),
    send: (message: object): void => say(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    /** The answer to a request, when it is there. */
    async answer(id: string | number | null): Promise<Line> {
      const find = () => lines.find((line) => line.id === id && line.method === undefined);
      await until(find, `the answer to ${id}`);
      return find() as Line;
    },
    /** The official client, in one of the eras; `answers` is what its person says. */
    async connect(era: 'legacy' | 'modern', answers?: (message: string) => object): Promise<Client> {
      const options: ClientOptions = {
        capabilities: answers === undefined ? {} : { elicitation: { form: {} } },
        versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' },
      };
      const client = new Client({ name: `test ${era}`, version: '1' }, options);
      if (answers !== undefined)
        client.setRequestHandler('elicitation/create', ({ params }) => answers(params.message) as never);
      const transport: Transport = {
        start: async () =>
          void readers.add((line) => transport.onmessage?.(line as unknown as JSONRPCMessage)),
        send: async (message) => say(`${JSON.stringify(message)}\n`),
        close: async () => transport.onclose?.(),
      };
      await client.connect(transport);
      return client;
    },
  };
}

/** A request of the newer era, which says of itself who asks. */
export function modern(id: number, method: string, params: object = {}, capabilities: object = {}): object {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  return { id, method, params: { ...params, _meta } };
}

/** Opens the older era by hand. */
export function legacyHello(scene: Scene): void {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  scene.send({ id: 'hello', method: 'initialize', params });
  scene.send({ method: 'notifications/initialized' });
}

/** The code of a refused call, `ok` else. */
export function codeOf(result: unknown): string {
  const { isError, structuredContent } = result as {
    readonly isError?: boolean;
    readonly structuredContent?: { readonly error?: { readonly code?: string } };
  };
  return isError === true ? (structuredContent?.error?.code ?? 'unknown') : 'ok';
}

/** A test of one era; in `npm test` as a whole the other one keeps watch for both. */
export function testIn(isKept: boolean, name: string, body: (t: Test) => Promise<unknown>): void {
  if (isKept) t.test(name, body);
  else long(name, body);
}
