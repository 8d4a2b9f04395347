import type { Ground } from '../state/ground.ts';

/**
 * Whatever this run asks of plugins has the secrets that it declares: PLUGIN_SECRET_MISSING before any work. A log is
 * asked for them where the seal is opened, a model where it is reached.
 */
export async function requirePartSecrets({
  config: { artifacts, evidence },
  plugins,
}: Pick<Ground, 'config' | 'plugins'>): Promise<void> {
  await plugins.requireSecrets({
    stageChecks: [...plugins.stageChecks.keys()],
    artifacts: [...artifacts.values()].map(({ plugin }) => plugin),
    evidence: evidence.plugins,
  });
}
