import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { long } from '../rooms/long.ts';
import { key, sampleOf, script, writ } from './sample-lines.ts';
import { scriptModel } from './scripted-model.ts';

long('a recorded run replays offline and without a key to the same tree', async (t) => {
  const sample = sampleOf(t);
  const traffic = join(sample.home, 'traffic');
  let base = '';
  {
    await using model = await scriptModel(script);
    base = model.base;
    const argv = ['run', 'SPEC', '--provider', 'openai', '--model', 'm', '--api-base', base];
    const planned = await writ(sample, ['plan', ...argv.slice(1), '--record', traffic]);
    t.equal(planned.exit, 0, planned.out);
    t.notOk(readdirSync(sample.home).includes('traffic'), 'a plan writes nothing');
    const ran = await writ(sample, [...argv, '--record', traffic], { env: { OPENAI_API_KEY: key } });
    t.equal(ran.exit, 0, ran.out);
    t.match(ran.err, 'key of openai: OPENAI_API_KEY, of the environment');
    t.equal(model.asked[0]?.headers.authorization, `Bearer ${key}`);
    for (const text of [ran.out, ran.err]) t.notMatch(text, key);
    t.match(await writ(sampleOf(t), [...argv, '--record', traffic]), { error: { code: 'OUTPUT_EXISTS' } });
    t.equal(model.asked.length, script.length, 'nothing is asked where it could not be written down');
  }
  const names = readdirSync(traffic);
  t.equal(names.length, script.length);
  for (const name of names) t.notMatch(readFileSync(join(traffic, name), 'utf8'), key.slice(3));
  const tree = sample.git('rev-parse', 'HEAD^{tree}');

  const fresh = sampleOf(t);
  t.not(fresh.git('rev-parse', 'HEAD^{tree}'), tree);
  const replayed = await writ(fresh, ['run', 'SPEC', '--provider', `replay:${traffic}`]);
  t.equal(replayed.exit, 0, replayed.out);
  t.equal(fresh.git('rev-parse', 'HEAD^{tree}'), tree);

  for (const option of ['--record', '--api-base'])
    t.match(
      await writ(sampleOf(t), [
        'run',
        'SPEC',
        '--provider',
        `replay:${traffic}`,
        option,
        'http://127.0.0.1:1',
      ]),
      { exit: 129, error: { code: 'PROVIDER_OPTION', details: { flag: option.slice(2) } } },
    );

  const words = await writ(sampleOf(t), ['run', 'SPEC', '--provider', `replay:${traffic}`], {
    spec: { intent: { objectives: ['Prices are exact, always'] } },
  });
  t.match(words.error, {
    code: 'RECORDING_DIFFERS',
    details: { number: 1, pointer: /^\/request\/body\/messages\/1/ },
  });

  const other = sampleOf(t);
  const file = join(other.root, 'src/price.js');
  writeFileSync(file, `// changed\n${readFileSync(file, 'utf8')}`);
  other.git('commit', '--quiet', '--all', '-m', 'Changed');
  const changed = await writ(other, ['run', 'SPEC', '--provider', `replay:${traffic}`]);
  t.match(changed.error, { code: 'RECORDING_DIFFERS', details: { number: 2, found: /changed/ } });

  const short = sampleOf(t);
  rmSync(join(traffic, '0004.json'));
  t.match((await writ(short, ['run', 'SPEC', '--provider', `replay:${traffic}`])).error, {
    code: 'RECORDING_ENDED',
  });
  t.match((await writ(short, ['run', 'SPEC', '--provider', 'replay'])).error, { code: 'PROVIDER_OPTION' });
  t.match((await writ(short, ['run', 'SPEC', '--provider', `replay:${short.root}`])).error, {
    code: 'RECORDING_MALFORMED',
  });
});

