import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type ContractRow, inSection, withModel, withWeb } from '../contract-row.ts';

export const evidenceRows = inSection('Evidence policy', [
  strategyRow('repo-first', 'what the repository holds comes before any page, whatever the order of tiers'),
  strategyRow('pinned-official', 'a page of a host that `allowedDomains` does not name enters no snapshot'),
  strategyRow('open-web', 'every page that the domain rules let in enters, in the order of its tier'),
  {
    id: 'evidence.strategy#retrieval',
    path: '/evidence/strategy',
    rule: 'selects what a model looks up by itself',
    asks: withWeb,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.trustTiers',
    path: '/evidence/trustTiers',
    rule: 'context items are tagged `trust_tier` and ranked',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.trustTiers#unlisted',
    path: '/evidence/trustTiers',
    rule: 'an item of a tier that is not listed does not enter',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.domainAllowlistMode',
    path: '/evidence/domainAllowlistMode',
    rule: 'whether unlisted domains may be read',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.allowedDomains',
    path: '/evidence/allowedDomains',
    rule: 'checked first, before a Url item is enqueued',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.allowedDomains#redirects',
    path: '/evidence/allowedDomains',
    rule: 'checked again at every redirect of a page that is read',
    asks: withWeb,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.blockedDomains',
    path: '/evidence/blockedDomains',
    rule: 'taken from what is not allowed; blocked items never enter the pipeline',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.minCitationsPerDecision=0',
    path: '/evidence/minCitationsPerDecision',
    rule: 'nothing has to be cited, whatever tiers are trusted',
    asks: ({ evidence }) => evidence.minCitationsPerDecision === 0,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.minCitationsPerDecision',
    path: '/evidence/minCitationsPerDecision',
    rule: 'the final Decision cites so many checks that passed; they count where the tier `repo` is trusted',
    asks: ({ evidence }) => evidence.minCitationsPerDecision > 0,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.minCitationsPerDecision#model',
    path: '/evidence/minCitationsPerDecision',
    rule: 'distinct sources counted for every step of a plan and every choice that a model records',
    asks: (spec, { model }) => model && spec.evidence.minCitationsPerDecision > 0,
    enforcedBy: 'core',
  },
]);

/** Of the snapshot that an attempt of any worker starts from. */
function strategyRow(
  strategy: EffectiveIntentSpec['evidence']['strategy'],
  rule: string,
): Omit<ContractRow, 'section'> {
  return {
    id: `evidence.strategy=${strategy}`,
    path: '/evidence/strategy',
    rule,
    asks: ({ evidence }) => evidence.strategy === strategy,
    enforcedBy: 'evidence',
  };
}
