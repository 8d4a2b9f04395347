import t from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { checkFlags, flagTable } from '../../providers/flags.ts';
import { costUnits, knownModel } from '../../providers/model-table.ts';

/** Names of the keys, in the order in which they are looked up (resolutions, Credentials). */
const keys: Readonly<Record<string, readonly string[]>> = {
  openai: ['OPENAI_API_KEY'],
  deepseek: ['DEEPSEEK_API_KEY'],
  kimi: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
  zhipu: ['ZHIPU_API_KEY', 'ZHIPUAI_API_KEY', 'ZAI_API_KEY', 'GLM_API_KEY'],
};

/** Flags and their values (document 2, Options). */
const flags: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  openai: {},
  deepseek: {
    'deepseek-thinking': ['enabled', 'disabled'],
    'deepseek-reasoning-effort': ['low', 'medium', 'high', 'max'],
    'deepseek-stream stream': ['true', 'false'],
  },
  kimi: { 'kimi-thinking': ['enabled', 'disabled'], 'kimi-stream': ['true', 'false'] },
  zhipu: {},
};

t.test('each provider has its documented keys and flags', async (t) => {
  for (const [name, expected] of Object.entries(keys)) {
    const source = await builtInProviders[name]?.();
    t.strictSame(source?.keys, expected, name);
    t.strictSame(
      Object.fromEntries(
        (source?.flags ?? []).map(({ name, alias, values }) => [
          alias === undefined ? name : `${name} ${alias}`,
          values,
        ]),
      ),
      flags[name],
      name,
    );
  }
});

t.test('the flag table equals the flags of the providers', async (t) => {
  for (const [name, load] of Object.entries(builtInProviders))
    t.equal((await load()).flags, flagTable[name] ?? (await load()).flags, name);
  for (const [name, load] of Object.entries(builtInProviders))
    t.equal((await load()).flags.length > 0, Object.hasOwn(flagTable, name), name);
});

t.test('maps `xhigh` to `max` and accepts `--stream` only for DeepSeek', async (t) => {
  const given = [
    { name: 'deepseek-reasoning-effort', value: 'xhigh' },
    { name: 'stream', value: 'true' },
  ];
  t.strictSame(
    checkFlags('deepseek', given, flagTable, () => undefined),
    { 'deepseek-reasoning-effort': 'max', 'deepseek-stream': 'true' },
  );
  t.throws(() => checkFlags('kimi', given.slice(1), flagTable, () => undefined), { code: 'PROVIDER_OPTION' });
});

t.test('the base of a provider is an HTTPS URL without a trailing slash', async (t) => {
  for (const name of Object.keys(keys)) {
    const { base = '' } = (await builtInProviders[name]?.()) ?? {};
    t.equal(new URL(base).protocol, 'https:', name);
    t.notOk(base.endsWith('/'), name);
  }
});

t.test('every default model has a known price', async (t) => {
  for (const name of Object.keys(keys)) {
    const { defaultModel = '' } = (await builtInProviders[name]?.()) ?? {};
    t.ok(knownModel(defaultModel), `${name}: ${defaultModel}`);
  }
  const usage = { input: 1000, output: 500, cachedInput: 200 };
  for (const [name, load] of Object.entries(builtInProviders)) {
    const { base, defaultModel, open } = await load();
    const stream = () => Promise.reject(new Error('asked'));
    const provider = await open({
      base,
      isOtherBase: false,
      flags: {},
      stream,
      clock: systemClock,
      key: 'k',
    });
    t.equal(provider.costUnits?.(defaultModel, usage), costUnits(defaultModel, usage), name);
  }
});

t.test('Codex accepts only unprivileged ports and refuses a direct model request', async (t) => {
  const { codex } = await import('../../providers/codex/source.ts');
  const setting = { base: codex.base, isOtherBase: false, flags: {} } as Parameters<typeof codex.open>[0];
  for (const port of [
    '',
    '0',
    '1',
    '80',
    '1023',
    '65536',
    '99999',
    '04000',
    '4000 ',
    '-1',
    '4e3',
    '0x1000',
    'random',
  ])
    t.throws(
      () => codex.open({ ...setting, flags: { 'codex-port': port } }),
      { code: 'PROVIDER_OPTION', detail: { flag: 'codex-port' } },
      port,
    );
  for (const port of ['1024', '4000', '65535'])
    t.doesNotThrow(() => codex.open({ ...setting, flags: { 'codex-port': port } }), port);
  const provider = await codex.open(setting);
  const asking = provider.ask({} as Parameters<typeof provider.ask>[0], new AbortController().signal);
  await t.rejects(asking[Symbol.asyncIterator]().next(), { code: 'PROVIDER_OPTION' });
});
