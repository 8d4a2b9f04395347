import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { parseVkey } from '../../../attest/log/note.ts';
import { providerScaffold } from '../../../bin/plugin/maker-scaffolds.ts';
import { serveModel } from '../../../plugins/testers/provider-tester.ts';
import { toObstacle } from '../../../plugins/third-party/process/plugin-fault.ts';

const root = join(import.meta.dirname, '../../..');
/** A file without its first comment, which says what it is for. */
const textOf = (path: string): string =>
  readFileSync(join(root, path), 'utf8').replace(/^\/\* .* \*\/\n/, '');
const page = textOf('docs/guides/plugin-provider.md');
const run = promisify(execFile);

/** The block of a page that holds these words. */
function blockWith(text: string, words: string): string {
  const blocks = [...text.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.find((block) => block.includes(words)) ?? '';
}

t.test('docs/guides/plugin-provider.md names every model tool and every egress code', async (t) => {
  const tools = globSync('agent/tools/*.ts', { cwd: root }).map(textOf).join('\n');
  const names = [...tools.matchAll(/^ {2}name: '(\w+)',$/gm)].map(([, name = '']) => name);
  t.ok(names.includes('apply_patch'));
  for (const name of names) t.ok(page.includes(`\`${name}\``), name);
  const [, table = ''] = page.split('**No connection.**');
  const named = new Set([...table.matchAll(/`(EGRESS_\w+)`/g)].map(([, code]) => code));
  const whys = ['not-listed', 'port', 'unresolved', 'address', 'unreachable', 'time', 'limit'] as const;
  const use = {
    host: 'a',
    port: 443,
    via: 'connect',
    reasons: [],
    connections: 1,
    sentBytes: 0,
    receivedBytes: 0,
  } as const;
  const codes = whys.map((why) => toObstacle({ ...use, outcome: 'failed', why })?.code);
  t.strictSame([...named].sort(), codes.sort());
});

t.test('the example in docs/guides/plugin-provider.md works against a local server', async (t) => {
  await using server = await serveModel((response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.end('{"text":"Hi"}\n{"end":"stop"}\n');
  });
  const files = {
    ...Object.fromEntries(providerScaffold('parrot')),
    'try.js': blockWith(page, 'process.argv[2]'),
  };
  const place = t.testdir(files);
  const { stdout } = await run(process.execPath, ['try.js', `http://127.0.0.1:${server.port}/v1`], {
    cwd: place,
  });
  t.match(stdout, /type: 'text', text: 'Hi'[\s\S]*type: 'end', end: 'stop'/);
  t.match(server.asked, [{ path: '/v1/chat', body: { model: 'parrot-1' } }]);
});

t.test('the recipe in docs/guides/plugin-log.md creates a usable log key', async (t) => {
  const place = t.testdir({});
  writeFileSync(
    join(place, 'vkey.mjs'),
    blockWith(textOf('docs/guides/plugin-log.md'), 'generateKeyPairSync'),
  );
  const { stdout } = await run(process.execPath, ['vkey.mjs', 'log.notary.example'], { cwd: place });
  t.equal(parseVkey(stdout.trim()).name, 'log.notary.example');
  t.ok(existsSync(join(place, 'log.pem')));
});

t.test('the page of plugins links the page of each part that a plugin can bring', async (t) => {
  const plugins = textOf('docs/reference/plugins.md');
  for (const kind of ['provider', 'log', 'stage-check', 'artifact', 'evidence'])
    t.ok(plugins.includes(`(../guides/plugin-${kind}.md`), kind);
});
