import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import {
  createProtocolConnection,
  type Diagnostic,
  type InitializeParams,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { openConnection } from '../../../agent/language-servers/connection.ts';
import { makeSample, sampleSpec } from '../../engine/sample.ts';
import { everyThird, long } from '../../rooms/long.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';

/** A value in the form of a token of GitHub. */
const token = `ghp_${'1a2B3c4D5e'.repeat(4).slice(0, 36)}`;

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const env = { ...sample.env, PATH: `${dirname(process.execPath)}:${sample.env.PATH}` };
  const start = (...argv: readonly string[]): ChildProcessWithoutNullStreams => {
    const child = spawn(process.execPath, [...launcherOptions, writProgram, 'lsp', ...argv], {
      cwd: sample.home,
      env,
    });
    t.teardown(() => child.kill('SIGKILL'));
    return child;
  };
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(sample.root, path)), { recursive: true });
    writeFileSync(join(sample.root, path), text);
  };
  const uriOf = (path: string): string => pathToFileURL(join(sample.root, path)).href;
  return { ...sample, start, write, uriOf };
}

/** An editor: the client library of VS Code over the pipes of a process. */
async function openEditor(child: ChildProcessWithoutNullStreams, params: Partial<InitializeParams>) {
  const client: ProtocolConnection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const published: PublishDiagnosticsParams[] = [];
  const waiting = new Set<() => void>();
  client.onNotification('textDocument/publishDiagnostics', (one: PublishDiagnosticsParams) => {
    published.push(one);
    for (const look of waiting) look();
  });
  client.listen();
  const given = { processId: process.pid, rootUri: null, capabilities: {}, ...params };
  const { capabilities } = await client.sendRequest<{ capabilities: object }>('initialize', given);
  await client.sendNotification('initialized', {});
  const until = async (holds: () => boolean): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (holds()) resolve();
    };
    waiting.add(look);
    look();
    await promise.finally(() => waiting.delete(look));
  };
  const last = (uri: string): PublishDiagnosticsParams | undefined =>
    published.findLast((one) => one.uri === uri);
  /** Waits for the diagnostics of a version of a document; of none: of a closed one. */
  const diagnosed = async (uri: string, version?: number): Promise<readonly Diagnostic[]> => {
    await until(() => last(uri)?.uri === uri && last(uri)?.version === version);
    return last(uri)?.diagnostics ?? [];
  };
  const versions = new Map<string, number>();
  /** Opens a document, or changes the text of an open one. */
  const edit = async (uri: string, text: string): Promise<readonly Diagnostic[]> => {
    const before = versions.get(uri);
    const version = (before ?? 0) + 1;
    versions.set(uri, version);
    await (before === undefined
      ? client.sendNotification('textDocument/didOpen', {
          textDocument: { uri, version, languageId: 'text', text },
        })
      : client.sendNotification('textDocument/didChange', {
          textDocument: { uri, version },
          contentChanges: [{ text }],
        }));
    return diagnosed(uri, version);
  };
  const close = async (): Promise<unknown> => {
    t.equal(await client.sendRequest('shutdown'), null);
    const ended = once(child, 'close');
    await client.sendNotification('exit');
    return (await ended)[0];
  };
  return { client, capabilities, published, edit, until, last, diagnosed, close };
}

const brief = (all: readonly Diagnostic[]): readonly string[] =>
  all.map(
    ({ range: { start, end }, severity, code }) =>
      `${start.line}:${start.character}-${end.line}:${end.character} ${severity} ${code}`,
  );

