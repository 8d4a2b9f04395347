import { producedAt } from '../../core/interfaces/check.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { pickRuntimes, withTools } from '../../workspace/runtime/pick-runtimes.ts';
import type { RunEnvironment } from '../state/open-run.ts';
import { openSecrets, withHanded } from '../state/run-secrets.ts';
import { chooseSandbox, nameEnvironment, requireOperatingSystem } from './environment.ts';
import { openParties, openVerifiers } from './open-parties.ts';
import { type OpeningCheck, openingCheck } from './opening.ts';
import { requirePartSecrets } from './requirements.ts';

/** What this machine shows: system, sandbox, tools, and what its user trusts and signs with. */
export const machineChecks: readonly OpeningCheck[] = [
  openingCheck({
    id: 'sandbox-works',
    sees: 'machine',
    about: '/constraints/security/networkPolicy',
    needs: ['engine', 'request', 'admitted'],
    judge: async ({ engine, request, admitted }) => ({
      sandbox: await chooseSandbox(engine, request.sandbox, admitted),
    }),
  }),
  openingCheck({
    id: 'judges-trusted',
    sees: 'machine',
    needs: ['engine', 'request', 'place', 'repository', 'landing', 'configBytes', 'config', 'sandbox'],
    judge: async ({ engine, request, place, repository, landing, configBytes, config, sandbox }) => ({
      judges: await openVerifiers({
        engine,
        repository,
        configBytes,
        config,
        policyTree: landing.policy.tree,
        sandbox: sandbox.sandbox,
        cacheDir: place.pluginCache(repository),
        pluginAccess: request.pluginAccess,
        outside: request.outside,
      }),
    }),
  }),
  openingCheck({
    id: 'system-supported',
    sees: 'machine',
    about: '/constraints/platform/supportedOS',
    needs: ['admitted'],
    judge: async ({ admitted }) => ({ operatingSystem: await requireOperatingSystem(admitted) }),
  }),
  openingCheck({
    id: 'runtime-found',
    sees: 'machine',
    about: '/constraints/platform/languageRuntime',
    needs: ['admitted', 'sandbox'],
    judge: async ({ admitted, sandbox: { sandbox } }) => ({
      runtimes: await pickRuntimes(sandbox, admitted.effective.constraints.platform.languageRuntime),
    }),
  }),
  openingCheck({
    id: 'ground-named',
    sees: 'machine',
    needs: [
      'admitted',
      'repository',
      'landing',
      'sandbox',
      'judges',
      'configBytes',
      'operatingSystem',
      'runtimes',
    ],
    judge: async ({ admitted, repository, landing, sandbox, judges, configBytes, ...found }) => {
      const platform = { ...found.operatingSystem, ...found.runtimes.versions };
      const armed = { ...sandbox, sandbox: withTools(sandbox.sandbox, found.runtimes.tools) };
      const all = { ...landing, ...armed, ...judges, configBytes, platform };
      return { environment: await nameEnvironment(admitted, repository, all) };
    },
  }),
  openingCheck({
    id: 'secrets-found',
    sees: 'machine',
    about: '/security/secrets',
    needs: ['request', 'admitted', 'judges'],
    judge: async ({ request, admitted, judges }) => ({
      secrets: withHanded(
        await openSecrets(admitted.effective, request.secrets),
        await judges.plugins.secrets(),
      ),
    }),
  }),
  openingCheck({
    id: 'plugins-handed',
    sees: 'machine',
    needs: ['judges'],
    judge: ({ judges }) => requirePartSecrets(judges),
  }),
  openingCheck({
    id: 'artifacts-makeable',
    sees: 'machine',
    about: '/artifacts/required',
    needs: ['engine', 'contract', 'judges'],
    judge: ({ engine, contract, judges }) => requireArtifacts(engine, contract.effective, judges.config),
  }),
  openingCheck({
    id: 'seal-opens',
    sees: 'machine',
    about: '/provenance',
    needs: ['engine', 'place', 'contract', 'repository', 'landing', 'config', 'judges'],
    judge: async ({ engine, place, contract, repository, landing: { policy }, config, judges }) => ({
      sealing: await openParties(
        engine,
        contract,
        { config, repository, policy, plugins: judges.plugins },
        place.dry,
      ),
    }),
  }),
];

/**
 * Throws what a built-in producer of a required artifact lacks on this machine, such as ADVISORIES_MISSING. Artifacts
 * that a check or a plugin makes are left out, and so are all if a scanner may deliver one.
 */
export async function requireArtifacts(
  { slots: { artifact } }: Pick<WritEngine, 'slots'>,
  spec: EffectiveIntentSpec,
  config: Pick<RunEnvironment['config'], 'artifacts' | 'scanners'>,
): Promise<void> {
  if (config.scanners.size > 0) return;
  for (const entry of spec.artifacts.required) {
    const { name, required } = entry;
    if (!required || producedAt(spec, entry) !== undefined || config.artifacts.has(name)) continue;
    if (artifact.names.includes(name)) (await artifact.pick(name)).requireReady?.();
  }
}
