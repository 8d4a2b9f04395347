import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { LogFacts } from '../../../session/open-log.ts';
import type { OpenSession } from '../../../session/open-session.ts';
import { type ServedSession, type ServeSetting, serveSession } from '../../../session/serve/serve-session.ts';
import type { SessionGround } from '../../../session/state/fact.ts';
import { openUploads } from '../../../session/thread/attachments.ts';
import { newWorld } from '../state/walk.ts';
import { memoryThread } from '../thread/memory-thread.ts';

/** What serves a session in memory, below a directory of its own. */
function scene(t: Test, given: Partial<SessionGround> = {}) {
  const root = t.testdir({});
  const lines: string[] = [];
  const order: string[] = [];
  const looked: string[] = [];
  const open = async (): Promise<OpenSession> => {
    order.push('opened');
    let ids = 0;
    const channel = openChannel({
      state: newWorld({
        local: 'none',
        provider: { provider: 'gemini', model: 'm', managed: false },
        ...given,
      }).state,
      thread: { append: async () => {} },
      clock: systemClock,
      newId: () => {
        ids += 1;
        return `i${ids}`;
      },
      perform: async () => {},
      fingerprint: async () => 'f',
    } as Parameters<typeof openChannel>[0]);
    return {
      channel,
      threadId: 't',
      transcript: memoryThread(),
      grants: keepGrants(systemClock),
      uploads: openUploads(),
      async catchUp() {
        looked.push('at the last run');
      },
      allow: async () => 'nobody' as const,
      async [Symbol.asyncDispose]() {
        order.push('ended');
        await channel[Symbol.asyncDispose]();
      },
    };
  };
  const serve = (
    more: {
      readonly port?: number;
      readonly mcpPort?: number;
      readonly replaceable?: ServeSetting['options']['replaceable'];
      readonly mode?: 'observe' | 'write';
      readonly host?: string;
    } = {},
    opener = open,
  ) =>
    serveSession({
      options: {
        web: { host: more.host ?? '127.0.0.1', port: more.port ?? 0 },
        mcpPort: more.mcpPort ?? 0,
        replaceable: more.replaceable,
        control: { mode: more.mode ?? 'observe', tokenFile: undefined, infoFile: undefined },
        networkAccess: 'deny' as const,
        workingDir: root,
      },
      root,
      open: opener,
      about: {
        provider: 'gemini',
        key: { name: 'GEMINI_API_KEY', source: 'the environment' },
        logFile: '/log',
        selfTest: async () => ({ isTried: true, reached: [] }),
        sandbox: async () => ({ backend: 'bubblewrap', enforced: ['network'] }),
      },
      version: '1.2.3',
      commit: '4'.repeat(40),
      mcp: {
        cwd: root,
        version: '1.2.3',
        ask: async () => ({}),
        approval: { policy: 'never' },
        readsOnly: () => false,
        log: () => {},
      },
      statePaths: [],
      threads: async () => ({ items: [] }),
      graph: async (thread) => ({ thread_id: thread, title: '', nodes: [], edges: [] }),
      selfTest: { serve: () => {}, result: async () => ({ isTried: true, reached: [] }) },
      requireAgent: () => {},
      clock: systemClock,
      log: {
        file: undefined,
        tell: (level, target, event, facts: LogFacts = {}) =>
          void lines.push(`${level} ${target} ${event} ${JSON.stringify(facts)}`),
        close: () => {},
      },
      report: (fault) => t.fail(String(fault)),
    });
  const left = (): readonly string[] => {
    const directory = join(root, '.writ', 'code');
    return existsSync(directory)
      ? readdirSync(directory).filter((name) => !/\.lock$|^\.gitignore$/.test(name))
      : [];
  };
  return { root, serve, open, lines, order, looked, left };
}

/** A port that somebody else has. */
async function takenPort(t: Test): Promise<number> {
  const server = createServer();
  server.listen({ host: '127.0.0.1', port: 0, exclusive: true });
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return (server.address() as AddressInfo).port;
}