long('writ lsp with the client library of VS Code', async (t) => {
  const { root, git, start, write, uriOf } = scene(t);
  write('.gitignore', 'ignored.env\n');
  write('src/old.js', 'eval(old);\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Base');
  const editor = await openEditor(start('--stdio'), { rootUri: pathToFileURL(root).href });
  const { client, edit, until, last, diagnosed } = editor;

  await t.test('finds in the text of the editor what a change adds to the last commit', async (t) => {
    const uri = uriOf('src/old.js');
    t.match(editor.capabilities, { positionEncoding: 'utf-16', textDocumentSync: { change: 1 } });
    t.strictSame(brief(await edit(uri, 'eval(old);\n')), [], 'what was committed before');
    const found = await edit(uri, 'eval(old);\r\nconst 😀 = "é"; eval(x);  \r\n');
    t.strictSame(brief(found.filter(({ range }) => range.start.line > 0)), ['1:16-1:24 1 no-direct-eval']);
    t.match(found.at(-1), { source: 'writ', message: '`eval` evaluates a string as code' });
    const position = { line: 1, character: 18 };
    const hover = await client.sendRequest('textDocument/hover', { textDocument: { uri }, position });
    t.match(hover, {
      contents: { kind: 'markdown', value: /\*\*no-direct-eval\*\*[\s\S]*writ rules no-direct-eval/ },
    });
    const away = { line: 1, character: 2 };
    t.equal(await client.sendRequest('textDocument/hover', { textDocument: { uri }, position: away }), null);
    t.strictSame(brief(await edit(uri, 'eval(old);\nfine();\n')), []);
  });

  await t.test('compares whole files, and leaves out what git ignores', async (t) => {
    t.strictSame(brief(await edit(uriOf('new/secret.env'), `\nt = "${token}"\n`)), ['1:5-1:46 1 secrets']);
    t.strictSame(brief(await edit(uriOf('ignored.env'), `t = "${token}"\n`)), []);
    t.strictSame(brief(await edit(uriOf('.git/config'), `t = "${token}"\n`)), []);
    const manifest = '{\n  "dependencies": { "left-pad": "1.3.0" }\n}\n';
    t.match(await edit(uriOf('package.json'), manifest), [{ code: 'new-dependency', severity: 2 }]);
  });

  await t.test('follows the last commit', async (t) => {
    const uri = uriOf('src/follow.js');
    t.match(brief(await edit(uri, 'eval(y);\n')), ['0:0-0:8 1 no-direct-eval']);
    write('src/follow.js', 'eval(y);\n');
    git('add', 'src');
    git('commit', '--quiet', '-m', 'Committed');
    await until(() => last(uri)?.diagnostics.length === 0);
  });

  await t.test('clears what is closed', async (t) => {
    const uri = uriOf('new/secret.env');
    await client.sendNotification('textDocument/didClose', { textDocument: { uri } });
    t.strictSame(await diagnosed(uri), []);
  });

  t.equal(await editor.close(), 0);
});

