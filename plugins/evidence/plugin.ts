/* The built-in evidence strategies. */
import type { EvidencePolicy } from '../../core/interfaces/privacy.ts';
import { definePlugin } from '../../core/kernel/plugin.ts';

/**
 * The repository comes before any page, in rank and in time: a lookup is refused until the repository was read or
 * searched.
 */
export const repoFirst: EvidencePolicy = {
  rank: (trustTiers) => ['repo', ...trustTiers.filter((tier) => tier !== 'repo')],
  refuse: () => undefined,
  refuseRetrieval: ({ repositoryUses }) =>
    repositoryUses > 0
      ? undefined
      : '`repo-first` expects the repository to be read or searched before anything is looked up',
};

/** Only pages of hosts in the spec's `allowedDomains`, even if the domain rules allow others. */
export const pinnedOfficial: EvidencePolicy = {
  rank: (trustTiers) => trustTiers,
  refuse: ({ url, isAllowedHost }) =>
    url === undefined || isAllowedHost
      ? undefined
      : `\`pinned-official\` expects a host of \`allowedDomains\`, found \`${url}\``,
  refuseRetrieval: () => undefined,
};

/** Every page that the domain rules allow, in the order of the spec's tiers. */
export const openWeb: EvidencePolicy = {
  rank: (trustTiers) => trustTiers,
  refuse: () => undefined,
  refuseRetrieval: () => undefined,
};

/** What each value of `evidence.strategy` does. */
export const evidencePlugin = definePlugin({
  name: 'evidence',
  api: 1,
  enforces: [
    'evidence.strategy=repo-first',
    'evidence.strategy=pinned-official',
    'evidence.strategy=open-web',
  ],
  setup({ slots }) {
    slots.evidence.add('repo-first', repoFirst);
    slots.evidence.add('pinned-official', pinnedOfficial);
    slots.evidence.add('open-web', openWeb);
    return undefined;
  },
});
