import { inSection, withModel } from '../contract-row.ts';

export const evidenceRows = inSection('Evidence policy', [
  {
    id: 'evidence.strategy',
    path: '/evidence/strategy',
    rule: 'selects what enters the context snapshot',
    asks: withModel,
    bringsIn: 'scheduler part',
  },
  {
    id: 'evidence.trustTiers',
    path: '/evidence/trustTiers',
    rule: 'context items are tagged `trust_tier` and ranked',
    asks: withModel,
    bringsIn: 'scheduler part',
  },
  {
    id: 'evidence.domainAllowlistMode',
    path: '/evidence/domainAllowlistMode',
    rule: 'whether unlisted domains may be read',
    asks: withModel,
    bringsIn: 'scheduler part',
  },
  {
    id: 'evidence.allowedDomains',
    path: '/evidence/allowedDomains',
    rule: 'checked first, before a Url item is enqueued and at every redirect',
    asks: withModel,
    bringsIn: 'scheduler part',
  },
  {
    id: 'evidence.blockedDomains',
    path: '/evidence/blockedDomains',
    rule: 'taken from what is not allowed; blocked items never enter the pipeline',
    asks: withModel,
    bringsIn: 'scheduler part',
  },
  {
    id: 'evidence.minCitationsPerDecision=0,1',
    path: '/evidence/minCitationsPerDecision',
    rule: 'the final Decision cites the evidence of at least one check that passed',
    asks: (spec, { model }) => !model && spec.evidence.minCitationsPerDecision <= 1,
    enforcedBy: 'core',
    test: 'fixtures/runs/a-contract-without-any-check-cannot-commit',
  },
  {
    id: 'evidence.minCitationsPerDecision',
    path: '/evidence/minCitationsPerDecision',
    rule: 'distinct sources counted for every key technical decision',
    asks: (spec, { model }) => spec.evidence.minCitationsPerDecision > (model ? 0 : 1),
    bringsIn: 'scheduler part',
  },
]);
