import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { makeSample } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

function placeOf(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const tools = t.testdir({ 'tickets.mjs': '', kit: { 'package.json': '{}', src: { 'a.js': '' } } });
  const file = join(sample.home, '.config', 'writ', 'config.toml');
  const run = async (argv: readonly string[], json: boolean) => {
    const words = [...(json ? ['--json'] : []), 'mcp', ...argv];
    return runLine(words, commands, { cwd: sample.root, env: sample.env, stdin: '' });
  };
  return {
    ...sample,
    tools,
    file,
    own: () => readFileSync(file, 'utf8'),
    words: async (...argv: readonly string[]) => {
      const { out, err } = await run(argv, false);
      return out + err;
    },
    async mcp(...argv: readonly string[]) {
      const { code, out } = await run(argv, true);
      return { exit: code, ...JSON.parse(out) };
    },
  };
}

t.test('a server is added, listed and removed, and the rest of the file stays', async (t) => {
  const { mcp, words, file, own, tools } = placeOf(t);
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  const before = '# mine\n[screen]\n# dark\ntheme = "dark"\n';
  writeFileSync(file, before, { mode: 0o600 });
  t.match(await words('list'), 'no MCP servers; `writ mcp add NAME -- COMMAND` adds one');
  const added = await mcp('add', 'tickets', '--tool', 'get', '--', 'node', join(tools, 'tickets.mjs'), '--x');
  t.match(added, {
    ok: true,
    data: {
      name: 'tickets',
      from: 'user',
      path: file,
      command: ['node', '/mcp/tickets.mjs', '--x'],
      directory: tools,
      tools: ['get'],
      reach: 'no network, no files',
    },
  });
  t.match(
    await words('add', 'wiki', '--url', 'https://mcp.example.com/mcp', '--token', 'WIKI_TOKEN'),
    /^added wiki to ~\/\.config\/writ\/config\.toml: https:.*\n.*reaches mcp\.example\.com\n.*asks before it starts/,
  );
  await mcp(
    'add',
    'kit',
    '--host',
    'a.example',
    '--env',
    'KEY',
    '--env',
    'A=B',
    '--',
    'node',
    join(tools, 'kit/src/a.js'),
  );
  t.ok(own().startsWith(before));
  t.match(own(), /\[mcp\.kit\]\n.*"\/mcp\/src\/a\.js"/, 'the package is shown');
  t.match(own(), /\[mcp\.kit\.env\]\nKEY = "KEY"\nA = "B"\n$/);
  t.match((await mcp('list')).data.servers, [
    { name: 'tickets', from: 'user' },
    { name: 'wiki', url: 'https://mcp.example.com/mcp', reach: 'reaches mcp.example.com' },
    { name: 'kit' },
  ]);
  t.match(await mcp('add', 'wiki', '--url', 'https://a.example/'), {
    exit: 129,
    error: { message: /is configured in .* already\. Run `writ mcp remove wiki` first/ },
  });
  for (const name of ['kit', 'tickets', 'wiki']) t.match(await mcp('remove', name), { ok: true });
  t.equal(own(), before, 'as it was before');
  t.match(await mcp('remove', 'wiki'), { exit: 1, error: { code: 'MCP_SERVER_UNKNOWN' } });
  const table = '[mcp.a]\ncommand = [\n  "node",\n]\n\n';
  writeFileSync(file, `${table}# dark\n[screen]\ntheme = "dark"\n`, { mode: 0o600 });
  t.match(await mcp('remove', 'a'), { ok: true });
  t.equal(own(), '# dark\n[screen]\ntheme = "dark"\n', 'a comment belongs to the next table');
  writeFileSync(file, 'mcp = { a = { command = ["node"] } }\n', { mode: 0o600 });
  t.match(await mcp('remove', 'a'), { error: { message: /`mcp\.a`: it is no table of its own/ } });
  t.match(await mcp('add', 'b', '--', 'node'), { error: { code: 'CONFIG_INVALID' } });
  t.equal(own(), 'mcp = { a = { command = ["node"] } }\n');
});

t.test('a server of the repository counts once committed, and the list says so', async (t) => {
  const { mcp, words, root, git, tools } = placeOf(t);
  writeFileSync(join(root, 'server.mjs'), '');
  const text = await words('add', 'notes', '--project', '--', 'node', 'server.mjs');
  t.match(
    text,
    /^added notes to \.writ\/config\.toml: .*\n.*reads the workspace, no network\n.*counts once committed: git add/,
  );
  t.match(readFileSync(join(root, '.writ/config.toml'), 'utf8'), /workspace = "read"/);
  t.match((await mcp('list')).data, { servers: [], uncommitted: ['mcp.notes'] });
  t.match(
    await words('list'),
    '`[mcp.notes]` of `.writ/config.toml` differs from HEAD and counts once committed.',
  );
  git('add', '--all', '--force');
  git('commit', '--quiet', '-m', 'Name the server');
  t.match((await mcp('list')).data, { servers: [{ name: 'notes', from: 'policy' }], uncommitted: [] });
  writeFileSync(join(root, '.writ/config.toml'), '[mcp_servers.x]\ncommand = "node"\n');
  t.match(await words('list'), /`\[mcp_servers\.x\]`, `\[mcp\.notes\]` of .*writ reads only `\[mcp\.NAME\]`/);
  t.match(await mcp('add', 'out', '--project', '--', 'node', join(tools, 'tickets.mjs')), {
    exit: 129,
    error: { message: /is outside the repository\. Copy it into the repository, or leave out `--project`/ },
  });
});

t.test('servers that are added at the same time are all there', async (t) => {
  const { mcp } = placeOf(t);
  const add = (place: readonly string[]) =>
    Promise.all(
      ['a', 'b', 'c'].map((name) => mcp('add', name, '--url', 'https://mcp.example.com/mcp', ...place)),
    );
  await add([]);
  await add(['--project']);
  const { servers, uncommitted } = (await mcp('list')).data;
  t.strictSame(servers.map(({ name }: { readonly name: string }) => name).sort(), ['a', 'b', 'c']);
  t.strictSame(uncommitted.toSorted(), ['mcp.a', 'mcp.b', 'mcp.c']);
});

t.test('what the sandbox cannot run is refused with the reason', async (t) => {
  const { mcp, root, home } = placeOf(t);
  writeFileSync(join(root, '..', 'beside.mjs'), '');
  writeFileSync(join(home, 'tool.mjs'), '');
  const refusals: readonly (readonly [RegExp, ...string[]])[] = [
    [
      /holds this repository, and a change could write the program\. Move it/,
      'a',
      '--',
      'node',
      '../beside.mjs',
    ],
    [/would show all of .*\. Move it into a directory of its own/, 'a', '--', 'node', join(home, 'tool.mjs')],
    [/expected a bare name found on the sandbox's PATH/, 'a', '--', './server'],
    [/expected either `command` or `url`/, 'a'],
    [/expected either `command` or `url`/, 'a', '--url', 'https://a.example/', '--', 'node'],
    [/expected `https:`/, 'a', '--url', 'http://a.example/'],
    [/lower-case letters, digits and `-`/, 'A_b', '--', 'node'],
    [/a variable that decides no program/, 'a', '--env', 'NODE_OPTIONS=X', '--', 'node'],
  ];
  for (const [message, ...argv] of refusals)
    t.match(await mcp('add', ...argv), { ok: false, error: { message } }, argv.join(' '));
});