t.test('a served session reports diagnostics without secrets and removes its files at its end', async (t) => {
  const { root, serve, lines, order, looked, left } = scene(t);
  const served = await serve({ mode: 'write' });
  const get = async (path: string) => {
    const answer = await fetch(`${served.baseUrl}${path}`);
    return { type: answer.headers.get('content-type'), text: await answer.text() };
  };
  t.match(JSON.parse((await get('/api/code/session')).text), { threadId: 't', status: 'idle' });
  t.strictSame(looked, []);
  const port = Number(new URL(served.baseUrl).port);
  t.strictSame(JSON.parse((await get('/api/code/diagnostics')).text), {
    pid: process.pid,
    provider: 'gemini',
    model: 'm',
    key: { name: 'GEMINI_API_KEY', source: 'the environment' },
    threadId: 't',
    status: 'idle',
    controller: { kind: 'none', canWrite: false, reason: 'no one is attached', loopbackOnly: true },
    attachable: ['browser', 'automation'],
    ports: { web: port, mcp: Number(new URL(served.mcpUrl).port) },
    sandbox: { backend: 'bubblewrap', enforced: ['network'], selfApproval: 'impossible' },
    logFile: '/log',
  });
  t.strictSame(looked, ['at the last run'], 'it may have ended in another process');
  const page = await get('/');
  t.match(
    [page.type, page.text],
    [/^text\/html/, /<script type="module" src="\/assets\/app-[0-9a-f]{16}.js">/],
  );
  t.match(JSON.parse(readFileSync(join(root, '.writ', 'code', 'control.json'), 'utf8')), {
    mode: 'write',
    baseUrl: served.baseUrl,
    mcpUrl: served.mcpUrl,
    threadId: 't',
  });
  t.strictSame([...left()].sort(), ['control-token', 'control.json', 'mcp-token']);

  const { session } = served;
  await session.channel.send({
    type: 'attach',
    clientId: 'c',
    kind: 'browser',
    tokenDigest: 'd',
    controlToken: 'missing',
  });
  const proof = { from: 'client', tokenDigest: 'd', controlToken: 'missing' } as const;
  await session.channel.send({ type: 'submit', text: 'my secret words', proof });
  const { turn = '' } = session.channel.state;
  await session.channel.send({ turn, type: 'ask', subject: 'x', kind: 'approval', metadata: {} });
  t.match(JSON.parse((await get('/api/code/diagnostics')).text), {
    status: 'awaiting_interaction',
    activeInteractionId: session.channel.state.interactions[0]?.id ?? 'none',
  });
  await session.channel.send({
    turn,
    type: 'end',
    end: 'failed',
    reason: 'PROVIDER_FAILED: said secret words',
  });
  const after = JSON.parse((await get('/api/code/diagnostics')).text);
  t.match(after, { status: 'error', lastError: 'PROVIDER_FAILED', controller: { ownerLabel: 'c' } });
  t.notMatch(JSON.stringify(after), /secret/);
  t.match(lines.join('\n'), /debug session said .*\n.*debug session turn-ended /s);
  t.notMatch(lines.join('\n'), /secret/, 'a log holds nothing that was said');

  await served[Symbol.asyncDispose]();
  t.strictSame(left(), []);
  t.strictSame(order, ['opened', 'ended']);
  await t.rejects(fetch(served.baseUrl));
});

t.test(
  'a port that is in use stops the start before the session opens and is named in the error',
  async (t) => {
    const { serve, order, left } = scene(t);
    const taken = await takenPort(t);
    await t.rejects(serve({ port: taken, mode: 'write' }), {
      code: 'PORT_UNAVAILABLE',
      exitCode: 128,
      message: new RegExp(`port ${taken} `),
      hints: [/`--port PORT`/],
    });
    t.strictSame([order, left()], [[], []]);
    await t.rejects(serve({ mcpPort: taken, mode: 'write' }), {
      code: 'PORT_UNAVAILABLE',
      detail: { port: taken },
      hints: [/`--mcp-port PORT`/],
    });
    t.strictSame([order, left()], [[], []], 'also where it is that of MCP');
  },
);

t.test('any free port replaces a port that no one named and that is in use', async (t) => {
  const { serve } = scene(t);
  const ports = [await takenPort(t), await takenPort(t)] as const;
  const [port, mcpPort] = ports;
  await using served = await serve({ port, mcpPort, replaceable: ['web', 'mcp'] });
  const found = [served.baseUrl, served.mcpUrl].map((url) => Number(new URL(url).port));
  for (const one of found) t.notOk(ports.includes(one));
  t.match(await served.door.diagnostics(), { ports: { web: found[0], mcp: found[1] } });
  await t.rejects(serve({ port, mcpPort, replaceable: ['web'] }), {
    code: 'PORT_UNAVAILABLE',
    detail: { port: mcpPort },
  });
  await t.rejects(serve({ port, replaceable: ['mcp'] }), { code: 'PORT_UNAVAILABLE', detail: { port } });
});

t.test('diagnostics report the default HTTP port by its number', async (t) => {
  const { serve } = scene(t);
  const served = await serve({ port: 80 }).catch((fault: unknown) => fault);
  if (served instanceof Error) {
    t.match(served, { code: 'PORT_UNAVAILABLE' });
    t.comment('port 80 cannot be had here');
    return;
  }
  await using session = served as ServedSession;
  const answer = await fetch(`${session.baseUrl}/api/code/diagnostics`);
  t.match(await answer.json(), { ports: { web: 80, mcp: Number(new URL(session.mcpUrl).port) } });
});

t.test('a session that cannot open leaves no control files', async (t) => {
  const { serve, left } = scene(t);
  const refused = serve({ mode: 'write' }, async () => {
    throw new WritError('THREAD_NOT_FOUND');
  });
  await t.rejects(refused, { code: 'THREAD_NOT_FOUND', exitCode: 1 });
  t.strictSame(left(), []);
});

t.test('a browser on another machine sees the version and commit on a page without scripts', async (t) => {
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all);
  const reached = own.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  if (reached === undefined) {
    t.comment('this machine has no address but the loopback');
    return;
  }
  const { serve } = scene(t);
  await using served = await serve({ host: '0.0.0.0' });
  const socket = connect(Number(new URL(served.baseUrl).port), reached);
  socket.end('GET / HTTP/1.1\r\nhost: x\r\naccept: text/html\r\nconnection: close\r\n\r\n');
  const page = (await socket.toArray()).join('');
  for (const told of ['0.0.0.0', reached, '1.2.3', '4'.repeat(40)])
    t.ok(page.includes(`<code>${told}</code>`), told);
  t.notMatch(page, /<script/);
});
