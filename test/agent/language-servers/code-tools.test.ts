import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { formatModelChoice } from '../../../agent/instructions.ts';
import { coderWorker } from '../../../agent/plugin.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import type { CodeUse, HandAnswer, HandUse } from '../../../core/interfaces/worker.ts';
import { type Json, makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { scriptModel } from '../scripted-model.ts';
import { everything, mend, rule, useHands } from '../use-workspace-tools.ts';
import { ending, mending } from '../work-with-script.ts';
import { checkTypes, codeRule, withCode, withTypeScript } from './language-server.ts';

withTypeScript();

type Use = (use: HandUse) => Promise<HandAnswer>;

const asking =
  (use: Use) =>
  (action: CodeUse['action'], path: string, symbol?: string, more: Partial<CodeUse> = {}) =>
    use({ kind: 'code', action, path, ...(symbol === undefined ? {} : { symbol }), ...more });

const write = (use: Use, path: string, text: string) =>
  use({ kind: 'write', path, bytes: Buffer.from(text) });

t.test('a real language server answers about symbols, including fresh changes of the model', async (t) => {
  await useHands(t, { allow: withCode, prepare: checkTypes }, async (use, workspace) => {
    const ask = asking(use);
    t.match(await ask('hover', 'src/price.js', 'price'), {
      outcome: 'done',
      text: /function price\(count: any, cents: any\): number/,
    });
    const defined = await ask('goto-definition', 'test/price.test.js', 'price', { line: 5 });
    t.equal(defined.text, 'src/price.js:2:17: export function price(count, cents) {');
    const used = await ask('find-references', 'src/price.js', 'price');
    t.match(used.text, /^bench\/speed\.js:2:10: .*\n(?:.*\n)*test\/price\.test\.js:6:13: /);
    t.equal((await ask('document-symbols', 'src/price.js')).text, '2\tfunction price');
    t.equal((await ask('workspace-symbols', '.', 'price')).text, 'src/price.js:2: function price');
    t.notMatch((await ask('diagnostics', 'src/price.js')).text, /: error|failed/);
    const before = (await use({ kind: 'read', path: 'src/price.js' })).text;
    const rename = await ask('preview-rename', 'src/price.js', 'price', { newName: 'cost' });
    t.match(rename.text, /bench\/speed\.js:7:.*\n {2}becomes `cost`/);
    t.equal((await use({ kind: 'read', path: 'src/price.js' })).text, before, 'nothing is renamed');

    await write(
      use,
      'src/price.js',
      '/** @param {number} a */\nexport function price(a) {\n  return a.foo;\n}\n',
    );
    t.match((await ask('diagnostics', 'src/price.js')).text, /^3:12: error 2339: Property 'foo'/);
    await write(use, 'src/more.js', "import { price } from './price.js';\nprice('x');\n");
    t.match((await ask('diagnostics', 'src/more.js')).text, /^2:7: error 2345/);
    t.match((await ask('find-references', 'src/price.js', 'price')).text, 'src/more.js:2:1');
    await use({ kind: 'execute', command: 'rm src/more.js && echo "export const late = 1;" > src/late.js' });
    t.notMatch((await ask('find-references', 'src/price.js', 'price')).text, 'more.js');
    t.equal((await ask('workspace-symbols', '.', 'late')).text, 'src/late.js:1: variable late');

    t.match(await ask('hover', 'docs/notes.md', 'x'), { outcome: 'failed', text: /no language server here/ });
    t.match(await ask('hover', 'src/none.js', 'x'), { outcome: 'failed', text: 'failed: ENOENT' });
    t.match(await ask('hover', 'src/price.js', 'cents'), { outcome: 'failed', text: /is not in/ });
    t.match(await ask('hover', 'src/price.js'), { outcome: 'failed', text: /name the symbol/ });
    t.match(await ask('hover', '.git/config', 'x'), { outcome: 'denied' });
    t.match(await ask('hover', '../x.js', 'x'), { outcome: 'denied' });
    t.notMatch(await ask('hover', 'src/price.js', 'price'), { text: workspace });
  });
});

long('files hidden by the rules are in no answer and unknown to the language server', async (t) => {
  const prepare = (sample: Parameters<typeof checkTypes>[0]) => {
    checkTypes(sample);
    mkdirSync(join(sample.root, 'src', 'hidden'));
    writeFileSync(join(sample.root, 'src', 'hidden', 'key.js'), "export const KEY = 'hunter2';\n");
    writeFileSync(join(sample.root, 'src', 'secret.js'), "export const WORD = 'swordfish';\n");
    writeFileSync(
      join(sample.root, 'src', 'uses.js'),
      "import { KEY } from './hidden/key.js';\nimport { WORD } from './secret.js';\nexport const seen = [KEY, WORD];\n",
    );
  };
  const hidden = { denyPaths: ['src/hidden', 'src/secret.js'] };
  const rules = [
    { allow: [...everything, codeRule(hidden)] },
    { allow: withCode, deny: [rule('workspace.fs', ['read'], hidden)] },
  ];
  for (const given of rules)
    await useHands(t, { ...given, prepare }, async (use) => {
      const ask = asking(use);
      t.match(await ask('hover', 'src/secret.js', 'WORD'), { outcome: 'denied' });
      t.match(await ask('document-symbols', 'src/hidden/key.js'), { outcome: 'denied' });
      const texts = [
        await ask('hover', 'src/uses.js', 'WORD', { line: 3 }),
        await ask('hover', 'src/uses.js', 'seen'),
        await ask('goto-definition', 'src/uses.js', 'KEY', { line: 1 }),
        await ask('workspace-symbols', '.', 'KEY'),
        await ask('diagnostics', 'src/uses.js'),
      ].map(({ text }) => text);
      for (const text of texts) t.notMatch(text, /hunter2|swordfish|key\.js:|secret\.js:/, text);
      // What comes to be hidden while it works.
      await use({
        kind: 'execute',
        command: 'echo "export const LATER = \'rosebud\';" > src/hidden/later.js',
      });
      await write(use, 'src/uses.js', "import { LATER } from './hidden/later.js';\nLATER;\n");
      t.notMatch((await ask('hover', 'src/uses.js', 'LATER')).text, 'rosebud');
    });
});

long('each constraint of a language server rule applies', async (t) => {
  const only = (constraints: Parameters<typeof codeRule>[0]) => ({
    allow: [...everything, codeRule(constraints)],
  });
  await useHands(t, only({ maxResultBytes: 20 }), async (use) => {
    const { text } = await asking(use)('hover', 'src/price.js', 'price');
    t.match(text, /\[cut: 20 of \d+ bytes/);
  });
  for (const constraints of [{ allowCommands: ['x'] }, { networkHosts: ['a.example'], networkReason: 'b' }])
    await useHands(t, only(constraints), async (use) => {
      t.match(await asking(use)('hover', 'src/price.js', 'price'), { outcome: 'denied' });
    });
  await useHands(
    t,
    only({ denySubstrings: ['pric'], writeRoots: ['docs'], maxWriteBytes: 1 }),
    async (use) => {
      t.match(await asking(use)('workspace-symbols', '.', 'Price'), { outcome: 'denied', text: /contain/ });
      t.match(await asking(use)('document-symbols', 'bench/speed.js'), { outcome: 'done' });
    },
  );
  const some = [...everything, rule('workspace.lsp', ['hover'])];
  await useHands(t, { allow: some }, async (use) => {
    t.match(await asking(use)('hover', 'src/price.js', 'price'), { outcome: 'done' });
    t.match(await asking(use)('find-references', 'src/price.js', 'price'), { outcome: 'denied' });
  });
});

/** A run in which a model reads from a script, and the names of the tools that it was told of. */
async function runScript(
  t: Parameters<typeof useHands>[0],
  replies: Parameters<typeof scriptModel>[0],
  allow: readonly object[],
  prepare: Parameters<typeof useHands>[1]['prepare'] = checkTypes,
  sandbox: 'auto' | 'none' = 'auto',
) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  prepare?.(sample);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Prepared');
  await using model = await scriptModel(replies);
  const choice = { provider: 'openai', model: 'scripted', apiBase: model.base, flags: {} };
  const view = await sample.run(
    {
      source: { kind: 'worker', worker: coderWorker, from: formatModelChoice(choice) },
      reach: reachProvider({ variable: () => undefined, keys: {} }),
      sandbox,
    },
    {
      security: { toolAcl: { allow: allow as unknown as Json } },
      constraints: { security: { networkPolicy: sandbox === 'none' ? 'allow' : 'deny' } },
    },
  );
  const bodies = model.asked.map(
    ({ body }) =>
      body as {
        messages: { role: string; content: string }[];
        tools: { function: { name: string; description: string } }[];
      },
  );
  const told = (bodies.at(-1)?.messages ?? []).flatMap(({ role, content }) =>
    role === 'tool' ? [content] : [],
  );
  return { sample, view, told, tools: bodies[0]?.tools.map(({ function: one }) => one) ?? [] };
}

const codeNames = /^(?:hover|goto_definition|find_references|.*_symbols|diagnostics|preview_rename)$/;

long('a model uses the code tools, and the provenance names the language server', async (t) => {
  const { sample, view, told, tools } = await runScript(
    t,
    [
      {
        calls: [
          ['workspace_symbols', { name: 'price' }],
          ['find_references', { path: 'src/price.js', symbol: 'price', line: 2 }],
        ],
      },
      { calls: [mending] },
      { calls: [['diagnostics', { path: 'src/price.js' }]] },
      { calls: [ending] },
    ],
    withCode,
  );
  t.match(view, { decision: { type: 'commit' } });
  t.equal(tools.filter(({ name }) => codeNames.test(name)).length, 7);
  t.match(tools.find(({ name }) => name === 'hover')?.description, /For files ending with \.ts, .*\.js/);
  t.match(told[0], 'src/price.js:2: function price');
  t.match(told[1], 'test/price.test.js:6');
  t.notMatch(told.at(-1), /: error|failed/);
  t.match(view.toolUses?.tools, [
    {},
    {},
    { tool: 'workspace.lsp', action: 'diagnostics', done: 1 },
    { tool: 'workspace.lsp', action: 'find-references', done: 1 },
    { tool: 'workspace.lsp', action: 'workspace-symbols', done: 1 },
  ]);
  const stored = (path: string) => sample.git('cat-file', 'blob', `refs/ai/runs/${view.runId}:${path}`);
  const { dsseEnvelope } = JSON.parse(stored('provenance.sigstore.json')) as {
    dsseEnvelope: { payload: string };
  };
  const statement = JSON.parse(Buffer.from(dsseEnvelope.payload, 'base64').toString()) as {
    predicate: { buildDefinition: { resolvedDependencies: { name: string }[] } };
  };
  const { resolvedDependencies } = statement.predicate.buildDefinition;
  t.match(
    resolvedDependencies.filter(({ name }) => name === 'language-server/typescript'),
    [{ uri: /^urn:writ:language-server:typescript-go%40\d/, digest: { sha256: /^[0-9a-f]{64}$/ } }],
  );
});

long('code tools without a server or an allow rule are not offered', async (t) => {
  const off = (sample: Parameters<typeof checkTypes>[0]) => {
    checkTypes(sample);
    mkdirSync(join(sample.root, '.writ'), { recursive: true });
    writeFileSync(
      join(sample.root, '.writ', 'config.toml'),
      '[lsp.typescript]\ncommand = ["there-is-no-such-server"]\n',
    );
  };
  const replies = [{ calls: [mending] }, { calls: [ending] }];
  const away = await runScript(t, replies, withCode, off);
  t.match(away.view, { decision: { type: 'commit' } });
  t.strictSame(
    away.tools.filter(({ name }) => codeNames.test(name)),
    [],
  );
  const some = await runScript(t, replies, [...everything, rule('workspace.lsp', ['hover'])]);
  t.strictSame(
    some.tools.flatMap(({ name }) => (codeNames.test(name) ? [name] : [])),
    ['hover'],
  );
});

long('without a sandbox the code tools are not offered', async (t) => {
  const replies = [{ calls: [mending] }, { calls: [ending] }];
  const { tools, view } = await runScript(t, replies, withCode, checkTypes, 'none');
  t.match(view, { decision: { type: 'commit' } });
  t.strictSame(
    tools.filter(({ name }) => codeNames.test(name)),
    [],
  );
});

/** A server that a repository has of its own dependencies: it lives as long as its last word says. */
const ownServer = `#!/usr/bin/env node
const { existsSync, writeFileSync } = require('node:fs');
if (process.argv[2] === '--version') { console.log('own 1.2.3'); process.exit(0); }
const say = (message) => {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  process.stdout.write('Content-Length: ' + Buffer.byteLength(body) + '\\r\\n\\r\\n' + body);
};
let held = '';
process.stdin.on('data', (chunk) => {
  held += chunk;
  for (let found; (found = /Content-Length: (\\d+)\\r\\n\\r\\n/.exec(held)); ) {
    const end = found.index + found[0].length + Number(found[1]);
    if (held.length < end) return;
    const { id, method, params } = JSON.parse(held.slice(end - Number(found[1]), end));
    held = held.slice(end);
    if (method === 'initialize') say({ id, result: { capabilities: {} } });
    else if (method === 'textDocument/documentSymbol') process.exit(3);
    else if (method === 'textDocument/hover') {
      let tried = [];
      for (const file of ['/workspace/new', '/workspace/src/price.js', '/workspace/node_modules/new'])
        try { writeFileSync(file, 'x'); tried.push(file); } catch (fault) { tried.push(fault.code); }
      require('node:http').get('http://1.1.1.1').on('error', ({ code }) =>
        say({ id, result: { contents: JSON.stringify([tried, code, existsSync('/workspace/.git/HEAD')]) } }));
    } else if (id !== undefined) say({ id, result: null });
  }
});
`;

long('a server from the repository’s dependencies cannot write files or reach the network', async (t) => {
  const prepare = ({ root }: Parameters<typeof checkTypes>[0]) => {
    mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
    writeFileSync(join(root, 'node_modules', '.bin', 'own-server'), ownServer, { mode: 0o755 });
    writeFileSync(join(root, '.gitignore'), 'node_modules\n');
    mkdirSync(join(root, '.writ'), { recursive: true });
    writeFileSync(
      join(root, '.writ', 'config.toml'),
      '[workspace]\nshare = ["node_modules"]\n[lsp.typescript]\ncommand = ["own-server"]\n',
    );
  };
  const { view } = await useHands(t, { allow: withCode, prepare }, async (use) => {
    const ask = asking(use);
    const { text } = await ask('hover', 'src/price.js', 'price');
    t.match(text, /^\[\["EROFS","EROFS","EROFS"\],"E(?:NETUNREACH|HOSTUNREACH|CONNREFUSED)",false\]$/);
    // It dies at each of these.
    for (let times = 0; times < 3; times += 1)
      t.match(await ask('document-symbols', 'src/price.js'), {
        outcome: 'failed',
        text: /the language server of typescript ended/,
      });
    t.match(await ask('hover', 'src/price.js', 'price'), { outcome: 'failed', text: /failed 3 times/ });
    await mend(use);
  });
  t.match(view, { decision: { type: 'commit' } }, 'and the run goes on');
});

long('a language server replaced by the change is not run', async (t) => {
  const prepare = ({ root }: Parameters<typeof checkTypes>[0]) => {
    mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
    writeFileSync(join(root, 'node_modules', '.bin', 'own-server'), ownServer, { mode: 0o755 });
    writeFileSync(join(root, '.gitignore'), 'node_modules\n');
    mkdirSync(join(root, '.writ'), { recursive: true });
    writeFileSync(
      join(root, '.writ', 'config.toml'),
      '[workspace]\nshare = ["node_modules"]\n[lsp.typescript]\ncommand = ["own-server"]\n',
    );
  };
  await useHands(t, { allow: withCode, prepare }, async (use) => {
    const ask = asking(use);
    t.match(await ask('hover', 'src/price.js', 'price'), { outcome: 'done' });
    const evil =
      'mkdir -p node_modules/.bin && printf "#!/bin/sh\\necho evil" > node_modules/.bin/own-server';
    await use({ kind: 'execute', command: `${evil} && chmod +x node_modules/.bin/own-server` });
    await write(use, 'src/new.js', 'export const a = 1;\n');
    t.match(await ask('hover', 'src/price.js', 'price'), {
      outcome: 'failed',
      text: /files of the change are where `node_modules` is to be/,
    });
  });
});
