import { parseConfig } from '../../config/config.ts';
import { openRunStore } from '../../intent/open-run-store.ts';
import { requireActive } from '../../intent/require-active.ts';
import { requireSameMetadata } from '../../intent/require-same-metadata.ts';
import { effectiveScope } from '../../plan/scope.ts';
import { readBlob } from '../../vcs/blobs.ts';
import { requireObjects } from '../../vcs/require-objects.ts';
import { resolveOrigin } from '../state/resolve-origin.ts';
import { withConfig } from '../state/with-config.ts';
import { chooseLanding } from './choose-landing.ts';
import { draftPlan } from './draft-plan.ts';
import { type Judgement, judgement } from './judgement.ts';
import { openStatedRepository } from './open-stated-repository.ts';
import { readPlanGround } from './read-plan-ground.ts';
import { requireDependencies } from './require-dependencies.ts';

/** What the repository shows: its refs, what it knows of the intent, and the configuration at the policy commit. */
export const repositoryJudgements: readonly Judgement[] = [
  judgement({
    id: 'repository-stated',
    sees: 'repository',
    about: '/metadata/target/repo',
    needs: ['request', 'place', 'admitted'],
    judge: async ({ request, place, admitted }) => ({
      repository: place.keep(
        await openStatedRepository(request, admitted, { onlyReads: place.onlyReads === true }),
      ),
    }),
  }),
  judgement({
    id: 'store-opens',
    sees: 'repository',
    about: '/objmodel/objectStore/backend',
    needs: ['plugins', 'request', 'repository', 'admitted'],
    judge: async ({ plugins, request, repository, admitted }) => ({
      store: await openRunStore(plugins.stores, repository, request.clock, admitted.effective),
    }),
  }),
  judgement({
    id: 'metadata-kept',
    sees: 'repository',
    about: '/metadata',
    needs: ['store', 'admitted'],
    judge: ({ store, admitted }) => requireSameMetadata(store, admitted),
  }),
  judgement({
    id: 'intent-active',
    sees: 'repository',
    about: '/lifecycle/status',
    needs: ['store', 'admitted'],
    judge: ({ store, admitted }) => requireActive(store, admitted),
  }),
  judgement({
    id: 'start-found',
    sees: 'repository',
    about: '/metadata/target/baseRef',
    needs: ['kind', 'repository', 'admitted'],
    judge: async ({ source, kind, repository, admitted }) => ({
      origin: await resolveOrigin(repository, { source: source ?? { kind } }, admitted),
    }),
  }),
  judgement({
    id: 'landing-chosen',
    sees: 'repository',
    about: '/metadata/target/baseRef',
    needs: ['request', 'kind', 'runId', 'repository', 'admitted', 'origin'],
    judge: async ({ request, kind, runId, repository, admitted, origin }) => ({
      landing: await chooseLanding(repository, { ...request, kind }, admitted, runId, origin),
    }),
  }),
  judgement({
    id: 'objects-here',
    sees: 'repository',
    about: '/metadata/target/repo',
    needs: ['repository', 'landing', 'origin'],
    judge: ({ repository, landing, origin: { base, range } }) =>
      requireObjects(repository, [
        landing.base.tree,
        landing.policy.tree,
        base.tree,
        ...(range ? [range.tipTree] : []),
      ]),
  }),
  judgement({
    id: 'config-read',
    sees: 'repository',
    needs: ['plugins', 'repository', 'landing'],
    async judge({ plugins, repository, landing }) {
      const configBytes = await readBlob(repository, landing.policy.tree, '.writ/config.toml');
      return { configBytes, config: parseConfig(configBytes, await plugins.sealingForms()) };
    },
  }),
  judgement({
    id: 'signers-read',
    sees: 'repository',
    about: '/risk/humanInLoop',
    needs: ['repository', 'landing'],
    judge: async ({ repository, landing }) => ({
      signers: await readBlob(repository, landing.policy.tree, '.writ/allowed_signers'),
    }),
  }),
  judgement({
    id: 'checks-joined',
    sees: 'repository',
    needs: ['admitted', 'config'],
    judge: async ({ admitted, config }) => ({ contract: withConfig(admitted, config) }),
  }),
  judgement({
    id: 'dependencies-seen',
    sees: 'repository',
    about: '/acceptance/verificationPlan',
    needs: ['repository', 'landing', 'config', 'contract'],
    judge: ({ repository, landing, config, contract }) =>
      requireDependencies(repository, landing.base.tree, contract.effective, config.workspace),
  }),
  judgement({
    id: 'plan-drafted',
    sees: 'repository',
    about: '/intent/objectives',
    needs: ['plugins', 'who', 'repository', 'landing', 'contract'],
    async judge({ plugins, who, repository, landing, contract }) {
      const spec = contract.effective;
      const ground = await readPlanGround(repository, landing.base.tree, spec);
      const scope = effectiveScope(spec, ground.rootNames);
      return { scope, draft: await draftPlan(plugins, { spec, scope, for: who, ground }) };
    },
  }),
];
