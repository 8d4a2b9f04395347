import type { WritConfig } from '../../config/config.ts';
import { parseConfig } from '../../config/config.ts';
import { sealingFormsOf } from '../../config/sealing-forms.ts';
import type { DraftFrame } from '../../intent/draft/drafted-contract.ts';
import { scopeRootOf } from '../../plan/scope.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { readBlob } from '../../vcs/blobs.ts';
import { findPolicy } from '../../vcs/find-policy.ts';
import { keepObjectReaders } from '../../vcs/object-reader.ts';
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
  /** `.writ/allowed_signers` there; `undefined` where there is none. */
  readonly signers: Uint8Array | undefined;
  /** Names at the top of the base. */
  readonly rootNames: ReadonlySet<string>;
}

/** Base and policy of a draft, found as a run finds them. REF_NOT_FOUND. */
export async function findDraftPolicy(
  repository: Repository,
  { onto, runId, target: { baseRef } }: Omit<DraftPlace, 'repositoryPath'>,
): Promise<{ readonly base: Base; readonly policy: Awaited<ReturnType<typeof findPolicy>> }> {
  const base = await resolveBase(repository, baseRef);
  const wanted = { ...(onto === undefined ? {} : { onto }), baseRef, baseCommit: base.commit, runId };
  const target = await planTarget(repository, wanted);
  return { base, policy: await findPolicy(repository, { target, baseRef, base }) };
}

/** Finds it as a run does, and keeps nothing. REF_NOT_FOUND, CONFIG_INVALID, NOT_A_REPOSITORY. */
export async function readDraftGround(engine: WritEngine, place: DraftPlace): Promise<DraftGround> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(place.repositoryPath));
  const { base, policy } = await findDraftPolicy(repository, place);
  const configBytes = await readBlob(repository, policy.tree, '.writ/config.toml');
  const signers = await readBlob(repository, policy.tree, '.writ/allowed_signers');
  const config = parseConfig(configBytes, await sealingFormsOf(engine.slots));
  const rootNames = await listNames(repository, base.tree, scopeRootOf(place.target.repo));
  return { repository, base, config, policyTree: policy.tree, signers, rootNames };
}
