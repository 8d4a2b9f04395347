import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { long } from '../rooms/long.ts';
import { sampleOf, script, writ } from './sample-lines.ts';
import { scriptModel } from './scripted-model.ts';

long(
  'a key comes from the env-file, the repository vault, the global vault, then the environment',
  async (t) => {
    const sample = sampleOf(t);
    const file = join(sample.home, 'keys.env');
    writeFileSync(file, 'ZHIPUAI_API_KEY=of-the-env-file\n');
    const ask = async (argv: readonly string[] = []) => {
      await using model = await scriptModel([{ fails: [401, { error: { message: 'no' } }] }]);
      const line = ['run', 'SPEC', '--provider', 'zhipu', '--api-base', model.base, ...argv];
      const { err, error } = await writ(sample, line, { env: { ZHIPU_API_KEY: 'of-the-environment' } });
      t.equal(error.code, 'PROVIDER_FAILED');
      return [model.asked[0]?.headers.authorization, /^key of .*$/m.exec(err)?.[0]];
    };
    const set = (name: string, stdin: string, ...more: readonly string[]) =>
      writ(sample, ['vault', 'set', name, ...more], { stdin });
    t.strictSame(await ask(), [
      'Bearer of-the-environment',
      'key of zhipu: ZHIPU_API_KEY, of the environment',
    ]);
    await set('GLM_API_KEY', 'of-the-global-vault', '--global');
    t.strictSame(await ask(), [
      'Bearer of-the-global-vault',
      'key of zhipu: GLM_API_KEY, of the global vault',
    ]);
    await set('ZAI_API_KEY', 'of-the-vault-here');
    t.strictSame(await ask(), [
      'Bearer of-the-vault-here',
      'key of zhipu: ZAI_API_KEY, of the vault of the repository',
    ]);
    t.strictSame(await ask(['--env-file', file]), [
      'Bearer of-the-env-file',
      'key of zhipu: ZHIPUAI_API_KEY, of the file of `--env-file`',
    ]);
  },
);

long('no prompt contains a value of a vault or an env-file in any encoding', async (t) => {
  const sample = sampleOf(t);
  const secrets = {
    HERE: 'a value/of this one?',
    GLOBAL: 'Zq8vXw3Lm5Rt9KpY2nHd',
    FILE: 'hunter2 and some more',
  };
  await writ(sample, ['vault', 'set', 'HERE'], { stdin: secrets.HERE });
  await writ(sample, ['vault', 'set', 'GLOBAL', '--global'], { stdin: secrets.GLOBAL });
  const file = join(sample.home, 'keys.env');
  writeFileSync(file, `FILE='${secrets.FILE}'\nOPENAI_BASE_URL=http://127.0.0.1:1\n`);
  const values = Object.values(secrets);
  const coded = values.map((value) => Buffer.from(`a:${value}`).toString('base64'));
  const whole = values.flatMap((value) => [
    value,
    encodeURIComponent(value),
    Buffer.from(value).toString('hex'),
  ]);
  const forms = [...whole, ...coded.map((text) => text.slice(4, -4))];
  const notes = [...whole, ...coded, ''].join('\n');
  writeFileSync(join(sample.root, 'notes.txt'), `${notes}http://127.0.0.1:1\n`);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Notes');
  await using model = await scriptModel([{ calls: [['read_file', { path: 'notes.txt' }]] }, ...script]);
  const traffic = join(sample.home, 'traffic');
  const line = ['run', 'SPEC', '--provider', 'openai', '--api-base', model.base, '--env-file', file];
  const ran = await writ(sample, [...line, '--record', traffic]);
  t.equal(ran.exit, 0, ran.out);
  const told = JSON.stringify(model.asked.map(({ body }) => body));
  t.match(told, 'notes.txt');
  t.match(told, 'http://127.0.0.1:1', 'an address is no secret');
  for (const form of forms) t.notOk(told.includes(form), form);
});

long('`writ doctor` reports where each provider has its key and address, but never the key', async (t) => {
  const sample = sampleOf(t);
  await writ(sample, ['vault', 'set', 'KIMI_API_KEY'], { stdin: 'of-the-vault-here' });
  const env = { OPENAI_API_KEY: 'of-the-environment', OPENAI_BASE_URL: 'http://127.0.0.1:1/' };
  const { data, out } = await writ(sample, ['doctor'], { env });
  const row = (id: string) => data.checks.find((check: { readonly id: string }) => check.id === id);
  t.match(row('provider-kimi'), {
    status: 'ok',
    detail: /^KIMI_API_KEY of the vault of the repository; at https:/,
  });
  t.match(row('provider-openai'), {
    status: 'ok',
    detail: 'OPENAI_API_KEY of the environment; at http://127.0.0.1:1 (OPENAI_BASE_URL)',
  });
  t.match(row('provider-zhipu'), { status: 'missing', needed: false, detail: /`ZHIPU_API_KEY` is not set/ });
  t.match(row('provider-ollama'), { status: 'ok', detail: /^needs no key; at http:/ });
  t.notMatch(out, 'of-the-vault-here');
});
