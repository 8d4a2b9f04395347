import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { providerScaffold } from '../../../bin/plugin/maker-scaffolds.ts';
import { makeSample } from '../../engine/sample.ts';
import { say, writeScaffold } from './plugin-page.ts';

t.setTimeout(240_000);

t.test('the provider plugin of `plugin new` passes its test', async (t) => {
  const sample = writeScaffold(t, 'parrot', 'provider.js', providerScaffold('parrot'));
  const tested = await say(sample, 'plugin', 'test', 'parrot');
  t.match(tested, {
    code: 0,
    data: {
      rules: [],
      parts: [{ kind: 'provider', name: 'parrot', cases: 3, failures: [] }],
      needs: ['connects to api.parrot.example', 'is handed the secret PARROT_API_KEY'],
    },
  });
});

t.test('`plugin add` and `plugin list` report the parts and needs of a provider', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  t.match(await say(sample, 'plugin', 'new', 'provider', 'parrot'), {
    code: 0,
    data: { files: ['package.json', 'provider.js', 'cases.json', 'README.md'] },
  });
  const told = {
    parts: [{ kind: 'provider', name: 'parrot' }],
    needs: ['connects to api.parrot.example', /PARROT/],
  };
  t.match(await say(sample, 'plugin', 'add', 'parrot'), { code: 0, data: told });
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'A model backend');
  const { data } = await say(sample, 'plugin', 'list');
  t.match(
    data.plugins.find(({ name }: { name: string }) => name === 'parrot'),
    { ...told, status: 'untrusted' },
  );
  t.match(await say(sample, 'plugin', 'new', 'provider', 'openai'), { error: { code: 'PLUGIN_INVALID' } });
  t.match(await say(sample, 'plugin', 'new', 'signer', 'x'), { code: 129, error: { code: 'USAGE' } });
});

t.test('a provider fails its test if it gives wrong answers or has no cases', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await say(sample, 'plugin', 'new', 'provider', 'parrot');
  const place = join(sample.root, 'parrot/provider.js');
  const text = readFileSync(place, 'utf8');
  const test = async (changed: string) => {
    writeFileSync(place, changed);
    const { code, error, data } = await say(sample, 'plugin', 'test', 'parrot');
    t.match({ code, error }, { code: 1, error: { code: 'PLUGIN_TEST_FAILED' } });
    return data.parts[0].failures.join('\n');
  };
  t.match(await test(text.replace("{ type: 'text', text }", "{ type: 'text', text: text + '!' }")), /`text`/);
  t.match(await test(text.replace("{ type: 'end', end }", "{ type: 'end', end: 'stop' }")), /`a call`/);
  t.match(
    await test(text.replace('if (!response.ok) throw await', 'if (response.ok) throw await')),
    /too many/,
  );
  writeFileSync(join(sample.root, 'parrot/cases.json'), '{}');
  t.match(await test(text), /expected a case with a text/);
});
