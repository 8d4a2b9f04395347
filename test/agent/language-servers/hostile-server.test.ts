import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { frameBounds, ServerFault } from '../../../agent/language-servers/connection.ts';
import { until } from '../../waiting/until.ts';
import { answering, hasty, type Play, playServer, silence } from './fake-server.ts';

const range = (line: number, character = 0) => ({
  start: { line, character },
  end: { line, character: character + 4 },
});
const at = (uri: unknown, line = 0) => ({ uri, range: range(line) });
const name = { symbol: 'name' } as const;

/** What a server says that ends the conversation, and what the model is told of it. */
const ends: readonly (readonly [what: string, play: Play, told: RegExp, hasty?: true])[] = [
  ['never greets', answering('initialize', () => silence), /did not answer within/, true],
  ['greets with nothing', answering('initialize', () => 'hello'), /does not say what it can/],
  [
    'counts characters otherwise',
    answering('initialize', () => ({ capabilities: { positionEncoding: 'utf-8' } })),
    /counts characters/,
  ],
  ['never answers', answering('none', () => null), /did not answer within/, true],
  ['dies', answering('textDocument/hover', (_, { die }) => die('ended with 139')), /ended/],
  ['sends text', answering('textDocument/hover', (_, { raw }) => raw('x'.repeat(9000))), /without an end/],
  [
    'sends a head of many lines',
    answering('textDocument/hover', (_, { raw }) => raw(`${'a: b\r\n'.repeat(1000)}\r\n`)),
    /without an end/,
  ],
  [
    'sends a negative length',
    answering('textDocument/hover', (_, { raw }) => raw('Content-Length: -5\r\n\r\n')),
    /one plain length/,
  ],
  [
    'sends no length',
    answering('textDocument/hover', (_, { raw }) => raw('Content-Type: x\r\n\r\n{}')),
    /one plain length/,
  ],
  [
    'sends two lengths',
    answering('textDocument/hover', (_, { raw }) => raw('Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ')),
    /one plain length/,
  ],
  [
    'sends a length in another way',
    answering('textDocument/hover', (_, { raw }) => raw('Content-Length: 0x10\r\n\r\n')),
    /one plain length/,
  ],
  [
    'announces a huge message',
    answering('textDocument/hover', (_, { raw }) => raw('Content-Length: 999999999\r\n\r\n')),
    /message of 999999999 octets/,
  ],
  [
    'sends what is not JSON',
    answering('textDocument/hover', (_, { raw }) => raw('Content-Length: 2\r\n\r\n{]')),
    /not JSON/,
  ],
  [
    'sends a list',
    answering('textDocument/hover', (_, { raw }) => raw('Content-Length: 2\r\n\r\n[]')),
    /no object/,
  ],
  [
    'nests without end',
    answering('textDocument/hover', (_, { raw }) => {
      const text = `{"result":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
      raw(`Content-Length: ${text.length}\r\n\r\n${text}`);
    }),
    /more than 100 levels/,
  ],
  [
    'floods with messages',
    answering('textDocument/hover', (_, { raw }) => {
      const one = 'Content-Length: 14\r\n\r\n{"method":"a"}';
      for (let sent = 0; sent <= frameBounds.messages; sent += 1000) raw(one.repeat(1001));
    }),
    /more than 200000 messages/,
  ],
  [
    'floods with requests',
    answering('textDocument/hover', (_, { send }) => {
      for (let id = 0; id <= 10_001; id += 1) send({ id, method: 'workspace/configuration' });
    }),
    /asked for more than/,
  ],
  [
    'answers a request that was not made',
    answering('textDocument/hover', (_, { send }) => {
      for (let id = 1000; id <= 2002; id += 1) send({ id, result: { contents: 'no' } });
    }),
    /answers a request that was not made/,
  ],
  [
    'asks with an id that is none',
    answering('textDocument/hover', (_, { send }) => send({ id: { a: 1 }, method: 'x' })),
    /whose id is none/,
  ],
  [
    'has a method that is no text',
    answering('textDocument/hover', (_, { send }) => send({ method: 7 })),
    /method is no text/,
  ],
  [
    'says nothing of a file by itself',
    answering('textDocument/didOpen', () => undefined),
    /nothing was said of the file/,
    true,
  ],
];

for (const [what, play, told, isHasty] of ends)
  t.test(`a server that ${what} is stopped, and the model is notified`, async (t) => {
    const { ask } = await playServer(t, play, isHasty ? { times: hasty } : {});
    const action = what.startsWith('says nothing') ? 'diagnostics' : 'hover';
    const answer = await ask({ action, ...name }).catch((fault: unknown) => fault);
    if (answer instanceof ServerFault) t.match(answer.message, told);
    else t.match(answer, { isDone: false, text: told });
  });

t.test('answers with a wrong id and late answers are ignored', async (t) => {
  const { ask } = await playServer(
    t,
    answering('textDocument/hover', ({ id }, { send }) => {
      for (const wrong of [Number(id) + 1, String(id), null, -1])
        send({ id: wrong, result: { contents: 'lie' } });
      send({ id, result: { contents: 'truth' } });
      send({ id, result: { contents: 'again' } });
    }),
  );
  t.strictSame(await ask(name), { isDone: true, text: 'truth' });
});

t.test('a server that repeats its answer without end is stopped', async (t) => {
  const { ask } = await playServer(
    t,
    answering('textDocument/hover', ({ id }, { send }) => {
      for (let again = 0; again < 1010; again += 1) send({ id, result: { contents: 'truth' } });
    }),
  );
  t.strictSame(await ask(name), { isDone: true, text: 'truth' });
  const next = await ask(name).catch((fault: unknown) => fault);
  t.match(next instanceof ServerFault ? next.message : next, 'answers a request that was not made');
});

t.test('an error of the server is reported on one short line', async (t) => {
  const { ask } = await playServer(
    t,
    answering('textDocument/hover', ({ id }, { send }) =>
      send({ id, error: { code: 1, message: `no\u001b[31m\nrows ${'x'.repeat(9000)}` } }),
    ),
  );
  const { isDone, text } = await ask(name);
  t.equal(isDone, false);
  t.match(text, /^no \[31m rows x+$/);
  t.ok(text.length <= 300);
});

t.test('locations that are hidden, invalid or outside the workspace are not shown', async (t) => {
  const places = [
    at('file:///workspace/a.fake', 1),
    at('file:///etc/passwd'),
    at('file:///workspace/../etc/passwd'),
    at('file:///workspace/%2e%2e/etc/passwd'),
    at('file:///workspace/..%2f..%2fetc/passwd'),
    at('file:///workspacement/a.fake'),
    at('file://elsewhere/workspace/a.fake'),
    at('http://example.org/workspace/a.fake'),
    at('file:///workspace/a.fake?x'),
    at('file:///workspace/secret.fake'),
    at('file:///workspace/link.fake'),
    at('file:///workspace/out.fake'),
    at('file:///workspace/.git/config'),
    at('file:///workspace/%00'),
    at('file:///workspace/%zz'),
    at('file:///workspace/'),
    at(7),
    at(`file:///workspace/${'a'.repeat(10_000)}`),
    { uri: 'file:///workspace/a.fake' },
    { uri: 'file:///workspace/a.fake', range: { start: { line: -1, character: 0 }, end: {} } },
    { uri: 'file:///workspace/a.fake', range: { start: { line: 1e99, character: 0 }, end: range(0).end } },
    null,
    'x',
  ];
  const played = await playServer(
    t,
    answering('textDocument/definition', () => places),
    { files: { 'secret.fake': 'let secret = 1;\n' }, hidden: ['secret.fake'] },
  );
  symlinkSync('secret.fake', join(played.workspace, 'link.fake'));
  symlinkSync('/etc/passwd', join(played.workspace, 'out.fake'));
  const { text } = await played.ask({ action: 'goto-definition', ...name });
  t.equal(
    text,
    `a.fake:2:1: use(name);\n[${places.length - 1} not to be shown: outside the workspace, or the rules hide it]`,
  );
  t.notMatch(text, /secret|passwd|root:/);
});

t.test('duplicate locations are merged, and locations beyond the limit are counted', async (t) => {
  const all = Array.from({ length: 5000 }, (_, line) => at('file:///workspace/a.fake', line % 2500));
  const { ask } = await playServer(
    t,
    answering('textDocument/references', () => all),
  );
  const lines = (await ask({ action: 'find-references', ...name })).text.split('\n');
  t.equal(lines.length, 201);
  t.equal(lines.at(-1), '[2300 more]');
});

t.test('server text is stripped of control characters and cut', async (t) => {
  const { ask } = await playServer(
    t,
    answering('textDocument/hover', () => ({
      contents: [
        { value: 'one\u001b]0;title\u0007\r\ntwo\u0000\ud800' },
        'three',
        7,
        null,
        { value: 'y'.repeat(99_999) },
      ],
    })),
  );
  const { text } = await ask(name);
  t.match(text, /^one \]0;title \ntwo \ufffd\n\nthree\n\ny+$/);
  t.ok(text.length < 20_000);
  t.notMatch(text, /(?![\n\t])\p{Cc}/u);
});

t.test('`document-symbols` handles nested, large and invalid answers', async (t) => {
  const deep = { name: 'f', kind: 12, range: range(0), selectionRange: range(0), children: [] as object[] };
  let last = deep;
  for (let depth = 0; depth < 20; depth += 1) {
    const next = { ...deep, name: `f${depth}`, children: [] as object[] };
    last.children.push(next);
    last = next;
  }
  const wide = Array.from({ length: 30_000 }, () => ({ name: 'x', kind: 99, range: range(3) }));
  for (const [answer, told] of [
    [
      [deep, { name: 'g', kind: 'x', location: { range: range(4) } }, 7, { name: '' }],
      /^1\tfunction f\n(?:.*\n)*5\tsymbol g$/,
    ],
    [wide, /\[19500 more\]$/],
    [null, /^no symbols$/],
    [{ length: 3 }, /^no symbols$/],
  ] as const) {
    const { ask } = await playServer(
      t,
      answering('textDocument/documentSymbol', ({ id }, { send }) => send({ id, result: answer })),
    );
    t.match((await ask({ action: 'document-symbols' })).text, told);
  }
});

t.test('requests of a server are declined, except for its configuration and folders', async (t) => {
  const asked = [
    [
      'workspace/applyEdit',
      { edit: { changes: { 'file:///workspace/a.fake': [{ range: range(0), newText: 'x' }] } } },
    ],
    ['window/showDocument', { uri: 'https://example.org', external: true }],
    ['window/showMessageRequest', { message: 'Trust it?', actions: [{ title: 'yes' }] }],
    ['client/registerCapability', { registrations: [] }],
    ['workspace/configuration', { items: [{ section: 'fake.deep' }, { section: 'toString' }, 7] }],
    ['workspace/workspaceFolders', null],
    ['workspace/diagnostic/refresh', null],
    ['eval', { code: '1' }],
  ] as const;
  const { ask, seen } = await playServer(
    t,
    answering('textDocument/hover', ({ id }, { send }) => {
      for (const [method, params] of asked) send({ id: method, method, params });
      send({ id, result: { contents: 'x' } });
    }),
  );
  await ask(name);
  const answerTo = (id: string) => seen.find((message) => message.id === id && message.method === undefined);
  await until(() => answerTo('eval'));
  t.match(answerTo('workspace/applyEdit'), { result: { applied: false } });
  t.match(answerTo('window/showDocument'), { result: { success: false } });
  t.match(answerTo('window/showMessageRequest'), { result: null });
  t.match(answerTo('client/registerCapability'), { result: null });
  t.strictSame(answerTo('workspace/configuration')?.result, [{ key: 7 }, null, null]);
  t.match(answerTo('workspace/workspaceFolders'), { result: [{ uri: 'file:///workspace' }] });
  t.match(answerTo('eval'), { error: { code: -32601 } });
  t.notMatch(answerTo('workspace/diagnostic/refresh'), { error: {} });
});

t.test('a rename preview changes nothing and hides file operations', async (t) => {
  const edits = [{ range: range(0, 4), newText: 'other\nmore' }];
  const played = await playServer(
    t,
    answering('textDocument/rename', () => ({
      documentChanges: [
        { textDocument: { uri: 'file:///workspace/a.fake' }, edits },
        { kind: 'delete', uri: 'file:///workspace/a.fake' },
        { textDocument: { uri: 'file:///etc/passwd' }, edits },
        ...[null, 'a', 7],
      ],
    })),
  );
  const { text } = await played.ask({ action: 'preview-rename', ...name, newName: 'other' });
  t.match(text, 'a.fake:1:5: let name = 1;\n  becomes `other more`\n[2 not to be shown');
  t.match(text, 'nothing is changed');
  t.strictSame((await played.ask({ ...name, symbol: 'nothing' })).isDone, false);
});

t.test('diagnostics are the last ones that the server published for the file', async (t) => {
  const problem = (message: string) => ({ range: range(1), severity: 2, code: 'E7', message });
  const { ask } = await playServer(
    t,
    answering('textDocument/didOpen', (_, { send }) => {
      const say = (uri: string, diagnostics: unknown) =>
        send({ method: 'textDocument/publishDiagnostics', params: { uri, diagnostics } });
      say('file:///workspace/a.fake', []);
      say('file:///workspace/a.fake', [problem('last\nword'), { message: 'nowhere' }]);
      say('file:///workspace/b.fake', [problem('of another')]);
      for (let other = 0; other < 2000; other += 1) say(`file:///x${other}`, []);
    }),
  );
  t.equal((await ask({ action: 'diagnostics' })).text, '2:1: warning E7: last word');
});

t.test('a symbol is found as a whole word, near the given line', async (t) => {
  const { ask } = await playServer(
    t,
    answering('textDocument/hover', ({ params }) => ({
      contents: JSON.stringify((params as { position: unknown }).position),
    })),
    { files: { 'b.fake': 'rename\nname2 $name\n\u{1f600} name.x\n' } },
  );
  const hover = async (line?: number, symbol = 'name') =>
    (await ask({ path: 'b.fake', symbol, ...(line === undefined ? {} : { line }) })).text;
  t.equal(await hover(), '{"line":2,"character":3}');
  t.equal(await hover(2), '{"line":2,"character":3}');
  t.match(await hover(90), /is not on line 90; line 3 has it first/);
  t.match(await hover(undefined, 'a.*'), /is not in the file/);
});
