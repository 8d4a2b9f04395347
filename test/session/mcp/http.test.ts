import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import t, { type Test } from 'tap';
import { serveMcpHttp } from '../../../session/mcp/serve-mcp-http.ts';
import type { McpGround } from '../../../session/mcp/tool.ts';
import { until } from '../../waiting/until.ts';
import { personRepository } from '../vcs/person-repository.ts';
import { codeOf, modern, testIn } from './mcp-scene.ts';

/** A server, its token, and a client that says exactly what it is told to. */
async function scene(t: Test, more: Partial<McpGround> = {}) {
  const { root: cwd, home, git } = personRepository();
  const directory = join(home, 'state');
  mkdirSync(directory, { mode: 0o700 });
  const ground: McpGround = {
    cwd,
    version: '0.0.0',
    ask: async () => ({ data: { runs: [] } }),
    approval: { policy: 'on-request' },
    readsOnly: () => false,
    log: () => {},
    ...more,
  };
  const report = (fault: unknown): void => void t.fail(String(fault));
  const served = await serveMcpHttp(ground, { host: '127.0.0.1', port: 0, directory, report });
  t.teardown(() => served.close());
  const token = readFileSync(served.tokenFile, 'utf8');
  const post = (body: string | object, headers: Record<string, string> = {}, method = 'POST') =>
    new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>(
      (resolve, reject) => {
        const sent = request(served.mcpUrl, {
          method,
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            authorization: `Bearer ${token}`,
            ...headers,
          },
        });
        sent.on('error', reject).on('response', (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              text: Buffer.concat(parts).toString(),
              headers: answer.headers,
            }),
          );
        });
        sent.end(typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', ...body }));
      },
    );
  return { ...served, token, git, post };
}

const ping = { id: 1, method: 'ping' };
const newer = { 'mcp-protocol-version': '2026-07-28' };

for (const era of ['legacy', 'modern'] as const)
  testIn(
    era === 'modern',
    `the official client calls tools over HTTP and receives progress, era ${era}`,
    async (t) => {
      const begun: unknown[] = [];
      let proceed: ((answer: { data: object }) => void) | undefined;
      const ask = (): Promise<{ data: { runs: [] } }> =>
        new Promise((resolve) => {
          proceed = () => resolve({ data: { runs: [] } });
        });
      const { mcpUrl, token } = await scene(t, { ask });
      const client = new Client(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' } },
      );
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }));
      t.teardown(() => client.close());
      t.equal(client.getProtocolEra(), era);
      t.equal((await client.listTools()).tools.length, 8);
      const listed = client.callTool({ name: 'list_runs' }, { onprogress: (one) => begun.push(one.message) });
      await until(() => begun.length > 0, 'progress');
      proceed?.({ data: {} });
      t.match(await listed, { structuredContent: { runs: [] } });
      t.equal(begun[0], 'list_runs begins');
      const made = { name: 'run_writ_vcs', arguments: { command: 'branch', args: ['made'] } };
      t.equal(codeOf(await client.callTool(made)), 'APPROVAL_REQUIRED');
    },
  );

