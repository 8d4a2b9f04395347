import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { type ResolvedRange, resolveRange } from '../../patch/resolve-range.ts';
import type { Repository } from '../../vcs/repository.ts';
import { type Base, resolveBase } from '../../vcs/resolve-commit.ts';
import type { ChangeSource } from './run-request.ts';

/** Where the change starts: the stated base, or for a range its merge base (resolutions, Target ref). */
export interface Origin {
  readonly base: Base;
  readonly range?: ResolvedRange;
}

/** Resolves where the change starts; REF_NOT_FOUND, REF_INVALID. */
export async function resolveOrigin(
  repository: Repository,
  { source }: { readonly source: ChangeSource | { readonly kind: ChangeSource['kind'] } },
  contract: AdmittedContract,
): Promise<Origin> {
  if (!('range' in source))
    return { base: await resolveBase(repository, contract.effective.metadata.target.baseRef) };
  const range = await resolveRange(repository, source.range);
  return { base: range.base, range };
}
