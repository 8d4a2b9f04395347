import type { Worker } from '../../../core/contract/worker.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { readLocalContent } from '../../vcs/include-local.ts';
import { requireLandable } from '../../vcs/set-aside.ts';
import { readWording } from '../state/commit-wording.ts';
import {
  chooseLocalChanges,
  predictedFiles,
  requireNothingToInclude,
  targetHere,
} from '../state/local-decision.ts';
import { openModel } from '../state/open-model.ts';
import { isBuiltIn } from '../state/pick-provider.ts';
import { requireOldSigners } from '../state/require-old-signers.ts';
import { takeWithChanges } from './include-changes.ts';
import { type Judgement, judgement } from './judgement.ts';
import { openWorker } from './open-worker.ts';
import { readAuthorship, requireKnownAuthor } from './read-authorship.ts';
import { requireCiting } from './require-citing.ts';
import { requireLockfiles } from './require-dependencies.ts';

/** Asked before the contract: which of its rows are asked for hangs on who works. */
export const workerJudgement: Judgement = judgement({
  id: 'worker-opens',
  sees: 'change',
  needs: ['engine', 'source'],
  judge: async ({ engine, source }) => ({ worker: await openWorker(engine, source) }),
});

/** What only shows where contract and worker are both known. */
export const citingJudgement: Judgement = judgement({
  id: 'worker-cites',
  sees: 'contract',
  about: '/evidence/minCitationsPerDecision',
  needs: ['admitted', 'worker'],
  judge: async ({ admitted, worker }) => requireCiting(worker, admitted.effective),
});

/**
 * Whoever asks a model needs its key, and the configuration says how it is asked. Which one a plugin of others brings
 * is not known before its plugins are.
 */
export const modelJudgement: Judgement = judgement({
  id: 'model-opens',
  sees: 'machine',
  needs: ['engine', 'request', 'worker', 'config'],
  async judge({ engine, request, worker, config }) {
    if (isBroughtAlong(engine, worker)) return;
    return { model: await openModel(engine, worker, request, { config }) };
  },
});

/** The model of a plugin that the repository lists. */
export const pluginModelJudgement: Judgement = judgement({
  id: 'plugin-model-opens',
  sees: 'machine',
  needs: ['engine', 'request', 'worker', 'judges'],
  async judge({ engine, request, worker, judges: { config, plugins } }) {
    if (!isBroughtAlong(engine, worker)) return;
    return { model: await openModel(engine, worker, request, { config, plugins }) };
  },
});

function isBroughtAlong(engine: Pick<WritEngine, 'slots'>, worker: Worker | undefined): boolean {
  return worker?.model !== undefined && !isBuiltIn(engine, worker.model.provider);
}

/** What the change itself shows, before anything judges it. */
export const changeJudgements: readonly Judgement[] = [
  judgement({
    id: 'wording-readable',
    sees: 'change',
    needs: ['request', 'source', 'repository', 'origin'],
    judge: async ({ request, source, repository, origin }) => ({
      wording: await readWording(repository, { ...request, source }, origin),
    }),
  }),
  judgement({
    id: 'candidate-taken',
    sees: 'change',
    needs: ['place', 'request', 'source', 'repository', 'origin', 'landing'],
    async judge({ place, request, source, repository, origin, landing }) {
      const scratch = await place.makeScratch(repository);
      const asked = { ...request, source };
      return { scratch, ...(await takeWithChanges(scratch, repository, asked, origin, landing)) };
    },
  }),
  judgement({
    id: 'lockfiles-there',
    sees: 'change',
    needs: ['landing', 'scratch', 'supplied', 'config', 'scope'],
    judge: ({ landing, scratch, supplied, config: { workspace }, scope }) =>
      requireLockfiles(
        scratch,
        landing.base.tree,
        workspace,
        supplied ? { tree: supplied.candidateTree } : { scope },
      ),
  }),
  judgement({
    id: 'governed-by-people',
    sees: 'change',
    needs: ['landing', 'scratch', 'supplied'],
    async judge({ landing, scratch, supplied }) {
      if (supplied) await requireOldSigners(scratch, landing.policy, supplied);
    },
  }),
  judgement({
    id: 'paths-clean',
    sees: 'change',
    needs: ['request', 'repository', 'landing', 'supplied', 'local'],
    async judge({ repository, landing: { target }, supplied, local }) {
      if (supplied && target.checkedOutHere && !local?.included)
        await requireLandable(repository, target, supplied.files, local?.choice);
    },
  }),
  judgement({
    id: 'predicted-paths-clean',
    sees: 'change',
    needs: ['request', 'source', 'repository', 'landing', 'draft', 'scratch'],
    async judge({ request, source, repository, landing, draft, scratch }) {
      const target = await targetHere(repository, landing, request.heldFor);
      if (source.kind !== 'worker') return;
      const { base } = landing;
      const files = predictedFiles(draft, request.advice);
      if (target === undefined) {
        const isIncluding = request.localChanges === 'include';
        if (isIncluding) await requireNothingToInclude(repository, landing.target.ref, files);
        return isIncluding ? { local: { choice: 'include' } } : undefined;
      }
      const { choice, dirty } = await chooseLocalChanges(request, repository, target, files);
      if (choice !== 'include') {
        await requireLandable(repository, target, files, choice);
        return { local: choice === 'stop' ? undefined : { choice } };
      }
      if (dirty.length === 0) return { local: { choice } };
      const included = await readLocalContent(repository, scratch, base.tree, target, dirty);
      return { local: { choice, included } };
    },
  }),
  judgement({
    id: 'author-known',
    sees: 'change',
    about: '/risk/humanInLoop',
    needs: ['source', 'repository', 'origin', 'contract', 'supplied'],
    async judge({ source, repository, origin, contract, supplied }) {
      const authorship = await readAuthorship(repository, source, origin.range);
      requireKnownAuthor(authorship, contract.effective, supplied);
      return { authorship };
    },
  }),
];
