import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { codexProgram } from '../../../agent/codex/home.ts';
import { formatModelChoice } from '../../../agent/instructions.ts';
import { codexWorker } from '../../../agent/plugin.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { codexBin, codexSkip } from './codex-program.ts';
import { exec, say, scriptResponses } from './scripted-responses.ts';

const reach = reachProvider({ variable: () => undefined, keys: { environment: () => 'a-key' } });
const constraints = { allowCommands: ['node'] };
const security = { toolAcl: { allow: [{ tool: 'workspace.command', actions: ['execute'], constraints }] } };
const program = { model: 'm', modelBase: 'http://127.0.0.1:3128/v1' };

/** A run in which a command of the agent attacks it, and what the model was told of that. */
async function attacked(
  t: Test,
  { bin, port, helped = false }: { readonly bin: string; readonly port?: string; readonly helped?: boolean },
) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const here = import.meta.dirname;
  cpSync(join(here, 'attack-inside.cjs'), join(sample.root, 'attack-inside.cjs'));
  // Node as the program: `app-server`, the first word of Codex, is then a script of the workspace.
  mkdirSync(join(sample.root, 'app-server'));
  writeFileSync(join(sample.root, 'app-server', 'package.json'), '{}');
  cpSync(join(here, 'app-server-at-port.cjs'), join(sample.root, 'app-server', 'index.js'));
  if (helped) writeFileSync(join(sample.root, 'helped'), '');
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'An attack');
  await using model = await scriptResponses([[exec('node attack-inside.cjs')], [say('Done.')]]);
  const from = formatModelChoice({
    provider: 'codex',
    model: 'scripted',
    apiBase: model.base,
    flags: { 'codex-bin': bin, ...(port === undefined ? {} : { 'codex-port': port }) },
  });
  await sample.run({ source: { kind: 'worker', worker: codexWorker, from }, reach }, { security });
  const told = JSON.stringify(model.asked.map(({ body }) => body));
  const [, got] = /got: (\{.*?\})(?:\\|"|<)/.exec(told.replaceAll('\\"', '"').replaceAll('\\"', '"')) ?? [];
  return { got: got === undefined ? undefined : (JSON.parse(got) as unknown), told };
}

const nothingGot = {
  control: true,
  found: false,
  shown: 0,
  taken: 0,
  knocks: [
    'HTTP/1.1 401 Unauthorized',
    'HTTP/1.1 401 Unauthorized',
    'HTTP/1.1 401 Unauthorized',
    'HTTP/1.1 403 Forbidden',
  ],
};

t.test('each start with a port has its own token, and the arguments hold only its digest', async (t) => {
  const [one, other] = [1, 2].map(() => codexProgram({ ...program, flags: { 'codex-port': '4711' } }));
  const token = one?.port?.token ?? '';
  t.match(token, /^[0-9a-f]{64}$/);
  t.not(other?.port?.token, token);
  t.equal(one?.port?.port, 4711);
  t.same(one?.words.slice(0, 3), ['app-server', '--listen', 'ws://127.0.0.1:4711']);
  t.equal(one?.words.at(-1), sha256Hex(token));
  t.notOk(JSON.stringify({ ...one, port: undefined }).includes(token));
  t.same(codexProgram({ ...program, flags: {} }).words, ['app-server'], 'without it there is none');
});

long('a server at a sandbox port accepts no other client', async (t) => {
  const { got, told } = await attacked(t, { bin: process.execPath, port: '4711' });
  t.match(got, { ...nothingGot, listening: ['0100007F:3128', '0100007F:4711'] }, told);
});

long('no command can talk to Codex at its sandbox port', { skip: codexSkip }, async (t) => {
  const { got, told } = await attacked(t, { bin: codexBin, port: '4711' });
  t.match(got, nothingGot, told);
});

t.test('a port in use is refused before the program starts', async (t) => {
  await t.rejects(attacked(t, { bin: process.execPath, port: '3128' }), {
    code: 'AGENT_PORT_UNUSABLE',
    detail: { port: 3128, reason: 'taken' },
  });
});

long('a program that other processes could inspect gets no token', async (t) => {
  await t.rejects(attacked(t, { bin: process.execPath, port: '4711', helped: true }), {
    code: 'AGENT_PORT_UNUSABLE',
    detail: { port: 4711, reason: 'readable' },
  });
});
