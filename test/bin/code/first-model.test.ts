import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { otherModel } from '../../../bin/code/serve-code.ts';
import { commands } from '../../../bin/command-table.ts';
import { scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

/** An Ollama server with these models. */
async function serveOllama(t: Test, names: readonly unknown[]) {
  const server = createServer(({ url }, response) => {
    const list = { models: names.map((name) => ({ name })) };
    response.end(JSON.stringify(url === '/api/tags' ? list : { message: { content: 'Local.' }, done: true }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as { readonly port: number };
  return { server, host: `127.0.0.1:${port}` };
}

t.test('without `--provider` the first provider with a key is used, else a local Ollama', async (t) => {
  const { root, env, home, git, remove } = makeSample();
  const chat = await scriptModel([]);
  t.teardown(async () => {
    await chat[Symbol.asyncDispose]();
    remove();
  });
  const { host } = await serveOllama(t, ['gemma:2b', 'qwen3:8b']);
  const run = (argv: readonly string[], more: Readonly<Record<string, string>> = {}, stdin = '') =>
    runLine(argv, commands, { cwd: root, env: { ...env, OLLAMA_HOST: host, ...more }, stdin });
  const code = (more: Readonly<Record<string, string>>, ...options: readonly string[]) =>
    run(['code', '--print', 'hi', '--api-base', chat.base, ...options], more);
  const local = (...options: readonly string[]) => run(['code', '--print', 'hi', ...options]);
  const answered = { code: 0, out: 'The script is over.\n' };
  const openai = { OPENAI_API_KEY: 'key-of-nobody-1' };
  const isOpenai = {
    ...answered,
    err: /provider openai: the first with a key: OPENAI_API_KEY of the environment; `--provider NAME` chooses/,
  };
  t.match(await code(openai), isOpenai);
  t.match(await code({ ...openai, KIMI_API_KEY: 'key-of-nobody-2' }), isOpenai, 'the order is fixed');
  t.notMatch((await code(openai, '--provider', 'openai')).err, /the first with a key/);

  t.match(await local(), {
    code: 0,
    out: 'Local.\n',
    err: /provider ollama: no other has a key, and Ollama runs/,
  });
  t.match(await local('--json'), { out: /"model":"gemma:2b"/ });
  t.match(await local('--json', '--model', 'qwen3:8b'), { out: /"model":"qwen3:8b"/ });
  const missing = { code: 128, err: /PROVIDER_KEY_MISSING: provider `gemini` has no key/ };
  t.match(await local('--model', 'gemini-x'), missing, 'Ollama has no such model');

  const file = join(home, 'keys.env');
  writeFileSync(file, 'ZAI_API_KEY=key-of-nobody-3\n');
  t.match(await code({}, '--env-file', file), {
    ...answered,
    err: /provider zhipu: the first with a key: ZAI_API_KEY of the file of `--env-file`/,
  });
  await run(['vault', 'set', '--global', 'KIMI_API_KEY'], {}, 'key-of-nobody-4');
  t.match(await code({}), {
    ...answered,
    err: /provider kimi: the first with a key: KIMI_API_KEY of the global/,
  });

  const allowed = JSON.stringify(['openai@llm.example.com', `kimi@${new URL(chat.base).host}`]);
  mkdirSync(join(root, '.writ'), { recursive: true });
  writeFileSync(join(root, '.writ', 'config.toml'), `[session]\nproviders = ${allowed}\n`);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Limits');
  t.match(await code(openai), { ...answered, err: /provider kimi: / }, 'the policy');
});

t.test('without a key the error lists what works here, local models first', async (t) => {
  const { root, env, remove } = makeSample();
  t.teardown(remove);
  const { server, host } = await serveOllama(t, ['qwen3:8b', 'bad name', 7]);
  const run = (more: Readonly<Record<string, string>>) =>
    runLine(['code', '--provider', 'gemini', '--print', 'hi'], commands, {
      cwd: root,
      env: { ...env, ...more },
    });
  const { code, err } = await run({ OLLAMA_HOST: host, OPENAI_API_KEY: 'key-of-nobody-1' });
  t.equal(code, 128);
  const hints = err.split('\n').filter((line) => line.includes('hint:'));
  t.match(hints[0], /Ollama runs here: `writ code --provider ollama --model qwen3:8b` \(qwen3:8b\)/);
  t.match(hints[1], /OPENAI_API_KEY is set: `writ code --provider openai`/);
  t.match(err, /writ vault set GEMINI_API_KEY/);
  t.match(err, /writ demo --session/);
  t.notMatch(err, 'key-of-nobody');
  server.close();
  const none = await run({ OLLAMA_HOST: host });
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
