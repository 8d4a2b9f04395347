import { parsePart } from './manifest-part.ts';
import type { PluginPackage } from './plugin-package.ts';

/** A transparency log as the manifest declares it. */
export interface ManifestLog {
  /** What `[log] plugin` names it by. */
  readonly name: string;
  /** Exports `append` and `size`. */
  readonly module: string;
}

/** Reads one; throws on nonsense. */
export function parseLog(item: unknown, pluginPackage: PluginPackage): ManifestLog {
  const { name, module } = parsePart(item, 'a log', [], pluginPackage);
  return { name, module };
}
