import { type RowReader, readersIn } from './row-reader.ts';

const selects = '`strategy` selects';

/** Evidence policy. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/frame/context-snapshot.ts', [
    [
      'evidence.trustTiers',
      'place(a.trustTier) - place(b.trustTier) ||',
      '',
      '`trustTiers` orders the items',
    ],
  ]),
  ...readersIn('plugins/evidence/repo-first.ts', [
    [
      'evidence.strategy=repo-first',
      "['repo', ...trustTiers.filter((tier) => tier !== 'repo')]",
      'trustTiers',
      selects,
    ],
  ]),
  ...readersIn('plugins/evidence/pinned-official.ts', [
    ['evidence.strategy=pinned-official', 'url === undefined || isAllowedHost', 'url !== null', selects],
  ]),
  ...readersIn('plugins/evidence/open-web.ts', [
    [
      'evidence.strategy=open-web',
      '(trustTiers) => trustTiers',
      '(trustTiers) => trustTiers.toReversed()',
      selects,
    ],
  ]),
  ...readersIn('engine/frame/admission.ts', [
    [
      'evidence.trustTiers#unlisted',
      "(form === 'item' || isExternal) && !listed.has(trustTier)",
      'listed.size === 0',
      '`trustTiers` orders the items',
    ],
  ]),
  ...readersIn('engine/run/work/web/open-web.ts', [
    [
      'evidence.strategy#retrieval',
      'setting.strategy.refuseRetrieval({ repositoryUses: setting.repositoryUses() })',
      'undefined',
      '`strategy` governs what a model looks up',
    ],
  ]),
  ...readersIn('engine/run/work/web/follow.ts', [
    [
      'evidence.allowedDomains#redirects',
      'judge(url)',
      'judge(question.url)',
      'a page is read as text; every redirect',
    ],
  ]),
  ...readersIn('engine/run/work/work-task.ts', [
    [
      'evidence.minCitationsPerDecision#model',
      'record.citations === undefined ? [] : lackingCitations(record.citations)',
      '[].slice(record.citations?.count)',
      'too few are told, twice',
    ],
  ]),
  ...readersIn('engine/frame/domain-rules.ts', [
    [
      'evidence.domainAllowlistMode',
      "policy.domainAllowlistMode === 'disabled' ? undefined : 'not-allowed-domain'",
      "'not-allowed-domain'",
      'a Url item that the domain rules refuse',
    ],
    [
      'evidence.allowedDomains',
      'policy.allowedDomains.some(',
      '[].some(',
      'hints become File, Snippet and Url items',
    ],
    [
      'evidence.blockedDomains',
      'policy.blockedDomains.some(',
      '[].some(',
      'a Url item that the domain rules refuse',
    ],
  ]),
  ...readersIn('engine/run/decide/decide-run.ts', [
    [
      'evidence.minCitationsPerDecision=0',
      'return { needed, trusted',
      'return { needed: needed || 1, trusted',
      'minCitationsPerDecision',
      '0 asks for none',
    ],
  ]),
  ...readersIn('engine/run/decide/decision-objections.ts', [
    [
      'evidence.minCitationsPerDecision',
      'if (cited >= citations.needed) return [];',
      'return [];',
      'minCitationsPerDecision',
      '2 of 1 check',
    ],
  ]),
];