t.test('writ lsp shows the faults of specs and of the files that govern changes', async (t) => {
  const { root, start, uriOf } = scene(t);
  const editor = await openEditor(start(), {
    workspaceFolders: [{ uri: pathToFileURL(root).href, name: 'sample' }],
    capabilities: { general: { positionEncodings: ['utf-8', 'utf-16'] } },
  });
  const { edit } = editor;
  t.match(editor.capabilities, { positionEncoding: 'utf-8' });

  await t.test('at the member of a spec', async (t) => {
    const spec = JSON.stringify({ ...JSON.parse(sampleSpec().toString()), colour: 'é' }, null, 2);
    const lines = spec.split('\n');
    const found = await edit(uriOf('spec.json'), spec);
    const line = lines.findIndex((one) => one.includes('"colour"'));
    t.strictSame(brief(found.filter(({ severity }) => severity === 1)), [
      `${line}:2-${line}:10 1 SCHEMA_ADDITIONAL_PROPERTIES`,
    ]);
    const broken = await edit(uriOf('spec.json'), '{\n  "é": "é", "kind": "IntentSpec" "apiVersion"\n}\n');
    t.match(brief(broken), ['1:35-1:47 1 INTENTSPEC_MALFORMED'], 'in UTF-8 bytes');
    t.match(
      (
        await edit(uriOf('short.json'), '{\n  "intent": { "summary": 5 },\n  "risk": { "level": "low" }\n}')
      ).map(({ code }) => code),
      ['SCHEMA_REQUIRED', 'SCHEMA_TYPE'],
    );
    t.strictSame(await edit(uriOf('other.json'), '{ "intent": "greet" }\n'), [], 'no spec');
  });

  await t.test('at the key or the line of a governing file', async (t) => {
    const config = '[signer]\nkey = "nope"\n\n[approvals.groups]\nteam = []\n[colour]\n';
    t.strictSame(brief(await edit(uriOf('.writ/config.toml'), config)), [
      '1:0-1:12 1 CONFIG_INVALID',
      '4:0-4:9 1 CONFIG_INVALID',
      '5:0-5:8 1 CONFIG_INVALID',
    ]);
    t.match(brief(await edit(uriOf('.writ/config.toml'), '[log]\nmirror = \n')), [
      /^1:\d+-1:\d+ 1 CONFIG_INVALID$/,
    ]);
    const owners = '# owners\nsrc/ a@example.org\n!no a@example.org\n';
    t.strictSame(brief(await edit(uriOf('.writ/owners'), owners)), ['2:0-2:17 1 CONFIG_INVALID']);
    const waiver = (rule: string) =>
      `[[waiver]]\nrule = "${rule}"\npath = "a"\nowner = "b"\nreason = "c"\nexpires = "2030-01-01"\n`;
    const waivers = `${waiver('no-direct-eval')}${waiver('secrets')}`;
    t.strictSame(brief(await edit(uriOf('.writ/waivers.toml'), waivers)), ['7:0-7:16 1 CONFIG_INVALID']);
  });

  t.equal(await editor.close(), 0);
});

t.test('writ lsp looks at documents of its folders only, with symlinks resolved', async (t) => {
  const { root, home, start } = scene(t);
  const link = join(home, 'link');
  symlinkSync(root, link);
  mkdirSync(join(home, 'elsewhere'));
  symlinkSync(join(home, 'elsewhere'), join(root, 'leaves'));
  const editor = await openEditor(start(), { rootUri: pathToFileURL(link).href });
  const at = (...parts: readonly string[]) => pathToFileURL(join(home, ...parts)).href;
  t.match(await editor.edit(at('link', 'a.js'), 'eval(x);\n'), [{ code: 'no-direct-eval' }]);
  t.match(await editor.edit(pathToFileURL(join(root, 'a.js')).href, 'eval(x);\n'), [
    { code: 'no-direct-eval' },
  ]);
  const outside = '{ "kind": "IntentSpec" }\n';
  t.strictSame(await editor.edit(at('elsewhere', 'spec.json'), outside), []);
  t.strictSame(await editor.edit(pathToFileURL(join(root, 'leaves', 'spec.json')).href, outside), []);
  const large = 'x'.repeat(2 * 1024 * 1024 + 1);
  t.match(await editor.edit(at('link', 'large.js'), large), [{ code: 'INPUT_TOO_LARGE', severity: 2 }]);
  t.match(await editor.edit(at('link', 'large.js'), 'eval(x);\n'), [{ code: 'no-direct-eval' }]);
  for (let count = 0; count < 995; count += 1) await editor.edit(at('elsewhere', `${count}.js`), '');
  t.match(await editor.edit(at('link', 'more.js'), 'eval(x);\n'), [{ code: 'INPUT_TOO_LARGE', severity: 2 }]);
  await editor.client.sendNotification('textDocument/didClose', {
    textDocument: { uri: at('link', 'a.js') },
  });
  t.match(await editor.edit(at('link', 'more.js'), 'eval(x);\n'), [{ code: 'no-direct-eval' }]);
  t.equal(await editor.close(), 0);
});

long('of many changes at once writ lsp looks at the newest', async (t) => {
  const { root, start, uriOf } = scene(t);
  const { client, diagnosed, published, close } = await openEditor(start(), {
    rootUri: pathToFileURL(root).href,
  });
  const uri = uriOf('typed.js');
  const text = 'eval(x);\n';
  const most = 200;
  await client.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'javascript', version: 0, text },
  });
  for (let version = 1; version <= most; version += 1)
    await client.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ text: `${text}// ${version}\n` }],
    });
  t.match(await diagnosed(uri, most), [{ code: 'no-direct-eval' }]);
  t.ok(published.length < most / 2, `${published.length} were looked at`);
  t.equal(await close(), 0);
});

