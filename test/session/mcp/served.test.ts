import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { openChannel } from '../../../session/open-channel.ts';
import { serveSession } from '../../../session/serve/serve-session.ts';
import { openUploads } from '../../../session/thread/attachments.ts';
import type { VisitorUse } from '../../../session/work/consent.ts';
import { newWorld } from '../state/walk.ts';
import { memoryThread } from '../thread/memory-thread.ts';
import { personRepository } from '../vcs/person-repository.ts';
import { codeOf } from './mcp-scene.ts';

t.test('a change from an MCP client of a served session needs the approval of the controller', async (t) => {
  const { root, git } = personRepository();
  const asked: VisitorUse[] = [];
  const channel = openChannel({
    state: newWorld({ local: 'none' }).state,
    thread: { append: async () => {} },
    clock: systemClock,
    newId: () => 'i',
    perform: async () => {},
  });
  const answers = ['approved', 'denied', 'nobody'] as const;
  await using served = await serveSession({
    options: {
      web: { host: '127.0.0.1', port: 0 },
      mcpPort: 0,
      control: { mode: 'observe', tokenFile: undefined, infoFile: undefined },
      networkAccess: 'deny',
      workingDir: root,
    },
    root,
    open: async () => ({
      channel,
      threadId: 't',
      transcript: memoryThread(),
      grants: keepGrants(systemClock),
      uploads: openUploads(),
      catchUp: async () => {},
      allow: async (use) => answers[asked.push(use) - 1] ?? 'nobody',
      [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
    }),
    about: {
      provider: 'gemini',
      key: undefined,
      logFile: undefined,
      selfTest: async () => ({ isTried: true, reached: [] }),
      sandbox: async () => ({ backend: 'none', enforced: [] }),
    },
    version: '1.2.3',
    commit: 'unknown',
    mcp: {
      cwd: root,
      version: '1.2.3',
      ask: async () => ({}),
      approval: { policy: 'on-request' },
      readsOnly: () => false,
      log: () => {},
    },
    statePaths: [],
    threads: async () => ({ items: [] }),
    graph: async (thread) => ({ thread_id: thread, title: '', nodes: [], edges: [] }),
    selfTest: { serve: () => {}, result: async () => ({ isTried: true, reached: [] }) },
    requireAgent: () => {},
    clock: systemClock,
    log: { file: undefined, tell: () => {}, close: () => {} },
    report: (fault) => t.fail(String(fault)),
  });
  const token = readFileSync(join(root, '.writ/code/mcp-token'), 'utf8');
  const client = new Client({ name: 'other agent', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(served.mcpUrl), { requestInit }));
  const make = async (branch: string) =>
    codeOf(await client.callTool({ name: 'run_writ_vcs', arguments: { command: 'branch', args: [branch] } }));
  t.strictSame(
    [await make('a'), await make('b'), await make('c')],
    ['ok', 'APPROVAL_DENIED', 'APPROVAL_REQUIRED'],
  );
  t.match(asked[0], { argv: ['branch', 'a'], lines: [/^writ is asked to create branch `a` at/] });
  t.match(git('branch', '--list', 'a', 'b', 'c').trim(), /^a$/);
  await client.close();
});
