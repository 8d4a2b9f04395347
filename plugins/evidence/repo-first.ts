import type { EvidencePolicy } from '../../core/contract/evidence-policy.ts';

/** The repository comes before any page, in rank and in time: nothing is looked up before it has been looked into. */
export const repoFirst: EvidencePolicy = {
  rank: (trustTiers) => ['repo', ...trustTiers.filter((tier) => tier !== 'repo')],
  refuse: () => undefined,
  refuseRetrieval: ({ repositoryUses }) =>
    repositoryUses > 0
      ? undefined
      : '`repo-first` expects the repository to be read or searched before anything is looked up',
};
