import type { EvidencePolicy } from '../../core/contract/evidence-policy.ts';

/** Of pages only those of hosts that the contract names, whatever its domain rules let pass beside them. */
export const pinnedOfficial: EvidencePolicy = {
  rank: (trustTiers) => trustTiers,
  refuse: ({ url, isAllowedHost }) =>
    url === undefined || isAllowedHost
      ? undefined
      : `\`pinned-official\` expects a host of \`allowedDomains\`, found \`${url}\``,
  refuseRetrieval: () => undefined,
};
