import { dirname } from 'node:path';
import t from 'tap';
import { findCycles } from './architecture/cycles.ts';
import { type Manifest, parseExplained, readHouse } from './architecture/house.ts';
import { brokenRules, houseRules } from './architecture/rules.ts';
import { scanSource } from './architecture/scan-source.ts';
import { staleNames } from './architecture/slot-names.ts';
import { soundFiles, soundManifest, toHouse } from './architecture/small-house.ts';

const house = readHouse(dirname(import.meta.dirname));

t.test('this project follows its architecture rules', async (t) => {
  t.ok(house.files.length > 100, `the compiler read ${house.files.length} files of the project`);
  t.ok(house.files.some((file) => file.path === 'test/architecture.test.ts'));
  for (const broken of brokenRules(house)) t.fail(broken);
});

t.test('every exception for a plugin name still covers some code', async (t) => {
  t.strictSame(staleNames(house.files), []);
});

t.test('the smallest valid project breaks no architecture rule', async (t) => {
  t.strictSame(brokenRules(toHouse(soundFiles)), []);
});

t.test('every architecture rule can fail', async (t) => {
  const withManifest = (changes: Partial<Manifest>) => toHouse(soundFiles, { ...soundManifest, ...changes });
  const withFiles = (changes: Record<string, string | undefined>) => toHouse({ ...soundFiles, ...changes });
  const imports = (...paths: string[]) => paths.map((path) => `import '${path}';\n`).join('');
  const breaking: Record<string, ReturnType<typeof toHouse>[]> = {
    'arrows of `core`': [withFiles({ 'core/kernel/x.ts': imports('../../gates/rules/scope.ts') })],
    'arrows of `engine`': [withFiles({ 'engine/x.ts': imports('../gates/rules/scope.ts') })],
    'arrows of `readers`': [withFiles({ 'readers/source/x.ts': imports('../../core/kernel/plugin.ts') })],
    'readers do no I/O': [withFiles({ 'readers/source/x.ts': imports('node:fs/promises') })],
    'the ladder in `core`': [
      withFiles({ 'core/base/x.ts': imports('../kernel/plugin.ts') }),
      withFiles({ 'core/x.ts': 'export {};\n' }),
    ],
    'the ladder in `workspace`': [
      withFiles({
        'workspace/process/x.ts': "import type { S } from '../patch/x.ts';\n",
        'workspace/patch/x.ts': 'export type S = 1;\n',
      }),
      withFiles({ 'workspace/x.ts': 'export {};\n' }),
    ],
    'arrows of `spec`': [withFiles({ 'spec/x.ts': imports('../engine/ask.ts') })],
    'arrows of `workspace`': [withFiles({ 'workspace/git/x.ts': imports('../../engine/ask.ts') })],
    'arrows of `store`': [withFiles({ 'store/x.ts': imports('../engine/ask.ts') })],
    'the ladder in `attest`': [
      withFiles({ 'attest/bundle/x.ts': "import type { S } from '../signer/sign.ts';\n" }),
      withFiles({ 'attest/x.ts': 'export {};\n' }),
    ],
    'the ladder in `engine`': [
      withFiles({ 'engine/record/x.ts': "import type { S } from '../decide/decide.ts';\n" }),
      withFiles({ 'engine/evaluate/x.ts': "import type { S } from '../ask.ts';\n" }),
      withFiles({ 'engine/attic/x.ts': 'export {};\n' }),
    ],
    'core is at most 6600 lines': [
      withFiles(
        Object.fromEntries(
          Array.from({ length: 30 }, (_, n) => [`core/base/x${n}.ts`, 'export {};\n'.repeat(250)]),
        ),
      ),
    ],
    'core and engine name no tenant of a slot': [
      withFiles({ 'engine/x.ts': "export const engines = ['cedar'];\n" }),
      withFiles({ 'engine/x.ts': "slots.log.pick('x');\n" }),
      withFiles({ 'core/kernel/x.ts': "export const isOpen = sandbox.name === 'bare';\n" }),
    ],
    'arrows of `gates`': [
      withFiles({ 'gates/x.ts': imports('../attest/signer/sign.ts') }),
      withFiles({ 'gates/x.ts': "export type { preset } from '../plugins/preset.ts';\n" }),
    ],
    'arrows of `attest`': [withFiles({ 'attest/log/x.ts': imports('../../gates/rules/scope.ts') })],
    'arrows of `plugins`': [
      withFiles({ 'plugins/x.ts': imports('../gates/rules/scope.ts') }),
      withFiles({ 'plugins/preset.ts': imports('../bin/exit.ts') }),
    ],
    'arrows of `providers`': [withFiles({ 'providers/x/y.ts': imports('../../http/loopback-server.ts') })],
    'arrows of `agent`': [withFiles({ 'agent/x.ts': imports('../engine/decide/decide.ts') })],
    'arrows of `api`': [
      withFiles({ 'api/x.ts': imports('../bin/exit.ts') }),
      withFiles({ 'api/x.ts': imports('../gates/rules/scope.ts') }),
    ],
    'arrows of `bin`': [withFiles({ 'bin/x.ts': imports('../test/core/kernel/engine.test.ts') })],
    'arrows of `http`': [withFiles({ 'http/x.ts': imports('../service/run-service.ts') })],
    'arrows of `service`': [
      withFiles({ 'service/x.ts': imports('../bin/exit.ts') }),
      withFiles({ 'service/x.ts': imports('../attest/signer/sign.ts') }),
    ],
    'arrows of `session`': [withFiles({ 'session/x.ts': imports('../bin/exit.ts') })],
    'tokens are compared in constant time': [
      withFiles({ 'http/x.ts': 'export const is = (token: string, own: string) => token === own;\n' }),
      withFiles({ 'session/api/x.ts': 'export const is = (a, b) => a !== b.lease.tokenDigest;\n' }),
    ],
    'arrows of `door`': [withFiles({ 'index.ts': "export { end } from './bin/exit.ts';\n" })],
    'every folder is a known room': [withFiles({ 'lobby/x.ts': 'export {};\n' }), withFiles({ 'x.ts': '' })],
    'no import cycle, types included': [
      withFiles({
        'core/kernel/plugin.ts': "import type { E } from './engine.ts';\nexport interface Plugin { e: E }\n",
      }),
      withFiles({ 'core/kernel/plugin.ts': "export const later = () => import('./engine.ts');\n" }),
    ],
    'folders of a room import each other in no circle': [
      withFiles({
        'gates/rules/x.ts': imports('../scan/look.ts'),
        'gates/scan/x.ts': imports('../rules/scope.ts'),
      }),
    ],
    'tests wait by `test/waiting/` only': [
      withFiles({ 'test/core/x.test.ts': 'await new Promise((done) => setTimeout(done, 9));\n' }),
      withFiles({ 'test/core/x.test.ts': 'setInterval(look, 9);\n' }),
      withFiles({ 'test/core/x.ts': 'Atomics.wait(cell, 0, 0, 9);\nawait systemClock.sleep(9);\n' }),
      withFiles({ 'test/core/x.ts': "import { setTimeout as pause } from 'node:timers/promises';\n" }),
      withFiles({ 'test/engine/stuck-run.ts': "export const work = 'done';\n" }),
    ],
    'no clock decides a test': [
      withFiles({ 'test/core/x.test.ts': 'const began = performance.now();\n' }),
      withFiles({ 'test/core/x.test.ts': 'const used = process.cpuUsage(before);\n' }),
      withFiles({ 'test/kill/kill-run.ts': "export const work = 'done';\n" }),
    ],
    'what tests leave to chance has a seed': [
      withFiles({ 'test/core/x.test.ts': 'const wait = Math.random() * 9;\n' }),
      withFiles({ 'test/core/x.ts': "import { randomBytes } from 'node:crypto';\n" }),
    ],
    'the compiler saw every relative import': [withFiles({ 'core/x.ts': imports('./nowhere.ts') })],
    'no `export *`': [withFiles({ 'core/x.ts': "export * from './plugin.ts';\n" })],
    'tapable only through `core/kernel/hook.ts`': [
      withFiles({ 'core/x.ts': imports('tapable') }),
      withFiles({ 'core/kernel/hook.ts': 'export {};\n' }),
    ],
    'piscina only through `core/kernel/worker/pool.ts`': [
      withFiles({ 'core/x.ts': "import type { Piscina } from 'piscina';\n" }),
    ],
    'the engine of every built-in only through `plugins/preset/open-engine.ts`': [
      withFiles({ 'bin/x.ts': 'const own = preset({ env });\n' }),
    ],
    'a pool of threads only through `core/kernel/engine.ts`': [
      withFiles({ 'plugins/x.ts': 'const own = createPool({ threads: 2 });\n' }),
    ],
    'cac only through `bin/dispatch.ts`': [
      withFiles({ 'bin/x.ts': "export const a = () => import('cac');\n" }),
    ],
    'child processes only through `workspace/process/spawn.ts`': [
      withFiles({ 'gates/x.ts': imports('node:child_process') }),
    ],
    'outbound HTTP only through `workspace/egress/outside.ts`': [
      withFiles({ 'core/x.ts': imports('node:https') }),
      withFiles({ 'core/x.ts': "export const a = await fetch('x');\n" }),
      withFiles({ 'http/x.ts': "import { type Server, request } from 'node:http';\n" }),
    ],
    'HTTP that writ sends itself only through `core/base/net.ts`': [
      withFiles({ 'attest/x.ts': "export const a = () => import('undici');\n" }),
    ],
    "nobody touches the sigstore library's own reading of bundles": [
      withFiles({ 'attest/verify/x.ts': 'export const read = (json) => bundleFromJSON(json);\n' }),
    ],
    'the parts of a bundle only through `attest/bundle/any-bundle.ts`': [
      withFiles({ 'attest/verify/x.ts': 'export const signed = (json) => json.dsseEnvelope.payload;\n' }),
    ],
    'the sigstore client only through `attest/public/public-log-source.ts`': [
      withFiles({ 'attest/x.ts': "export const a = () => import('@sigstore/sign');\n" }),
    ],
    'encryption of secrets only through `attest/keys/age.ts`': [
      withFiles({ 'bin/x.ts': imports('age-encryption') }),
    ],
    'the event stream parser only through `core/base/event-stream.ts`': [
      withFiles({ 'bin/x.ts': imports('eventsource-parser') }),
    ],
    'the Model Context Protocol only through `session/mcp/open-mcp-server.ts`': [
      withFiles({ 'bin/x.ts': imports('@modelcontextprotocol/server/stdio') }),
    ],
    'the Agent Client Protocol only through `session/acp/serve-acp.ts`': [
      withFiles({ 'bin/x.ts': imports('@agentclientprotocol/sdk') }),
    ],
    'the client of the Model Context Protocol only through `agent/mcp/connect-server.ts`': [
      withFiles({ 'bin/x.ts': imports('@modelcontextprotocol/client') }),
      withFiles({ 'session/x.ts': "import type { Tool } from '@modelcontextprotocol/core';\n" }),
    ],
    'the HTTP framework only through `http/loopback-server.ts`': [
      withFiles({ 'http/x.ts': imports('@hono/node-server/utils/response') }),
    ],
    'SQL only through `store/sql.ts`': [
      withFiles({ 'core/x.ts': imports('node:sqlite') }),
      withFiles({ 'service/x.ts': "import type { Database } from 'node-sqlite3-wasm';\n" }),
      withFiles({ 'store/sql.ts': 'export {};\n' }),
    ],
    'inflating only through `readers/documents/archive/inflate.ts`': [
      withFiles({ 'bin/x.ts': "import { gunzipSync } from 'node:zlib';\nexport const a = gunzipSync;\n" }),
    ],
    'time only through `core/base/clock.ts`': [
      withFiles({ 'core/x.ts': 'export const a = Date.now();\n' }),
      withFiles({ 'core/x.ts': 'export const a = new Date();\n' }),
      withFiles({ 'core/x.ts': 'export const a = performance.now();\n' }),
    ],
    'randomness only through `core/base/ids.ts`': [
      withFiles({ 'core/x.ts': 'export const a = Math.random();\n' }),
      withFiles({ 'core/x.ts': "import { randomUUID } from 'node:crypto';\n" }),
    ],
    'the end of the process only through `bin/exit.ts`': [
      withFiles({ 'bin/x.ts': 'process.exitCode = 1;\n' }),
      withFiles({ 'core/x.ts': 'if (1) process.exit(1);\n' }),
    ],
    'the terminal only through `bin/main.ts`': [
      withFiles({ 'bin/x.ts': "console.log('x');\n" }),
      withFiles({ 'core/x.ts': "process.stderr.write('x');\n" }),
    ],
    'bare imports are declared dependencies': [
      withManifest({ dependencies: { tapable: '1', piscina: '1' } }),
      withFiles({ 'core/x.ts': imports('@scope/name/part') }),
      withFiles({ 'session/x.ts': imports('preact') }),
    ],
    'declared dependencies are imported': [
      withManifest({ dependencies: { ...soundManifest.dependencies, left: '1' } }),
    ],
    'files and folders are named in kebab-case after what they hold': [
      withFiles({ 'core/utils.ts': '' }),
      withFiles({ 'core/types/x.ts': '' }),
      withFiles({ 'core/someThing.ts': '' }),
      withFiles({ 'test/core/some_thing.test.ts': '' }),
    ],
    'comments stay within 120 columns': [
      withFiles({ 'core/base/x.ts': `/** ${'x'.repeat(120)} */\nexport {};\n` }),
    ],
    'a file of the product says first what it is for': [withFiles({ 'core/base/x.ts': 'export {};\n' })],
    'no file above 600 lines': [withFiles({ 'core/x.ts': 'export {};\n'.repeat(601) })],
    'files of a test room share one root: none makes its directory there': [
      withFiles({ 'test/core/x.test.ts': 'const cwd = realpathSync(t.testdir());\n' }),
    ],
    'generated files say so in line one': [withFiles({ 'core/x.gen.ts': 'export {};\n' })],
    'package.json exports the doors and nothing else': [
      withManifest({ exports: { ...soundManifest.exports, './core/*': { default: './dist/core/*.js' } } }),
      withManifest({ exports: { ...soundManifest.exports, '.': { default: './dist/bin/writ.js' } } }),
      withFiles({ 'plugin.ts': undefined, 'plugins/x.ts': '' }),
    ],
    'doors only list names': [withFiles({ 'index.ts': `${soundFiles['index.ts']}export const more = 1;\n` })],
    'every hook point is called': [withFiles({ 'engine/ask.ts': "slots.signer.pick('x');\n" })],
    'every slot is picked from': [withFiles({ 'engine/ask.ts': "hooks.tool.guard.call('x');\n" })],
    'a task of the pool is a module `…-in-thread.ts`, named where its `run` is known': [
      withFiles({ 'core/x.ts': 'export const task = defineTask<typeof run>(new URL(given));\n' }),
      withFiles({ 'core/x.ts': "defineTask<typeof run>(new URL('./a-in-thread.ts', import.meta.url));\n" }),
      withFiles({ 'gates/scan/forgotten-in-thread.ts': 'export function run() {}\n' }),
    ],
    'a rule is known by its row: no other file spells its id': [
      withFiles({ 'bin/x.ts': "export const warned = ['new-tests'];\n" }),
      withFiles({ 'engine/x.ts': "export const isOut = (rule: string) => rule === 'scope';\n" }),
      withFiles({ 'engine/work/work-plan.ts': 'export {};\n' }),
    ],
    'starting up loads no heavy library': [
      withFiles({
        'bin/dispatch.ts': imports('../attest/signer/sign.ts'),
        'attest/signer/sign.ts': imports('@sigstore/sign'),
      }),
      withFiles({ 'bin/main.ts': "import { type Ajv } from 'ajv';\nimport './args.ts';\n" }),
    ],
    'verifying needs no engine': [
      withFiles({ 'api/verify/verify-material.ts': imports('../../engine/ask.ts') }),
      withFiles({ 'api/verify/verify-material.ts': imports('ajv') }),
    ],
    '`session/tui` knows `session/screen` and the form of a snapshot': [
      withFiles({ 'session/tui/x.ts': imports('../state/decide.ts') }),
      withFiles({ 'session/tui/x.ts': imports('../state/snapshot.ts') }),
      withFiles({ 'session/tui/x.ts': imports('../../store/sql.ts') }),
    ],
    '`session/web` knows `session/screen` and the form of a snapshot': [
      withFiles({ 'session/web/x.ts': imports('../state/decide.ts') }),
      withFiles({ 'session/web/x.ts': imports('../state/snapshot.ts') }),
      withFiles({ 'session/web/x.ts': imports('../../core/base/clock.ts') }),
    ],
    '`session/screen` and the page run in a browser': [
      withFiles({ 'session/screen/x.ts': imports('node:path') }),
      withFiles({ 'session/web/x.ts': imports('node:url') }),
    ],
    'deciding is pure': [
      withFiles({ 'engine/decide/decide.ts': imports('../../core/base/clock.ts') }),
      withFiles({
        'engine/decide/decide.ts': imports('./x.ts'),
        'engine/decide/x.ts': imports('node:fs'),
      }),
    ],
  };
  for (const { name } of houseRules) {
    t.ok(breaking[name], `${name}: has a house that breaks it`);
    for (const house of breaking[name] ?? []) {
      t.ok(
        brokenRules(house).some((line) => line.startsWith(`${name}: `)),
        name,
      );
    }
  }
  t.strictSame(
    Object.keys(breaking).filter((name) => !houseRules.some((rule) => rule.name === name)),
    [],
  );
});

