import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { mergeTrees } from '../../workspace/git/create-commit.ts';
import { touchedBy } from '../../workspace/git/dirty-paths.ts';
import { mergeLocal, readLocalContent } from '../../workspace/git/include-local.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { requireLandable } from '../../workspace/git/set-aside.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { patchFromBytes, patchFromRange, pathsNamed } from '../../workspace/patch/read-patch.ts';
import { readContract } from '../intent/admit-contract.ts';
import { requireOldSigners } from '../state/approval-rights.ts';
import {
  chooseLocalChanges,
  type LocalDecision,
  predictedFiles,
  readWording,
  requireNothingToInclude,
  targetHere,
} from '../state/commit-wording.ts';
import type { Landing } from '../state/landing.ts';
import { isBuiltIn, openModel } from '../state/open-model.ts';
import type { Origin, RunRequest } from '../state/run-request.ts';
import { machineChecks } from './machine-judgements.ts';
import { openWorker } from './open-parties.ts';
import { type OpeningCheck, openingCheck, specChecks } from './opening.ts';
import { readAuthorship, requireKnownAuthor } from './read-authorship.ts';
import { repositoryChecks } from './repository-judgements.ts';
import { requireCiting, requireLockfiles } from './requirements.ts';

/** Runs before the spec's checks, because the worker determines which rows of the spec must be enforced. */
const workerJudgement: OpeningCheck = openingCheck({
  id: 'worker-opens',
  sees: 'change',
  needs: ['engine', 'source'],
  judge: async ({ engine, source }) => ({ worker: await openWorker(engine, source) }),
});

/** Checks that need both the spec and the worker. */
const citingJudgement: OpeningCheck = openingCheck({
  id: 'worker-cites',
  sees: 'contract',
  about: '/evidence/minCitationsPerDecision',
  needs: ['admitted', 'worker'],
  judge: async ({ admitted, worker }) => requireCiting(worker, admitted.effective),
});

/**
 * A model call needs its key and its configuration. A third-party plugin's model is known only after its plugins are
 * opened.
 */
const modelJudgement: OpeningCheck = openingCheck({
  id: 'model-opens',
  sees: 'machine',
  needs: ['engine', 'request', 'worker', 'config'],
  async judge({ engine, request, worker, config }) {
    if (isBroughtAlong(engine, worker)) return;
    return { model: await openModel(engine, worker, request, { config }) };
  },
});

