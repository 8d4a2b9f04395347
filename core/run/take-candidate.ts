import type { PatchSet } from '../contract/patch-set.ts';
import { patchFromBytes } from '../patch/patch-from-bytes.ts';
import { patchFromRange, type ResolvedRange, resolveRange } from '../patch/patch-from-range.ts';
import type { Repository } from '../vcs/repository.ts';
import type { Base } from '../vcs/resolve-commit.ts';
import type { Scratch } from '../vcs/scratch.ts';
import type { AdmittedContract } from './admit-contract.ts';
import { resolveStatedBase } from './prepare-ground.ts';
import type { RunRequest } from './run-request.ts';

/** Where the change starts: the stated base, or for a range its merge base (resolutions, Target ref). */
export interface Origin {
  readonly base: Base;
  readonly range?: ResolvedRange;
}

/** Resolves where the change starts; REF_NOT_FOUND, REF_INVALID. */
export async function resolveOrigin(
  repository: Repository,
  request: RunRequest,
  contract: AdmittedContract,
): Promise<Origin> {
  if (request.source.kind !== 'range') return { base: await resolveStatedBase(repository, contract) };
  const range = await resolveRange(repository, request.source.range);
  return { base: range.base, range };
}

/**
 * A supplied change as a patchset in the scratch; every way in which it can be no change of this repository is a PATCH_ error.
 * `undefined` where a worker will make it.
 */
export async function takeCandidate(
  scratch: Scratch,
  request: RunRequest,
  origin: Origin,
): Promise<PatchSet | undefined> {
  if (origin.range) return patchFromRange(scratch, origin.range);
  if (request.source.kind !== 'patch') return undefined;
  return patchFromBytes(scratch, origin.base, request.source.bytes);
}