t.test('an architecture rule that matches no file is reported as broken', async (t) => {
  const broken = brokenRules(toHouse({}));
  for (const { name } of houseRules) {
    if (name.startsWith('package.json') || name === 'declared dependencies are imported') continue;
    t.ok(broken.includes(`${name}: looks at nothing`), name);
  }
});

t.test('import cycles are found as a whole, and chains are not cycles', async (t) => {
  const edges = (...pairs: [string, string][]) => pairs.map(([from, to]) => ({ from, to, specifier: to }));
  t.strictSame(findCycles(edges(['a', 'b'], ['b', 'c'], ['a', 'c'])), []);
  t.strictSame(findCycles(edges(['a', 'b'], ['b', 'c'], ['c', 'a'], ['c', 'd'])), [['a', 'b', 'c']]);
  t.strictSame(findCycles(edges(['a', 'b'], ['b', 'a'], ['c', 'd'], ['d', 'c'], ['b', 'c'])), [
    ['a', 'b'],
    ['c', 'd'],
  ]);
  t.strictSame(findCycles(edges(['a', 'a'])), [['a']]);
});

t.test('the file explanation of the compiler is parsed without dependencies', async (t) => {
  const explained = parseExplained(
    [
      'core/b.ts(1,1): error TS1: something',
      'node_modules/tapable/tapable.d.ts',
      "   Imported via 'tapable' from file 'core/a.ts' with packageId 'tapable/tapable.d.ts@2'",
      'core/b.ts',
      "   Imported via './b.ts' from file 'core/a.ts'",
      '   Imported via "./b.ts" from file \'node_modules/x/y.ts\'',
      "   Matched by include pattern 'core' in 'tsconfig.json'",
      'core/a.ts',
    ].join('\n'),
  );
  t.strictSame(explained, {
    paths: ['core/a.ts', 'core/b.ts'],
    edges: [{ from: 'core/a.ts', to: 'core/b.ts', specifier: './b.ts' }],
  });
});

