import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { scaffolds } from '../../../bin/plugin/scaffolds.ts';
import { requireOwnNames } from '../../../plugins/third-party/open-plugins.ts';
import {
  type PluginManifest,
  readManifest,
  usedNames,
} from '../../../plugins/third-party/plugin-manifest.ts';
import { toPluginPackage } from '../../../plugins/third-party/plugin-package.ts';
import { runLine } from '../../bin/host.ts';
import { makeSample } from '../../engine/sample.ts';

const part = (name: string) => ({ name, module: './a.js' });
const rule = (id: string) => ({ id, point: 'patch', module: './a.js' });
const check = (name: string) => ({ ...part(name), stages: ['fast'] });

function bringing(name: string, brought: object): PluginManifest {
  const text = JSON.stringify({ name, version: '1.0.0', writ: { api: 1, ...brought } });
  const files = Object.entries({ 'package.json': text, 'a.js': '' });
  return readManifest(
    toPluginPackage(
      files.map(([path, one]) => [path, Buffer.from(one)]),
      'x',
    ),
    'x',
  );
}

t.test('two plugins that bring the same name are both named in the error', async (t) => {
  for (const [slot, one, other] of [
    ['log', { logs: [part('x')] }, { logs: [part('x')] }],
    ['evidence', { evidence: [part('x')] }, { evidence: [part('x')] }],
    ['rule', { rules: [rule('x')] }, { rules: [rule('x')] }],
    ['stage-check', { rules: [rule('x')] }, { stageChecks: [check('x')] }],
  ] as const)
    t.throws(
      () => requireOwnNames([bringing('one', one), bringing('two', other)], {}),
      {
        code: 'SLOT_DUPLICATE',
        message: /`x` of plugin `two` bears the name of the .* `x` of plugin `one`/,
        detail: { slot, name: 'x', plugins: ['one', 'two'] },
      },
      slot,
    );
  const kinds = { logs: [part('x')], evidence: [part('x')], rules: [rule('x')] };
  requireOwnNames([bringing('one', kinds), bringing('two', { rules: [rule('y')] })], { logs: ['none'] });
});

t.test('a plugin log may not have the name of a built-in log', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using engine = await sample.engine();
  const taken = usedNames(engine);
  t.strictSame([...taken.logs].sort(), ['internal-ledger', 'none', 'public-log']);
  for (const name of taken.logs) {
    t.throws(() => requireOwnNames([bringing('one', { logs: [part(name)] })], taken), {
      code: 'SLOT_DUPLICATE',
      detail: { slot: 'log', name, plugins: ['one'] },
    });
    const place = { cwd: sample.root, env: sample.env };
    const { code, err } = await runLine(['plugin', 'new', 'log', name], commands, place);
    t.equal(code, 129);
    t.match(err, /PLUGIN_INVALID.*name of a built-in one/);
  }
});

t.test('a plugin name has at most 63 letters', async (t) => {
  const name = 'n'.repeat(63);
  for (const [kind, scaffold] of Object.entries(scaffolds)) {
    const files = [...scaffold(name)].map(([path, text]) => [path, Buffer.from(text)] as const);
    t.equal(readManifest(toPluginPackage(files, kind), kind).name, name, kind);
  }
  const { code, err } = await runLine(['plugin', 'new', 'provider', `${name}n`], commands, {
    cwd: t.testdir({}),
  });
  t.equal(code, 129);
  t.match(err, /kebab-case, at most 63 letters, found .* \(64\)/);
});
