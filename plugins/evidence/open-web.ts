import type { EvidencePolicy } from '../../core/contract/evidence-policy.ts';

/** Whatever the domain rules let pass, in the order of the contract's tiers. */
export const openWeb: EvidencePolicy = {
  rank: (trustTiers) => trustTiers,
  refuse: () => undefined,
  refuseRetrieval: () => undefined,
};
