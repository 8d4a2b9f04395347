import { parseText } from '../../core/base/parse-fields.ts';
import { serviceUrlFault } from '../../core/base/service-url.ts';
import { listAt } from './at-member.ts';
import type { PluginNeeds } from './manifest-needs.ts';
import { parsePart } from './manifest-part.ts';
import { opensHost } from './opens-host.ts';
import type { PluginPackage } from './plugin-package.ts';

/** A model backend as the manifest declares it. */
export interface ManifestProvider {
  /** What `--provider` names it by. */
  readonly name: string;
  readonly title: string;
  /** Exports `ask`. */
  readonly module: string;
  readonly base: string;
  readonly defaultModel: string;
  /** Names of its key, each among the plugin's secrets; none: it has no key. */
  readonly keys: readonly string[];
}

/** Reads one; throws on nonsense, and where its base or a key is not among what the plugin declares. */
export function parseProvider(
  item: unknown,
  pluginPackage: PluginPackage,
  needs: PluginNeeds,
): ManifestProvider {
  const more = ['title', 'base', 'defaultModel', 'keys'];
  const { name, module, what, fields } = parsePart(item, 'a provider', more, pluginPackage);
  const base = parseText(fields, 'base', 2048);
  const fault = serviceUrlFault(base);
  if (fault !== undefined) throw new TypeError(`${what}: \`base\`: ${fault}`);
  if (!opensHost(needs.hosts, base))
    throw new TypeError(`${what}: expected the host of \`base\` among \`hosts\``);
  const keys = listAt(fields, 'keys', (key) => parseText({ key }, 'key', 128), 8);
  const stray = keys.find((key) => !needs.secrets.includes(key));
  if (stray !== undefined) throw new TypeError(`${what}: expected its key \`${stray}\` among \`secrets\``);
  return {
    name,
    title: parseText({ title: fields.title ?? name }, 'title', 64),
    module,
    base: base.replace(/\/{1,8}$/, ''),
    defaultModel: parseText(fields, 'defaultModel', 200),
    keys,
  };
}
