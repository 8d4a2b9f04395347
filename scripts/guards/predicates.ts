import { type Guard, within } from './guard.ts';

const foreign = 'test/attack/predicates/foreign.test.ts';
const own = 'test/attack/predicates/own.test.ts';

/** Predicates are judged whole. */
export const guards: readonly Guard[] = [
  ...within('attest/verify/predicates/read-summary.ts', foreign, [
    [
      'one level of a track',
      'if (twice !== undefined)',
      "if (twice === '')",
      'a predicate that is not whole',
    ],
    [
      'levels that SLSA has',
      "if (level.startsWith('SLSA_') && levelOf(level) === undefined)",
      "if (level === '')",
      'a predicate that is not whole',
    ],
    [
      'a policy has a name',
      'if (policy.uri === undefined)',
      "if (policy.uri === '')",
      'a predicate that is not whole',
    ],
    ['inputs by digest', 'if (digest.size === 0)', 'if (digest.size < 0)', 'a predicate that is not whole'],
    [
      'not PASSED and FAILED',
      "if (claims.levels.includes('FAILED'))",
      "if (claims.levels.includes(''))",
      'a predicate that is not whole',
    ],
  ]),
  ...within('attest/verify/predicates/read-slsa-provenance.ts', foreign, [
    [
      'a parameter on one side',
      'if (twice.length > 0)',
      'if (twice.length < 0)',
      'a predicate that is not whole',
    ],
    [
      'an end after the start',
      '&& finishedAtMs < startedAtMs)',
      '&& finishedAtMs < 0)',
      'a predicate that is not whole',
    ],
  ]),
  ...within('attest/verify/predicates/read-resource.ts', foreign, [
    [
      'a resource is something',
      'if (read.uri === undefined && digest.size === 0 && content === undefined)',
      "if (read.uri === '')",
      'a predicate that is not whole',
    ],
  ]),
  ...within('attest/verify/predicates/read-test-result.ts', foreign, [
    [
      'failed tests beside PASSED',
      "if (result === 'PASSED' && failed.length > 0)",
      "if (result === '')",
      'a predicate that is not whole',
    ],
  ]),
  ...within('attest/statement/digest-forms.ts', foreign, [
    [
      'nearly the name of an algorithm',
      'if (lengths === undefined && meant !== undefined)',
      "if (meant === '')",
      'subjects have digests',
    ],
    [
      'lengths of digests',
      'const form = lengths\n',
      'const form = (lengths && false)\n',
      'subjects have digests',
    ],
  ]),
  ...within('attest/verify/judge-type.ts', foreign, [
    [
      'what is not read is not claimed',
      "else list.settle('predicate', 'unverified', 'not-judged', { ...detail, expected: knownPredicates });",
      "else list.settle('predicate', 'passed');",
      'a predicate that nobody reads',
    ],
  ]),
  ...within('attest/verify/summary-demands.ts', foreign, [
    [
      'verifier and resource that are meant',
      "if (found !== expected) throw refuted('mismatch', { expected, found });",
      '',
      'a summary is held to',
    ],
    [
      'the level that is meant',
      'if (!hasLevel(summary.levels, level))',
      "if (level === '')",
      'a summary is held to',
    ],
    [
      'asked of no summary',
      'if (summary === undefined) {',
      'if (summary === undefined) {\n    for (const id of summaryChecks(demands)) list.settle(id, "passed");\n    return;',
      'what is no summary',
    ],
  ]),
  ...within('attest/verify/verify-statements.ts', own, [
    [
      'verifier of our summary',
      "requireEqual('verifier', verifierId, summary.verifierId);",
      '',
      'a summary of ours',
    ],
    [
      'repository of our summary',
      "if (claims.repository) requireEqual('resourceUri', claims.repository, summary.resourceUri);",
      '',
      'a summary of ours',
    ],
    ['levels that we know', 'if (unknown.length > 0)', 'if (unknown.length < 0)', 'a summary of ours'],
    [
      'base of the decision',
      "requireEqual('baseCommit', claims.base ?? 'none', baseCommit ?? 'none');",
      '',
      'test results and decisions',
    ],
  ]),
  ...within('core/vcs/remote-uri.ts', 'test/attack/predicates/names.test.ts', [
    [
      'no password in a name',
      'const isWeb = /^https?:/i.test(plain);',
      'const isWeb = plain === "";',
      'a remote is named',
    ],
  ]),
  ...within('core/vcs/name-repository.ts', 'test/attack/predicates/names.test.ts', [
    [
      'a local repository has a name',
      '(await firstCommit(repository, base)) ?? type',
      'type',
      'a summary of a local',
    ],
  ]),
  ...within('attest/log/merkle/verify-consistency.ts', 'test/attack/verify-target/options.test.ts', [
    ['the empty tree is one', ' && (to.size > 0 || same(to.root, emptyRoot))', '', 'the empty tree'],
  ]),
  ...within('bin/verify/options.ts', 'test/attack/verify-target/options.test.ts', [
    [
      'a list of signers names somebody',
      'if (signers.length > 0 || first === undefined) return bytes;',
      'if (signers.length >= 0) return bytes;',
      'a bad anchor',
    ],
  ]),
  ...within('attest/verify/verify-spec.ts', own, [
    [
      'contract among the dependencies',
      'claims.specDependency === undefined ? [] : [claims.specDependency],',
      '[digest],',
      'a provenance of ours',
    ],
  ]),
  ...within('attest/verify/verify-run.ts', own, [
    [
      'types that hold',
      'if (!found.includes(type)) throw',
      'if (found.length === 0) throw',
      '`--type` finds',
    ],
  ]),
];
