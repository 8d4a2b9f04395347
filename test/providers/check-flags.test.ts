import t from 'tap';
import { checkFlags, type FlagTable, flagTable } from '../../providers/flags.ts';
import { findBase } from '../../providers/keys.ts';
import { ollama } from '../../providers/ollama/source.ts';

const table: FlagTable = {
  deepseek: [
    {
      name: 'deepseek-reasoning-effort',
      values: ['low', 'medium', 'high', 'max'],
      spellings: { xhigh: 'max' },
      says: '',
    },
    { name: 'deepseek-stream', alias: 'stream', values: ['true', 'false'], says: '' },
  ],
  ollama: ollama.flags,
  openai: [],
  codex: [{ name: 'codex-bin', values: [], says: '' }],
};
const none = (): undefined => undefined;
const check = (chosen: string, given: Parameters<typeof checkFlags>[1], env: Record<string, string> = {}) =>
  checkFlags(chosen, given, table, (name) => env[name]);

t.test('accepts flags of the chosen provider by name and by alias', async (t) => {
  t.strictSame(check('ollama', [{ name: 'ollama-thinking', value: 'high' }]), { 'ollama-thinking': 'high' });
  t.strictSame(check('ollama', [{ name: 'thinking', value: 'on' }]), { 'ollama-thinking': 'on' });
  t.strictSame(check('ollama', [{ name: 'ollama-compact-tools' }]), { 'ollama-compact-tools': 'on' });
  t.strictSame(check('ollama', [{ name: 'ollama-compact-tools', value: 'false' }]), {
    'ollama-compact-tools': 'off',
  });
  t.strictSame(check('deepseek', [{ name: 'deepseek-reasoning-effort', value: 'xhigh' }]), {
    'deepseek-reasoning-effort': 'max',
  });
  t.strictSame(check('codex', [{ name: 'codex-bin', value: '/a b/codex' }]), { 'codex-bin': '/a b/codex' });
  t.strictSame(check('codex', [{ name: 'codex-bin', value: 'constructor' }]), { 'codex-bin': 'constructor' });
  t.strictSame(check('openai', []), {});
});

t.test('refuses a flag of another provider and names both providers', async (t) => {
  for (const [chosen, name, flag, provider] of [
    ['openai', 'ollama-thinking', 'ollama-thinking', 'ollama'],
    ['openai', 'thinking', 'ollama-thinking', 'ollama'],
    ['ollama', 'stream', 'deepseek-stream', 'deepseek'],
    ['codex', 'ollama-compact-tools', 'ollama-compact-tools', 'ollama'],
    ['__proto__', 'stream', 'deepseek-stream', 'deepseek'],
  ] as const) {
    const fault = t.throws(() => check(chosen, [{ name, value: 'on' }]), {
      code: 'PROVIDER_OPTION',
      detail: { flag, provider, chosen },
    }) as Error;
    for (const word of [`--${name}`, provider, chosen]) t.match(fault.message, word);
  }
});

t.test('refuses an invalid or missing value, a repeated flag and an unknown flag', async (t) => {
  for (const [name, value] of [
    ['thinking', 'hard'],
    ['thinking', 'ON'],
    ['thinking', ''],
    ['thinking', undefined],
    ['thinking', 'toString'],
    ['ollama-compact-tools', 'constructor'],
    ['ollama-compact-tools', '__proto__'],
  ] as const)
    t.throws(
      () => check('ollama', [{ name, ...(value === undefined ? {} : { value }) }]),
      { code: 'PROVIDER_OPTION', detail: { provider: 'ollama', place: `--${name}` } },
      `${name} ${value}`,
    );
  for (const value of [undefined, '', ' ', 'a\nb', 'a\u001bb', 'a'.repeat(4097)])
    t.throws(() => check('codex', [{ name: 'codex-bin', ...(value === undefined ? {} : { value }) }]), {
      code: 'PROVIDER_OPTION',
    });
  t.throws(
    () =>
      check('ollama', [
        { name: 'thinking', value: 'on' },
        { name: 'ollama-thinking', value: 'on' },
      ]),
    { code: 'USAGE' },
    'twice, by whatever name',
  );
  t.throws(() => check('ollama', [{ name: 'ollama-thinkin', value: 'on' }]), {
    code: 'USAGE',
    message: /did you mean `--ollama-thinking`/,
  });
});

t.test('reads the environment for flags that are not given, for the chosen provider only', async (t) => {
  const env = { OLLAMA_THINK: 'low', OLLAMA_COMPACT_TOOLS: '1' };
  t.strictSame(check('ollama', [], env), { 'ollama-thinking': 'low', 'ollama-compact-tools': 'on' });
  t.match(check('ollama', [{ name: 'thinking', value: 'off' }], env), { 'ollama-thinking': 'off' });
  t.strictSame(check('ollama', [], { OLLAMA_THINK: ' ' }), {}, 'an empty one says nothing');
  t.throws(() => check('ollama', [], { OLLAMA_THINK: 'hard' }), {
    code: 'PROVIDER_OPTION',
    detail: { place: 'OLLAMA_THINK' },
  });
  t.strictSame(check('openai', [], { OLLAMA_THINK: 'hard' }), {}, 'what is said to others is nobody’s fault');
});

t.test('no two built-in flags share a name, and each has a description', async (t) => {
  const built = flagTable;
  const names = Object.values(built).flatMap((flags) =>
    flags.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias])),
  );
  t.strictSame([...new Set(names)].sort(), [...names].sort());
  for (const [provider, flags] of Object.entries(built))
    for (const { name, values, spellings = {}, bare, says } of flags) {
      t.ok(says.length > 0, `${provider}: ${name}`);
      for (const meant of [...Object.values(spellings), ...(bare === undefined ? [] : [bare])])
        t.ok(values.includes(meant), `${name}: ${meant}`);
      t.notOk(
        Object.keys(spellings).some((spelling) => values.includes(spelling)),
        `${name}: no value is another spelling`,
      );
    }
});

t.test('the base URL comes from the flag, then a variable, then the default', async (t) => {
  t.strictSame(findBase(ollama, undefined, none), { base: ollama.base, isOtherBase: false });
  const env = (held: Record<string, string>) => (name: string) => held[name];
  t.strictSame(
    findBase(ollama, undefined, env({ OLLAMA_HOST: ' ', OLLAMA_BASE_URL: 'http://localhost:1/' })),
    {
      base: 'http://localhost:1',
      isOtherBase: true,
      from: 'OLLAMA_BASE_URL',
    },
  );
  t.strictSame(
    findBase(ollama, undefined, env({ OLLAMA_HOST: 'localhost:2', OLLAMA_BASE_URL: 'http://localhost:1' })),
    {
      base: 'http://localhost:2',
      isOtherBase: true,
      from: 'OLLAMA_HOST',
    },
  );
  t.match(findBase(ollama, 'https://x.example/', env({ OLLAMA_HOST: 'localhost:2' })), {
    base: 'https://x.example',
    from: '--api-base',
  });
  t.match(findBase(ollama, ollama.base, none), { isOtherBase: false });
  for (const given of [
    '',
    'ftp://x',
    'http://x.example',
    'https://name:canary@x.example',
    'https://x.example/?key=canary',
  ])
    t.throws(() => findBase(ollama, given, none), {
      code: 'PROVIDER_OPTION',
      detail: { place: '--api-base' },
    });
  const fault = t.throws(() => findBase(ollama, 'https://name:canary@x.example', none)) as Error;
  t.notMatch(fault.message, 'canary');
});
