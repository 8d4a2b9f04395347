import type { WritConfig } from '../../config/config.ts';
import { parseConfig } from '../../config/config.ts';
import { sealingFormsOf } from '../../config/sealing-forms.ts';
import type { DraftFrame } from '../../intent/draft/drafted-contract.ts';
import { scopeRootOf } from '../../plan/scope.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { readBlob } from '../../vcs/blobs.ts';
import { findPolicy } from '../../vcs/find-policy.ts';
import { planTarget } from '../../vcs/plan-target.ts';
import { openRepository, type Repository } from '../../vcs/repository.ts';
import { type Base, resolveBase } from '../../vcs/resolve-commit.ts';
import { listNames } from '../../vcs/tree.ts';
import type { RunRequest } from '../state/run-request.ts';

/** Where a drafted contract is to be worked on, by whom it is asked for, and the run that will do it. */
export interface DraftPlace extends Pick<RunRequest, 'repositoryPath' | 'onto'> {
  readonly runId: string;
  readonly target: Pick<DraftFrame, 'createdBy' | 'repo' | 'baseRef'>;
}

/** What a draft is made on: the base that a run would start from, and the policy that would judge it. */
export interface DraftGround {
  readonly repository: Repository;
  readonly base: Base;
  readonly config: WritConfig;
  /** Where that was read. */
  readonly policyTree: string;
  /** Names at the top of the base. */
  readonly rootNames: ReadonlySet<string>;
}

/** Finds it as a run does, and keeps nothing. REF_NOT_FOUND, CONFIG_INVALID, NOT_A_REPOSITORY. */
export async function readDraftGround(
  engine: WritEngine,
  { repositoryPath, onto, runId, target: { baseRef, repo } }: DraftPlace,
): Promise<DraftGround> {
  const repository = await openRepository(repositoryPath);
  const base = await resolveBase(repository, baseRef);
  const wanted = { ...(onto === undefined ? {} : { onto }), baseRef, baseCommit: base.commit, runId };
  const target = await planTarget(repository, wanted);
  const policy = await findPolicy(repository, { target, baseRef, base });
  const configBytes = await readBlob(repository, policy.tree, '.writ/config.toml');
  const config = parseConfig(configBytes, await sealingFormsOf(engine.slots));
  const rootNames = await listNames(repository, base.tree, scopeRootOf(repo));
  return { repository, base, config, policyTree: policy.tree, rootNames };
}