t.test('provider flags are accepted for their own provider and refused for others', async (t) => {
  const sample = sampleOf(t);
  const ask = (...argv: readonly string[]) => writ(sample, ['plan', 'SPEC', ...argv]);
  t.match((await ask('--provider', 'openai', '--thinking', 'high')).error, {
    code: 'PROVIDER_OPTION',
    message: /belongs to provider `ollama`, and `openai` is chosen/,
  });
  t.match((await ask('--provider', 'kimi', '--stream', 'true')).error, { code: 'PROVIDER_OPTION' });
  t.match((await ask('--provider', 'ollama', '--thinking', 'hard')).error, { code: 'PROVIDER_OPTION' });
  t.equal((await ask('--provider', 'ollama', '--ollama-compact-tools', '--thinking=auto')).exit, 0);
  t.equal((await ask('--provider', 'ollama', '--ollama-compact-tools', 'off')).exit, 0);
  for (const option of ['--model', '--thinking', '--temperature', '--record'])
    t.match((await ask(option, 'on')).error, { code: 'USAGE', details: { option } }, option);
});

long('an env-file wins over the process environment for keys and base URLs', async (t) => {
  const sample = sampleOf(t);
  await using model = await scriptModel(script);
  const file = join(sample.home, 'keys.env');
  writeFileSync(file, `OPENAI_API_KEY='${key}'\nOPENAI_BASE_URL=${model.base}\n`);
  const env = { OPENAI_API_KEY: 'of-the-process', OPENAI_BASE_URL: 'http://127.0.0.1:1' };
  const ran = await writ(sample, ['run', 'SPEC', '--provider', 'openai', '--env-file', file], { env });
  t.equal(ran.exit, 0, ran.out);
  t.equal(model.asked[0]?.headers.authorization, `Bearer ${key}`);
  t.match(ran.err, 'OPENAI_API_KEY, of the file of `--env-file`');
  writeFileSync(file, 'OPENAI_API_KEY\n');
  const wrong = await writ(sample, ['plan', 'SPEC', '--provider', 'openai', '--env-file', file]);
  t.match(wrong.error, { code: 'ENV_FILE_MALFORMED' });
});

long('the prompt cache key stays the same between runs', async (t) => {
  const names: unknown[] = [];
  for (const round of [1, 2]) {
    const sample = sampleOf(t);
    const traffic = join(sample.home, 'traffic');
    await using model = await scriptModel(script);
    const argv = ['run', 'SPEC', '--provider', 'kimi', '--api-base', model.base, '--record', traffic];
    await writ(sample, argv, { env: { KIMI_API_KEY: key } });
    const { request } = JSON.parse(readFileSync(join(traffic, '0001.json'), 'utf8'));
    names.push(request.body.prompt_cache_key);
    t.type(names.at(-1), 'string', `run ${round}`);
  }
  t.equal(names[0], names[1]);
});

long('a failed run resumes with its original model or with another one', async (t) => {
  const refuses = { fails: [401, { error: { message: 'no' } }] } as const;
  for (const other of [false, true]) {
    const sample = sampleOf(t);
    const env = { KIMI_API_KEY: key, ZHIPU_API_KEY: key };
    await using model = await scriptModel([refuses, ...script]);
    const flags = ['--kimi-stream', 'true', '--model', 'm', '--temperature', '1'];
    const line = ['run', 'SPEC', '--provider', 'kimi', '--api-base', model.base, ...flags];
    t.equal((await writ(sample, line, { env })).error.code, 'PROVIDER_FAILED');
    const [{ run_id: run }] = (await writ(sample, ['runs'])).data.runs;
    const more = other ? ['--provider', 'zhipu', '--api-base', model.base, '--model', 'n'] : [];
    const resumed = await writ(sample, ['resume', run, ...more], { env });
    t.equal(resumed.exit, 0, resumed.out);
    t.match(model.asked.at(-1)?.body, other ? { model: 'n' } : { model: 'm', stream: true });
    t.match(await writ(sample, ['resume', run, '--model', 'x']), { error: { code: 'USAGE' } });
  }
});
