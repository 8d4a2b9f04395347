import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { readBlob } from '../../vcs/blobs.ts';
import type { Repository } from '../../vcs/repository.ts';
import { inVain } from '../open/notices.ts';
import type { RunRequest } from '../state/run-request.ts';
import { type DraftGround, findDraftPolicy } from './draft-ground.ts';

/** What is not there yet, and without which the run of a drafted contract can never be committed; a sentence each. */
export function draftLacks(
  contract: AdmittedContract,
  { signers }: Pick<DraftGround, 'signers'>,
): readonly string[] {
  return inVain({ contract, signers }).map(({ message }) => message);
}

/** The same of a draft that was kept, as the repository stands now. REF_NOT_FOUND. */
export async function keptDraftLacks(
  repository: Repository,
  { runId, onto }: Pick<RunRequest, 'onto'> & { readonly runId: string },
  contract: AdmittedContract,
): Promise<readonly string[]> {
  const { createdBy, target } = contract.effective.metadata;
  const place = { runId, target: { createdBy, ...target }, ...(onto === undefined ? {} : { onto }) };
  const { policy } = await findDraftPolicy(repository, place);
  const signers = await readBlob(repository, policy.tree, '.writ/allowed_signers');
  return draftLacks(contract, { signers });
}
