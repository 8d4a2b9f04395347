import t from 'tap';
import { reachProvider } from '../../bin/command-parts/reach-provider.ts';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { findKey, type KeyPlace, keyPlaces } from '../../providers/keys.ts';

const zhipu = { keys: ['ZHIPU_API_KEY', 'ZHIPUAI_API_KEY', 'GLM_API_KEY'] };

function placesOf(held: { readonly [Place in KeyPlace]?: Readonly<Record<string, string>> }) {
  return Object.fromEntries(
    keyPlaces.flatMap((place) =>
      held[place] === undefined ? [] : [[place, (name: string) => held[place]?.[name]] as const],
    ),
  );
}

t.test('the first place with a key wins, and within it the first name', async (t) => {
  const all = Object.fromEntries(
    keyPlaces.map((place) => [place, { GLM_API_KEY: `${place}-last`, ZHIPUAI_API_KEY: `${place}-second` }]),
  ) as { readonly [Place in KeyPlace]?: Record<string, string> };
  for (const [index, place] of keyPlaces.entries()) {
    const left = Object.fromEntries(
      Object.entries(all).filter(([name]) => keyPlaces.indexOf(name as KeyPlace) >= index),
    );
    t.strictSame(await findKey('zhipu', zhipu, '', placesOf(left)), {
      value: `${place}-second`,
      source: place,
      name: 'ZHIPUAI_API_KEY',
    });
  }
  t.strictSame(keyPlaces, ['env-file', 'repo-vault', 'global-vault', 'environment']);
  const last = { 'env-file': { GLM_API_KEY: 'a' }, environment: { ZHIPU_API_KEY: 'b' } };
  t.match(await findKey('zhipu', zhipu, '', placesOf(last)), { value: 'a' }, 'a place goes before a name');
});

t.test('does not query places after the one with a key', async (t) => {
  const asked: string[] = [];
  await findKey('zhipu', zhipu, '', {
    'repo-vault': async (name) => {
      asked.push(name);
      return name === 'ZHIPUAI_API_KEY' ? 'x' : undefined;
    },
    'global-vault': () => {
      throw new Error('asked');
    },
  });
  t.strictSame(asked, ['ZHIPU_API_KEY', 'ZHIPUAI_API_KEY']);
});

t.test('treats an empty value as missing in any place', async (t) => {
  const places = placesOf({
    'env-file': { ZHIPU_API_KEY: '' },
    'repo-vault': { ZHIPU_API_KEY: ' \t\n' },
    environment: { ZHIPU_API_KEY: 'x' },
  });
  t.match(await findKey('zhipu', zhipu, '', places), { value: 'x', source: 'environment' });
});

t.test('reports a missing key with its first name and the places that were searched', async (t) => {
  const places = placesOf({ 'env-file': {}, environment: { ZHIPU_API_KEY: '' } });
  const fault = await findKey('zhipu', zhipu, '', places).catch((thrown) => thrown);
  t.match(fault, {
    code: 'PROVIDER_KEY_MISSING',
    detail: {
      provider: 'zhipu',
      variable: 'ZHIPU_API_KEY',
      names: zhipu.keys,
      asked: ['env-file', 'environment'],
    },
  });
  t.match(messageOf(fault), /`zhipu`.*`ZHIPU_API_KEY`/);
  t.match(fault.hints.join(), /`--env-file`, the environment/);
  t.notMatch(fault.hints[0], /vault/, 'what was not asked is not named as if');
});

t.test('a key may be missing where the provider needs none', async (t) => {
  const keyless = (base: string): boolean => base === 'here';
  t.equal(await findKey('own', { keys: ['OWN_KEY'], keyless }, 'here', {}), undefined);
  t.match(
    await findKey('own', { keys: ['OWN_KEY'], keyless }, 'here', placesOf({ environment: { OWN_KEY: 'x' } })),
    {
      value: 'x',
    },
  );
  await t.rejects(findKey('own', { keys: ['OWN_KEY'], keyless }, 'there', {}), {
    code: 'PROVIDER_KEY_MISSING',
  });
  t.equal(await findKey('own', { keys: [] }, 'there', {}), undefined, 'a provider without a key');
});

t.test('refuses a key that cannot be in a header, without showing it', async (t) => {
  const secret = 'sk-canary-0123456789';
  for (const [value, found] of [
    [`${secret}\n`, 'line end'],
    [`${secret}\r\nx-evil: 1`, 'line end'],
    [`${secret}\u0000`, 'control'],
    [`\u001b[31m${secret}`, 'control'],
    [`${secret}\u0085`, 'control'],
    [`${secret}\t`, 'control'],
    [` ${secret}`, 'space'],
    [`${secret}’`, 'ASCII'],
    [`${secret}${'x'.repeat(8192)}`, 'longer'],
  ] as const) {
    const places = placesOf({ 'global-vault': { GLM_API_KEY: value }, environment: { GLM_API_KEY: 'good' } });
    const fault = await findKey('zhipu', zhipu, '', places).catch((thrown) => thrown);
    t.ok(isWritError(fault, 'PROVIDER_KEY_UNUSABLE'), found);
    t.match(fault.detail, { provider: 'zhipu', source: 'global-vault', name: 'GLM_API_KEY' });
    t.match(messageOf(fault), found);
    t.notMatch(JSON.stringify([messageOf(fault), fault.detail, fault.hints]), /canary|0123/);
  }
});

t.test('a key is masked, but not the placeholder that a server without keys is given', async (t) => {
  const secretsOf = async (given: string) => {
    const keys = placesOf({ environment: { OPENAI_API_KEY: given } });
    const reach = reachProvider({ variable: () => undefined, keys });
    const { openai } = builtInProviders;
    if (openai === undefined) throw new Error('no such provider');
    const { key, secrets } = await reach('openai', await openai(), undefined, undefined);
    t.equal(key, given);
    return secrets;
  };
  t.strictSame(await secretsOf('sk-0123456789'), ['sk-0123456789']);
  for (const placeholder of ['x', 'none', 'EMPTY', 'ollama']) t.strictSame(await secretsOf(placeholder), []);
});