t.test('writ lsp keeps to the protocol', async (t) => {
  const { root, start, uriOf } = scene(t);
  const errOf = (child: ChildProcessWithoutNullStreams): (() => string) => {
    const chunks: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString();
  };

  await t.test('with the client of writ itself, which refuses all that is not protocol', async (t) => {
    const child = start();
    const methods: string[] = [];
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const client = openConnection(
      { input: child.stdin, output: child.stdout },
      {
        notified(method, params) {
          methods.push(method);
          resolve(params);
        },
        answer: () => undefined,
      },
    );
    const ask = async (method: string, params: unknown = {}): Promise<unknown> => {
      let refusal: string | undefined;
      const answer = await client.ask(method, params, 600_000, (message) => {
        refusal = message;
      });
      return refusal ?? answer;
    };
    t.equal(await ask('textDocument/hover'), 'expected `initialize` first');
    t.match(await ask('initialize', { rootUri: pathToFileURL(root).href }), { serverInfo: { name: 'writ' } });
    t.equal(await ask('initialize'), 'the server is initialized');
    t.equal(await ask('workspace/nothing'), 'there is no such method here');
    client.tell('textDocument/didOpen', {
      textDocument: { uri: uriOf('a.js'), languageId: 'x', version: 7, text: 'eval(x);\n' },
    });
    t.match(await promise, { version: 7, diagnostics: [{ code: 'no-direct-eval' }] });
    t.equal(await ask('shutdown'), null);
    t.equal(await ask('textDocument/hover'), 'the server was shut down');
    const ended = once(child, 'close');
    client.tell('exit', undefined);
    t.strictSame([(await ended)[0], methods], [0, ['textDocument/publishDiagnostics']]);
  });

  await t.test('ends with a catalogued error', async (t) => {
    const framed = (text: string): string => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
    const initialize = framed('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}');
    const rows: readonly (readonly [string, RegExp])[] = [
      ['', /LSP_ENDED: the editor ended$/m],
      [framed('{'), /LSP_ENDED: the editor sent a message that is not JSON/],
      [framed('[]'), /LSP_ENDED: the editor sent a message that is no object/],
      ['GET / HTTP/1.1\r\n\r\n', /LSP_ENDED: the editor sent a head without one plain length/],
      ['Content-Length: 999999999\r\n\r\n', /LSP_ENDED: the editor sent a message of 999999999 octets/],
      [`${initialize}${framed('{"method":"exit"}')}`, /LSP_ENDED: the editor ended before `shutdown`/],
      [
        `${initialize}${framed('{"method":"textDocument/didOpen","params":{"textDocument":{"uri":5}}}')}`,
        /LSP_ENDED: the editor sent a message without a text at `\/textDocument\/uri`/,
      ],
    ];
    for (const [input, expected] of everyThird(rows)) {
      const child = start();
      const err = errOf(child);
      const ended = once(child, 'close');
      child.stdin.end(input);
      t.equal((await ended)[0], 1);
      t.match(err(), expected);
      t.notMatch(err(), /^\s+at /m, 'no stack trace');
    }
  });

  await t.test('ends with the editor, also where its pipe stays open', async (t) => {
    const other = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
    t.teardown(() => other.kill('SIGKILL'));
    const child = start();
    const err = errOf(child);
    await openEditor(child, { processId: other.pid ?? null });
    const [ended, otherEnded] = [once(child, 'close'), once(other, 'close')];
    other.kill('SIGKILL');
    await otherEnded;
    t.equal((await ended)[0], 1);
    t.match(err(), /LSP_ENDED: the editor is gone/);
  });

  await t.test('is interrupted as every command', async (t) => {
    const child = start();
    await openEditor(child, {});
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    t.equal((await ended)[0], 130);
  });
});
