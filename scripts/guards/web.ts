import { type Guard, within } from './guard.ts';

const search = 'test/coder/web-search.test.ts';
const leads = 'a page is read as text; every redirect';

/** What a model may look up outside the repository. */
export const guards: readonly Guard[] = [
  ...within('engine/run/work/web/follow.ts', search, [
    [
      'no redirect from https to plain http',
      "url.protocol === 'https:' && next.protocol !== 'https:'",
      "url.protocol === 'x'",
      leads,
    ],
    ['a redirect is judged', 'judge(url)', 'judge(question.url)', leads],
  ]),
  ...within('engine/run/work/web/web-verdict.ts', search, [
    ['no address that is not public is asked', 'if (problem !== undefined)', 'if (problem === null)', leads],
    [
      'no page that the strategy does not want',
      'if (unwanted !== undefined)',
      'if (unwanted === null)',
      '`strategy` governs what a model looks up',
    ],
  ]),
  ...within('engine/run/work/web/open-web.ts', search, [
    [
      'no secret in a question',
      "return isSecret(leaves) ? 'it holds what may not leave this machine' : undefined;",
      'return isSecret(leaves) ? undefined : undefined;',
      'what may not leave does not leave',
    ],
    [
      'the network is open by the contract alone',
      'if (networkOf(contract.effective, use.kind) === undefined)',
      'if (networkOf(contract.effective, use.kind) === null)',
      'nothing is asked where network policy',
    ],
  ]),
  ...within('engine/run/work/web/search-web.ts', search, [
    [
      'a result that the contract does not let in is not shown',
      '    if (!verdict.ok) {\n      left[verdict.reason] += 1;\n      continue;\n    }\n    const { href } = verdict.url;',
      '    if (!verdict.ok) left[verdict.reason] += 1;\n    const { href } = verdict.ok ? verdict.url : { href: url };',
      'with a key the search API is asked',
    ],
    [
      'a service that is blocked is not asked',
      "=== 'blocked-domain'",
      '=== undefined',
      '`blockedDomains` closes the search itself',
    ],
  ]),
  ...within('engine/run/work/citations/judge-source.ts', 'test/coder/citations.test.ts', [
    ['what nobody read is no source', 'return known.wasShown(source)', 'return true', 'a page counts once'],
    [
      'what is blocked never counts',
      'if (!verdict.ok) return { source: given, counts: false, why: verdict.why };',
      'if (!verdict.ok) return { source: given, counts: true, why: verdict.why };',
      'a page counts once',
    ],
    [
      'what is not trusted never counts',
      'if (evidence.trustTiers.includes(tier)) return',
      'if (tier !== undefined) return',
      'what the contract does not trust',
    ],
  ]),
  ...within('engine/run/decide/replay-run.ts', 'test/coder/citations.test.ts', [
    [
      'citations are judged again by a replay',
      'citationsAgain(record, patchset.findings)',
      '{ expected: [], found: [] }',
      'a step whose decision rests on enough',
    ],
  ]),
  ...within('engine/tool/egress/ask-public.ts', 'test/engine/tool/egress/ask-public.test.ts', [
    [
      'nobody is waited for longer than asked',
      'AbortSignal.any([given.signal, AbortSignal.timeout(question.withinMs)])',
      'AbortSignal.any([given.signal, AbortSignal.timeout(question.withinMs * 1000)])',
      'who is silent, or never ends',
    ],
    ['a body is cut', 'if (size > maxBytes) settle(true);', '', 'what is longer than the bound'],
  ]),
];
