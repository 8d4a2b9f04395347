import t from 'tap';
import { configSteps, userSteps } from '../../../bin/commands/plugin.ts';
import { scaffolds } from '../../../bin/plugin/scaffolds.ts';
import { readManifest } from '../../../plugins/third-party/plugin-manifest.ts';
import { toPluginPackage } from '../../../plugins/third-party/plugin-package.ts';

t.test('adding or trusting a plugin prints the configuration steps for its kind', async (t) => {
  const steps = Object.entries(scaffolds).map(([kind, scaffold]) => {
    const files = [...scaffold('one')].map(([path, text]) => [path, Buffer.from(text)] as const);
    const manifest = readManifest(toPluginPackage(files, kind), kind);
    return [kind, [...configSteps(manifest), ...userSteps(manifest)]];
  });
  const keep = (name: string) => `keep the secret: writ vault set ${name}, or set it in the environment`;
  t.strictSame(Object.fromEntries(steps), {
    gate: [],
    provider: [keep('ONE_API_KEY'), 'have it work: writ run SPEC --provider one'],
    log: [
      'say in .writ/config.toml, `[log]`: `plugin = "one"` and `vkey`, its public key',
      keep('ONE_TOKEN'),
    ],
    'stage-check': [keep('ONE_TOKEN')],
    artifact: ['say in .writ/config.toml, `[artifacts.NAME]`: `plugin = "one"`'],
    evidence: ['say in .writ/config.toml, `[evidence]`: `plugins = ["one"]`'],
  });
});
