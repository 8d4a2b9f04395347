import { appendFileSync, chmodSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { keepPlugin, keptPlace, userPluginAccess } from '../../../api/user-plugins.ts';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { type FoundPlugin, findPlugins } from '../../../plugins/third-party/find-plugins.ts';
import { openPlugins } from '../../../plugins/third-party/open-plugins.ts';
import { readManifest } from '../../../plugins/third-party/plugin-manifest.ts';
import { toPluginPackage } from '../../../plugins/third-party/plugin-package.ts';

function packageOf(name: string) {
  const manifest = { name, version: '1.0.0', writ: { api: 1, stageChecks: [{ name, ...check }] } };
  return toPluginPackage(
    [
      ['package.json', Buffer.from(JSON.stringify(manifest))],
      ['a.js', Buffer.from('')],
    ],
    name,
  );
}
const check = { module: './a.js', stages: ['fast'] };

function found(name: string, status: 'trusted' | 'untrusted', options = {}): FoundPlugin {
  const pluginPackage = packageOf(name);
  const { digest } = pluginPackage;
  return {
    listed: { kind: 'package', place: name, digest, options },
    status,
    pluginPackage,
    manifest: readManifest(pluginPackage, name),
  };
}

t.test('a plugin error is thrown only after all other plugins have finished opening', async (t) => {
  const box = Promise.withResolvers<SandboxBackend>();
  const all = [found('wrong', 'trusted', { limt: 4 }), found('slow', 'trusted')];
  const opening = openPlugins(all, { cacheDir: t.testdir(), sandbox: () => box.promise }, {});
  const first = await Promise.race([opening.then(String, () => 'told'), stat('.').then(() => 'not yet')]);
  t.equal(first, 'not yet');
  box.resolve({ unconfined: false } as unknown as SandboxBackend);
  await t.rejects(opening, { code: 'CONFIG_INVALID' });
});

t.test('one error names every listed plugin that is not trusted', async (t) => {
  const all = [found('one', 'trusted'), found('two', 'untrusted'), found('three', 'untrusted')];
  const [, two, three] = all.map(({ listed }) => `sha256:${listed.digest}`);
  const sandbox = () => Promise.reject(new Error('nothing is opened'));
  await t.rejects(openPlugins(all, { cacheDir: t.testdir(), sandbox }, {}), {
    code: 'PLUGIN_UNTRUSTED',
    message: /`two` 1\.0\.0\) is not trusted by you: .*; nor are `three`$/,
    detail: {
      untrusted: [
        { plugin: 'two', found: two },
        { plugin: 'three', found: three },
      ],
    },
    hints: [
      new RegExp(`${two}`),
      new RegExp(`${three}`),
      `or for one run: \`--plugin ${two} --plugin ${three}\``,
    ],
  });
});

t.test('a stored package that was altered is reported as changed and not opened', async (t) => {
  const env = { HOME: t.testdir(), XDG_CONFIG_HOME: join(t.testdirName, 'config') };
  const kept = packageOf('kept');
  await keepPlugin(env, kept);
  const listed = { kind: 'package', place: 'kept', digest: kept.digest, options: {} } as const;
  const look = () =>
    findPlugins({ gitDir: '' } as never, '', [listed], userPluginAccess(env, [`sha256:${kept.digest}`]));
  t.match(await look(), [{ status: 'trusted' }]);
  const file = join(keptPlace(env, kept.digest), 'a.js');
  chmodSync(file, 0o600);
  appendFileSync(file, '// altered\n');
  const altered = await look();
  t.match(altered, [{ status: 'changed' }]);
  const sandbox = () => Promise.reject(new Error('nothing is opened'));
  await t.rejects(openPlugins(altered, { cacheDir: t.testdirName, sandbox }, {}), {
    code: 'PLUGIN_CHANGED',
    message: /on this machine was changed: expected `sha256:.*`, found `sha256:/,
    hints: [/writ plugin add FILE\.tgz/],
  });
});
