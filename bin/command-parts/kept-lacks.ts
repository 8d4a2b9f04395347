import type { AdmittedContract } from '../../engine/intent/admit-contract.ts';
import { keptDraftLacks } from '../../engine/run/draft/draft-lacks.ts';
import type { KeptDraft } from '../../engine/run/draft/kept-draft.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import { advisoriesLacking } from './advisories-lacking.ts';
import type { CommandContext } from './command.ts';

/** What repository and user lack for the run of a draft that waits, as they stand now; a sentence each. */
export async function keptLacks(
  { env }: Pick<CommandContext, 'env'>,
  repository: Repository,
  kept: KeptDraft,
  contract: AdmittedContract,
): Promise<readonly string[]> {
  return [
    ...(await keptDraftLacks(repository, kept, contract)),
    ...advisoriesLacking(contract.effective, env),
  ];
}
