import t from 'tap';
import type { Asked } from '../../../session/screen/asked.ts';
import { textOf, visible } from '../../../session/screen/line.ts';
import type { Diagnostics, SessionDoor } from '../../../session/screen/session-door.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { entryLines } from '../../../session/tui/entry-lines.ts';
import { askedChange } from '../../../session/tui/open-printer.ts';
import { transcriptText } from '../../../session/tui/show/earlier.ts';
import { showLocal, statusLines, threadLines } from '../../../session/tui/show/show-local.ts';
import { newWorld } from '../state/walk.ts';

const snapshot = toSnapshot(newWorld().state);
const hour = 3_600_000;

t.test('an approval to write shows a diff of the change', async (t) => {
  const told = (change: unknown, kind: 'approval' | 'post_plan_choice' = 'approval') =>
    askedChange({ kind, metadata: { subject: 'workspace.fs write a', change } } as Asked, 80).map(textOf);
  t.strictSame(told({ changeType: 'modify', diff: '@@ -1 +1 @@\n-old\n+new' }), [
    '  what it would change:',
    '@@ -1 +1',
    '1 - old',
    '1 + new',
  ]);
  t.strictSame(told({ changeType: 'add', note: 'not text: 9 bytes' }), [
    '  what it would change: not text: 9 bytes',
  ]);
  t.strictSame(told(undefined), []);
  t.strictSame(told({ diff: '+new' }, 'post_plan_choice'), []);
  const lines = told({ changeType: 'modify', diff: `@@ -0,0 +1,100 @@\n${'+x\n'.repeat(100)}`, unshown: 7 });
  t.equal(lines.length, 42);
  t.match(lines.at(-1), /and 6[78] more lines: \/diff has them/);
});

t.test('the thread list leaves out threads without messages and counts them', async (t) => {
  const now = Date.parse('2026-01-02T12:00:00Z');
  const all = Array.from({ length: 450 }, (_, at) => ({
    id: `thread-${at}`,
    ...(at % 200 === 199 ? { title: `said\u001b[31m ${at}` } : {}),
    archived: false as const,
    createdAt: '',
    updatedAt: new Date(now - at * hour).toISOString(),
  }));
  const threads: SessionDoor['threads'] = async ({ limit, offset }) => {
    const next = offset + limit;
    return { items: all.slice(offset, next), ...(next < all.length ? { nextOffset: next } : {}) };
  };
  const door = { threads, snapshot: () => ({ ...snapshot, threadId: 'thread-399' }) };
  const lines = (await threadLines(door, now)).map(textOf);
  t.equal(lines.length, 4);
  t.match(lines, [
    'Threads',
    /^ {2}thread-199 {2}8d ago {4}said.* 199$/,
    /^ {2}thread-399 {2}16d ago {3}said.* 399 {2}this one$/,
    '  /resume THREAD goes on with one · 448 without a word are left out',
  ]);
  t.notMatch(lines.join(''), /\p{Cc}/u);
  const said = all.map((one) => ({ ...one, title: 'said' }));
  const many = await threadLines({ ...door, threads: async () => ({ items: said }) }, now);
  t.equal(many.length, 22);
  t.match(textOf(many.at(-1) ?? []), /there are older ones$/);
});

t.test('the status shows cost, key and sandbox in words without field names', async (t) => {
  const diagnostics: Diagnostics = {
    pid: 12,
    key: { name: 'OPENAI_API_KEY', source: 'the environment' },
    attachable: ['browser'],
    ports: { web: 3000, mcp: 6789 },
    sandbox: { backend: 'bubblewrap', enforced: ['network'], selfApproval: 'impossible' },
    lastError: 'PROVIDER_FAILED',
  };
  const usage = {
    inputTokens: 40_000,
    outputTokens: 5_200,
    costUsd: 0.12,
    contextTokens: 3400,
    contextWindow: 10_000,
    limitUsd: 2,
  };
  const text = statusLines({ ...snapshot, usage }, diagnostics)
    .map(textOf)
    .join('\n');
  for (const told of [
    /^ {2}cost {10}\$0\.12 of at most \$2\.00$/m,
    /^ {2}tokens {8}40k read, 5\.2k written$/m,
    /^ {2}context used {2}3\.4k of 10k tokens$/m,
    /^ {2}key {11}OPENAI_API_KEY from the environment$/m,
    /^ {2}may steer {5}you, browser$/m,
    /^ {2}sandbox {7}bubblewrap: network$/m,
    /^ {2}self-approval no, it was tried$/m,
    /^ {2}served on {5}port 3000, MCP on port 6789$/m,
    /^ {2}last failure {2}PROVIDER_FAILED$/m,
  ])
    t.match(text, told);
  t.notMatch(text, /^ {2}\S*(?:[A-Z]|\.)/m, 'no name of a field');
  const none = {
    ...diagnostics,
    sandbox: { backend: 'none', enforced: [], selfApproval: 'possible' },
  } as const;
  const bare = statusLines(snapshot, none).map(textOf).join('\n');
  t.match(bare, /sandbox {7}NONE: nothing confines commands\n {2}self-approval YES/);
  t.match(bare, /cost {10}no model was asked yet/);
});