/** The model of a plugin that the repository lists. */
const pluginModelJudgement: OpeningCheck = openingCheck({
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

/** Checks of the change itself, before any rule evaluates it. */
const changeJudgements: readonly OpeningCheck[] = [
  openingCheck({
    id: 'wording-readable',
    sees: 'change',
    needs: ['request', 'source', 'repository', 'origin'],
    judge: async ({ request, source, repository, origin }) => ({
      wording: await readWording(repository, { ...request, source }, origin),
    }),
  }),
  openingCheck({
    id: 'candidate-taken',
    sees: 'change',
    needs: ['place', 'request', 'source', 'repository', 'origin', 'landing'],
    async judge({ place, request, source, repository, origin, landing }) {
      const scratch = await place.makeScratch(repository);
      const asked = { ...request, source };
      return { scratch, ...(await takeWithChanges(scratch, repository, asked, origin, landing)) };
    },
  }),
  openingCheck({
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
  openingCheck({
    id: 'governed-by-people',
    sees: 'change',
    needs: ['landing', 'scratch', 'supplied'],
    async judge({ landing, scratch, supplied }) {
      if (supplied) await requireOldSigners(scratch, landing.policy, supplied);
    },
  }),
  openingCheck({
    id: 'paths-clean',
    sees: 'change',
    needs: ['request', 'repository', 'landing', 'supplied', 'local'],
    async judge({ repository, landing: { target }, supplied, local }) {
      if (supplied && target.checkedOutHere && !local?.included)
        await requireLandable(repository, target, supplied.files, local?.choice);
    },
  }),
  openingCheck({
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
  openingCheck({
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

const contractRead: OpeningCheck = openingCheck({
  id: 'contract-read',
  sees: 'contract',
  needs: ['engine', 'request'],
  judge: async ({ engine, request }) => ({ admitted: await readContract(engine, request.specBytes) }),
});

/** Checks that need no repository. */
export const firstChecks: readonly OpeningCheck[] = [
  workerJudgement,
  contractRead,
  ...specChecks,
  citingJudgement,
];

/** What has to be looked up. */
export const laterChecks: readonly OpeningCheck[] = [
  ...repositoryChecks,
  modelJudgement,
  ...machineChecks,
  pluginModelJudgement,
  ...changeJudgements,
];

/** A supplied candidate, and what happens to local changes at its paths. */
interface SuppliedChange {
  readonly supplied: PatchSet | undefined;
  readonly local: LocalDecision | undefined;
}

type Asked = Pick<RunRequest, 'source' | 'localChanges' | 'askLocalChanges'>;

/**
 * A supplied change, with the local changes at its paths merged into it if the user includes them. A patch that was
 * made on the local content applies on top of that. WORKTREE_DIRTY if local changes conflict or cannot be included, and
 * what `takeCandidate` throws.
 */
async function takeWithChanges(
  scratch: Scratch,
  repository: Repository,
  request: Asked,
  origin: Origin,
  landing: Pick<Landing, 'base' | 'target'>,
): Promise<SuppliedChange> {
  const { base, target } = landing;
  let made: PatchSet | undefined;
  try {
    made = await takeCandidate(scratch, request, origin, landing);
  } catch (fault) {
    if (!isWritError(fault, 'PATCH_DOES_NOT_APPLY')) throw fault;
    if (!target.checkedOutHere) {
      const { source, localChanges } = request;
      if (source.kind === 'patch' && localChanges === 'include')
        await requireNothingToInclude(repository, target.ref, touchedBy(pathsNamed(source.bytes)));
      throw fault;
    }
    const taken = await takeOnTop(scratch, repository, request, origin, landing);
    if (taken === undefined) throw fault;
    return taken;
  }
  if (made === undefined) return { supplied: made, local: undefined };
  if (!target.checkedOutHere) {
    if (request.localChanges === 'include') await requireNothingToInclude(repository, target.ref, made.files);
    return { supplied: made, local: undefined };
  }
  const { choice, dirty } = await chooseLocalChanges(request, repository, target, made.files);
  if (choice !== 'include' || dirty.length === 0)
    return { supplied: made, local: choice === 'stop' ? undefined : { choice } };
  const included = await readLocalContent(repository, scratch, base.tree, target, dirty);
  const tree = await mergeLocal(scratch, base.tree, made.candidateTree, included);
  return { supplied: await normalisePatch(scratch, base, tree), local: { choice, included } };
}

/** The patch applied on top of the local changes at the paths that it names; `undefined` if there are none. */
async function takeOnTop(
  scratch: Scratch,
  repository: Repository,
  request: Asked,
  origin: Origin,
  { base, target }: Pick<Landing, 'base' | 'target'>,
): Promise<SuppliedChange | undefined> {
  const { source } = request;
  // A patch for an older commit was made on that commit, not on the working tree.
  if (source.kind !== 'patch' || origin.base.commit !== base.commit) return undefined;
  const files = touchedBy(pathsNamed(source.bytes));
  const { choice, dirty } = await chooseLocalChanges(request, repository, target, files);
  if (choice !== 'include' || dirty.length === 0) return undefined;
  const included = await readLocalContent(repository, scratch, base.tree, target, dirty);
  const { candidateTree } = await patchFromBytes(scratch, { ...base, tree: included.tree }, source.bytes);
  return {
    supplied: await normalisePatch(scratch, base, candidateTree),
    local: { choice: 'include', included },
  };
}

/**
 * Reads a supplied change as a patchset in the scratch. Throws a PATCH_ error if it is not a valid change of this
 * repository. If the target advanced since the change started, the result is the three-way merge onto its tip, so
 * that writ checks exactly what lands. Returns `undefined` if a worker will make the change.
 */
async function takeCandidate(
  scratch: Scratch,
  request: Pick<RunRequest, 'source'>,
  origin: Origin,
  landing: Pick<Landing, 'base' | 'target'>,
): Promise<PatchSet | undefined> {
  const made = origin.range
    ? await patchFromRange(scratch, origin.range)
    : request.source.kind === 'patch'
      ? await patchFromBytes(scratch, origin.base, request.source.bytes)
      : undefined;
  if (made === undefined || origin.base.commit === landing.base.commit) return made;
  const merged = await mergeTrees(scratch, origin.base.tree, landing.base.tree, made.candidateTree);
  if (merged.tree !== undefined) return normalisePatch(scratch, landing.base, merged.tree);
  const paths = merged.conflicts.map(printable);
  const listed = paths.slice(0, 5).map((path) => `\`${path}\``);
  const more = paths.length > listed.length ? ` and ${paths.length - listed.length} more` : '';
  throw new WritError('PATCH_CONFLICT', {
    message: `the change does not merge onto \`${printable(landing.target.ref)}\`: conflicts in ${listed.join(', ')}${more}`,
    detail: { ref: landing.target.ref, tip: landing.base.commit, paths: paths.slice(0, 1000) },
  });
}
