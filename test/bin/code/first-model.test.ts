import { once } from 'node:events';
import { createServer } from 'node:http';
import t from 'tap';
import { otherModel } from '../../../bin/code/serve-code.ts';
import { commands } from '../../../bin/command-table.ts';
import { makeSample } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

t.test('without a key the error lists what works here, local models first', async (t) => {
  const { root, env, remove } = makeSample();
  t.teardown(remove);
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ models: [{ name: 'qwen3:8b' }, { name: 'bad name' }, 7] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as { readonly port: number };
  const run = (more: Readonly<Record<string, string>>) =>
    runLine(['code', '--print', 'hi'], commands, { cwd: root, env: { ...env, ...more } });
  const { code, err } = await run({ OLLAMA_HOST: `127.0.0.1:${port}`, OPENAI_API_KEY: 'key-of-nobody-1' });
  t.equal(code, 128);
  const hints = err.split('\n').filter((line) => line.includes('hint:'));
  t.match(hints[0], /Ollama runs here: `writ code --provider ollama --model qwen3:8b` \(qwen3:8b\)/);
  t.match(hints[1], /OPENAI_API_KEY is set: `writ code --provider openai`/);
  t.match(err, /writ vault set GEMINI_API_KEY/);
  t.match(err, /writ demo --session/);
  t.notMatch(err, 'key-of-nobody');
  server.close();
  const none = await run({ OLLAMA_HOST: `127.0.0.1:${port}` });
  t.match(none, { code: 128, err: /Ollama needs no key/ });
});

t.test('`/model PROVIDER/NAME` changes the provider, unless the address is one of its own', async (t) => {
  const before = { provider: 'gemini', model: 'gemini-4-argon', flags: { x: 'y' } };
  t.strictSame(otherModel(before, 'gemini-2.5-pro'), { ...before, model: 'gemini-2.5-pro' });
  t.strictSame(otherModel(before, 'anthropic/claude-sonnet-5'), {
    provider: 'anthropic',
    model: 'claude-sonnet-5',
    flags: {},
  });
  t.strictSame(otherModel(before, 'org/name:8b'), { ...before, model: 'org/name:8b' });
  const router = { ...before, apiBase: 'https://router.example/v1' };
  t.strictSame(otherModel(router, 'anthropic/claude-x'), { ...router, model: 'anthropic/claude-x' });
});