t.test('a request without the token, from another host or from a web page is refused', async (t) => {
  const { post, token, tokenFile } = await scene(t);
  t.equal(statSync(tokenFile).mode & 0o777, 0o600);
  t.equal((await post(ping)).status, 200);
  const refused: readonly (readonly [headers: Record<string, string>, status: number])[] = [
    [{ authorization: '' }, 401],
    [{ authorization: token }, 401],
    [{ authorization: `Bearer ${token}x` }, 401],
    [{ authorization: `Bearer ${token.slice(1)}` }, 401],
    [{ authorization: `Basic ${token}` }, 401],
    [{ host: 'evil.example' }, 403],
    [{ host: 'localhost.evil.example:80' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-encoding': 'gzip' }, 415],
  ];
  for (const [headers, status] of refused) {
    const answer = await post(ping, headers);
    t.equal(answer.status, status, JSON.stringify(headers).slice(0, 60));
    t.notMatch(answer.text, new RegExp(token), 'the token is in no answer');
  }
  const { text, headers } = await post(ping, { authorization: '' });
  t.equal(headers['www-authenticate'], 'Bearer');
  t.match(JSON.parse(text), { error: { code: 'MCP_TOKEN_REQUIRED' } });
  for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS'])
    t.equal((await post('', {}, method)).status, 405, method);
});

t.test('a body that is too large, not JSON or not a message is refused', async (t) => {
  const { post } = await scene(t);
  const bodies: readonly (readonly [body: string, status: number])[] = [
    ['', 400],
    ['{', 400],
    ['[]', 400],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400],
    [`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`, 400],
    [`{"x":"${'x'.repeat(300_000)}"}`, 413],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400],
    ['{}', 400],
  ];
  for (const [body, status] of bodies) t.equal((await post(body)).status, status, body.slice(0, 60));
  const unknown = await post(modern(1, 'no/such'), { ...newer, 'mcp-method': 'no/such' });
  t.match(unknown.text, /-32601/);
  const lies = await post(modern(1, 'tools/list'), { ...newer, 'mcp-method': 'tools/call' });
  t.match(lies.text, /-32020/, 'what a header says of a message is what it is');
});

t.test('a port that is in use is refused, and closing the server removes its token file', async (t) => {
  const first = await scene(t);
  const { port } = new URL(first.mcpUrl);
  const { root: cwd, home } = personRepository();
  const options = { host: '127.0.0.1', port: Number(port), directory: home, report: () => {} };
  const ground: McpGround = {
    cwd,
    version: '0.0.0',
    ask: async () => ({}),
    approval: { policy: 'never' },
    readsOnly: () => false,
    log: () => {},
  };
  await t.rejects(serveMcpHttp(ground, options), { code: 'PORT_UNAVAILABLE' });
  t.notOk(existsSync(join(home, 'mcp-token')));
  await first.close();
  t.notOk(existsSync(first.tokenFile));
});

t.test('a second server gets its own token file beside that of the first', async (t) => {
  const first = await scene(t);
  const directory = dirname(first.tokenFile);
  const { root: cwd } = personRepository();
  const ground: McpGround = {
    cwd,
    version: '0.0.0',
    ask: async () => ({}),
    approval: { policy: 'never' },
    readsOnly: () => false,
    log: () => {},
  };
  const beside = { host: '127.0.0.1', port: 0, directory, report: () => {} };
  const second = await serveMcpHttp(ground, beside);
  t.equal(second.tokenFile, `${first.tokenFile}-${new URL(second.mcpUrl).port}`);
  t.equal(statSync(second.tokenFile).mode & 0o777, 0o600);
  t.not(readFileSync(second.tokenFile, 'utf8'), first.token);
  t.equal(readFileSync(first.tokenFile, 'utf8'), first.token);
  await second.close();
  t.strictSame(readdirSync(directory).sort(), ['mcp-token', 'mcp-token.lock']);
  t.equal((await first.post(ping)).status, 200, 'who has read it goes on');
  await first.close();
  t.strictSame(readdirSync(directory), [], 'the next one has the name');
  const third = await serveMcpHttp(ground, beside);
  t.equal(third.tokenFile, first.tokenFile);
  await third.close();
});

t.test('a client that disconnects aborts its tool call', async (t) => {
  let gone: AbortSignal | undefined;
  const { mcpUrl, token } = await scene(t, {
    ask: (_, signal) => {
      gone = signal;
      return new Promise(() => {});
    },
  });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
    ...newer,
    'mcp-method': 'tools/call',
    'mcp-name': 'list_runs',
  };
  const sent = request(mcpUrl, { method: 'POST', headers }).on('error', () => {});
  sent.end(JSON.stringify({ jsonrpc: '2.0', ...modern(1, 'tools/call', { name: 'list_runs' }) }));
  await until(() => gone !== undefined, 'the call');
  sent.destroy();
  await until(() => gone?.aborted, 'its end');
  t.ok(gone?.aborted);
});