t.test('the source scanner drops comments, strings and regular expressions from code', async (t) => {
  const code = (text: string) => scanSource(text).code.replace(/\s+/g, ' ').trim();
  t.equal(code('a; // Date.now()\nb;'), 'a; b;');
  t.equal(code('a /* Date.now() */ b'), 'a b');
  t.match(code('x(\'Date.now()\', "Date.now()")'), /^x\('\s*', "\s*"\)$/);
  t.equal(code('x(/Date.now[/"]/.test(y), z)').replace(/ /g, ''), 'x(.test(y),z)');
  t.equal(code('a / b / c'), 'a / b / c');
  t.match(code('`Date.now $' + '{Date.now({ a: `x` })} y`'), /^`\s*\$\{Date\.now\(\{ a: `\s*` \}\)\}\s*`$/);
  t.match(code("'it\\'s Date.now'; b"), /^'\s*'; b$/);
  t.strictSame(
    scanSource(
      "import a from 'a';\nimport 'b';\nexport { c } from \"c\";\nconst d = await import('d'); require(`e`); new URL('./f', 'g'); // from 'h'",
    ).specifiers,
    ['a', 'b', 'c', 'd', 'e'],
  );
  t.strictSame(
    scanSource(
      "import type A from 'a';\nimport { type B } from 'b';\nexport type { C } from 'c';\nimport type from 'd';\nimport('e');\nimport 'f';",
    ).imports.map(({ specifier, kind }) => `${specifier} ${kind}`),
    ['a type', 'b static', 'c type', 'd static', 'e dynamic', 'f static'],
  );
});
