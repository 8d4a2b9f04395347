/* Opens an engine with all built-in plugins over the rows of the spec. */
import { attesting } from '../../attest/attestor/attesting.ts';
import type { AttestPluginOptions } from '../../attest/attestor/plugin.ts';
import { createEngine, type EngineOptions } from '../../core/kernel/engine.ts';
import { contractRows, type WritEngine } from '../../spec/contract-rows.ts';
import { preset } from '../preset.ts';

/** What differs between engines. `env` is where keys, trust and the secrets of plugins are found. */
type OpenEngineOptions = Omit<EngineOptions<never>, 'plugins' | 'rows' | 'env'> &
  AttestPluginOptions & {
    /** On top of every built-in, and set up after them. */
    readonly plugins?: EngineOptions<never>['plugins'];
  };

/** Opens an engine with every built-in, over the rows of the spec. The caller must close it. */
export async function openEngine({
  ephemeralKey,
  plugins = [],
  ...options
}: OpenEngineOptions): Promise<WritEngine> {
  const { env, report } = options;
  const builtIn = preset({ env, ephemeralKey, report });
  const engine = await createEngine({ ...options, plugins: [...builtIn, ...plugins], rows: contractRows });
  return { ...engine, ...attesting };
}
