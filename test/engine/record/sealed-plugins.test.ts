import t from 'tap';
import { pluginDependency } from '../../../core/interfaces/sealing.ts';
import { sealedPlugins } from '../../../engine/record/read-run.ts';

const { name, uri } = pluginDependency;
const listed = {
  name: `${name}calm`,
  uri: `${uri}tools/calm`,
  digest: { sha256: 'a'.repeat(64) },
  annotations: { brings: ['stage check calm', 7], given: ['secret CALM_TOKEN'] },
};

function bundleOf(dependencies: unknown): Buffer {
  const statement = { predicate: { buildDefinition: { resolvedDependencies: dependencies } } };
  const payload = Buffer.from(JSON.stringify(statement)).toString('base64');
  return Buffer.from(JSON.stringify({ dsseEnvelope: { payload } }));
}

t.test('lists the contributions and grants of each sealed plugin by plugin name', async (t) => {
  t.strictSame(sealedPlugins(bundleOf([listed, { ...listed, name: 'git' }, 7])), [
    {
      name: 'calm',
      uri: listed.uri,
      sha256: listed.digest.sha256,
      brings: ['stage check calm'],
      given: ['secret CALM_TOKEN'],
    },
  ]);
  const [bare] = sealedPlugins(bundleOf([{ ...listed, annotations: { brings: 'calm' } }]));
  t.match(bare, { brings: [], given: [] });
});

t.test('lists no plugins from an unreadable bundle', async (t) => {
  t.strictSame(sealedPlugins(undefined), []);
  t.strictSame(sealedPlugins(Buffer.from('{')), []);
  t.strictSame(sealedPlugins(bundleOf({})), []);
});