t.test('the status lists MCP servers with their state, reach and tools', async (t) => {
  const sha256 = 'ab12'.repeat(16);
  const diagnostics: Partial<Diagnostics> = {
    mcp: [
      {
        server: 'notes',
        from: 'policy',
        state: 'started',
        endpoint: 'sha256:00',
        reach: 'no network, no files',
        tools: [
          { name: 'echo', sha256, isApproved: true },
          { name: 'list', sha256, isApproved: false },
        ],
      },
      {
        server: 'wiki',
        from: 'user',
        state: 'failed',
        endpoint: 'mcp.example.com',
        reach: 'reaches mcp.example.com',
        why: 'failed:\u001b[31m gone',
        tools: [],
      },
    ],
  };
  const text = statusLines(snapshot, diagnostics).map(textOf).join('\n');
  t.match(
    text,
    /^ {2}mcp notes {5}started, of the policy configuration · no network, no files · approved: echo \(ab12ab12ab12\) · not used yet: list$/m,
  );
  t.match(
    text,
    /^ {2}mcp wiki {6}failed, of the user configuration · reaches mcp\.example\.com · failed:.*gone$/m,
  );
  t.notMatch(text, '\u001b');
  const listed = async (given: Partial<Diagnostics>) => {
    const door = { diagnostics: async () => given } as unknown as SessionDoor;
    const context = { door } as Parameters<typeof showLocal>[1];
    return (await showLocal({ type: 'mcp' }, context)).map(textOf).join('\n');
  };
  t.match(await listed(diagnostics), /^ {2}notes {9}started.*\n {2}wiki {10}failed, .*gone$/m);
  t.match(
    await listed({ mcpUncommitted: ['mcp.a', 'mcp_servers.b'] }),
    /not in force {2}`\[mcp\.a\]`, `\[mcp_servers\.b\]` of `\.writ\/config\.toml` differ from HEAD and count once committed\. writ reads only `\[mcp\.NAME\]`/,
  );
  t.match(await listed({}), 'no server is configured: `writ mcp add NAME -- COMMAND`');
  const policy = [{ key: 'models', value: ['a*', 'b'], from: '/etc/writ/policy.toml of this machine' }];
  t.match(
    statusLines(snapshot, { ...diagnostics, policy })
      .map(textOf)
      .join('\n'),
    /^ {2}policy {8}models: a\*, b · \/etc\/writ\/policy\.toml of this machine$/m,
  );
});

t.test('a message shows what is attached to it', async (t) => {
  const entry = {
    id: 'a',
    kind: 'user_message',
    content: 'What is @../my pictures/logo\u202e.png?',
    streaming: false,
    metadata: {
      attachments: [
        { name: '../my pictures/logo\u202e.png', mediaType: 'image/png', bytes: 12_345 },
        { name: 'message.txt', mediaType: 'text/plain', bytes: 1_200_000 },
        { name: 'dot.webp', mediaType: 'image/webp', bytes: 164 },
      ],
    },
    createdAt: '',
    updatedAt: '',
  } as const;
  const lines = entryLines(entry, 80).map(textOf);
  t.strictSame(lines.slice(2), [
    `  [image logo${visible('\u202e')}.png 12 kB]`,
    '  [text message.txt 1.2 MB]',
    '  [image dot.webp 164 B]',
  ]);
  t.match(transcriptText({ ...snapshot, transcript: [entry] }), /\[text message\.txt 1\.2 MB\]/);
});
