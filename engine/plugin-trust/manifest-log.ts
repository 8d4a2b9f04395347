import { parsePart, partFlag } from './manifest-part.ts';
import type { PluginPackage } from './plugin-package.ts';

/** A transparency log as the manifest declares it. */
export interface ManifestLog {
  /** What `[log] plugin` names it by. */
  readonly name: string;
  /** Exports `append` and `size`, and with `consistency` that as well. */
  readonly module: string;
  /** It proves how the log grew; default false. */
  readonly consistency: boolean;
}

/** Reads one; throws on nonsense. */
export function parseLog(item: unknown, pluginPackage: PluginPackage): ManifestLog {
  const part = parsePart(item, 'a log', ['consistency'], pluginPackage);
  return { name: part.name, module: part.module, consistency: partFlag(part, 'consistency') };
}
