import { type AttestedPlugin, pluginDependency } from '../../../core/contract/attestor.ts';

const maxPlugins = 32;
const maxWords = 1000;

/**
 * The plugins of others that a stored bundle says were listed, unverified: what is shown beside it. Nothing where it
 * cannot be read; whether it is what was signed is for `writ verify`.
 */
export function sealedPlugins(bundle: Uint8Array | undefined): readonly AttestedPlugin[] {
  if (bundle === undefined) return [];
  try {
    const payload = at(JSON.parse(Buffer.from(bundle).toString('utf8')), 'dsseEnvelope', 'payload');
    const statement: unknown = JSON.parse(Buffer.from(String(payload), 'base64').toString('utf8'));
    const dependencies = at(statement, 'predicate', 'buildDefinition', 'resolvedDependencies');
    return (Array.isArray(dependencies) ? dependencies : []).flatMap(toPlugin).slice(0, maxPlugins);
  } catch {
    return [];
  }
}

function toPlugin(dependency: unknown): readonly AttestedPlugin[] {
  const [name, uri, sha256] = [
    at(dependency, 'name'),
    at(dependency, 'uri'),
    at(dependency, 'digest', 'sha256'),
  ];
  if (typeof name !== 'string' || typeof uri !== 'string' || typeof sha256 !== 'string') return [];
  if (!name.startsWith(pluginDependency.name) || !uri.startsWith(pluginDependency.uri)) return [];
  const words = (key: string): readonly string[] => {
    const given = at(dependency, 'annotations', key);
    return Array.isArray(given) ? given.filter((word) => typeof word === 'string').slice(0, maxWords) : [];
  };
  return [
    {
      name: name.slice(pluginDependency.name.length),
      uri,
      sha256,
      brings: words('brings'),
      given: words('given'),
    },
  ];
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce(
    (found, key) => (Object.hasOwn(Object(found), key) ? Object(found)[key] : undefined),
    value,
  );
}
