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
      'if (isMistakenLevel(level))',
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
  ...within('attest/verify/predicates/read-summary.ts', foreign, [
    [
      'a policy by a digest that binds',
      'if (policy.digest.size > 0) requireBinding',
      'if (policy.digest.size < 0) requireBinding',
      'what binds nothing',
    ],
    ['weak digests are none', '&& !weakDigests.includes(name)', '', 'what binds nothing'],
    [
      'a resource has a name',
      'if (!resourceForm.test(claims.resourceUri))',
      "if (claims.resourceUri === '')",
      'what binds nothing',
    ],
    ['names of a summary', 'requireNames(predicate, at, members);', '', 'a member under nearly'],
  ]),
  ...within('attest/verify/predicates/level.ts', foreign, [
    [
      'levels in other case',
      '/^SLSA(?:BUILD|SOURCE|DEPENDENCY|DEPENDENCIES)/.test(folded)',
      "name === ''",
      'a predicate that is not whole',
    ],
    ['FAILED in other case', "folded === 'FAILED'", "name === ''", 'a predicate that is not whole'],
  ]),
  ...within('attest/verify/predicates/require-names.ts', foreign, [
    [
      'a member told twice',
      "if (Object.hasOwn(object, expected)) throw refuted('malformed', detail);",
      '',
      'a predicate that is not whole',
    ],
    [
      'a member under nearly its name',
      "throw unavailable('unsupported', detail);",
      '',
      'a member under nearly',
    ],
  ]),
  ...within('attest/verify/predicates/require-past.ts', foreign, [
    ['times that have not come', 'ms > nowMs + clockSkewMs', 'ms < 0', 'nothing was done'],
    ['clocks differ', 'ms > nowMs + clockSkewMs', 'ms > nowMs', 'nothing was done'],
  ]),
  ...within('attest/verify/read-attestation.ts', foreign, [
    [
      'when a build was',
      'requirePast({ startedOn: startedAtMs, finishedOn: finishedAtMs }, nowMs);',
      '',
      'nothing was done',
    ],
    [
      'when a summary was made',
      'requirePast({ timeVerified: summary.verifiedAtMs }, nowMs);',
      '',
      'nothing was done',
    ],
    [
      'names of a statement',
      "requireNames(statement, '/', ['subject', 'predicateType', 'predicate']);",
      '',
      'a member under nearly',
    ],
  ]),
  ...within('attest/verify/predicates/read-slsa-provenance.ts', foreign, [
    ['names of a provenance', 'requireNames(object, at, names);', 'continue;', 'a member under nearly'],
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
    [
      'a summary after the run',
      'summary.verifiedAtMs < claims.finishedAtMs',
      'summary.verifiedAtMs < claims.startedAtMs',
      'a summary of ours',
    ],
    [
      'a summary of the future',
      'requirePast({ timeVerified: found.verifiedAtMs }, nowMs);',
      '',
      'a run that ended',
    ],
    ['levels that we know', 'if (unknown.length > 0)', 'if (unknown.length < 0)', 'a summary of ours'],
    [
      'base of the decision',
      "requireEqual('baseCommit', claims.base ?? 'none', baseCommit ?? 'none');",
      '',
      'test results and decisions',
    ],
  ]),
  ...within('attest/verify/require-test-result.ts', own, [
    [
      'what the check came to',
      'if (told.result !== result)',
      'if (told.result === undefined)',
      'a test result says',
    ],
    [
      'which tests failed',
      "if (told.failed.join('\\n') !== failedTests.join('\\n'))",
      'if (told.failed.length < 0)',
      'a test result says',
    ],
    [
      'a suite that the report has',
      'if (check === undefined || more.length > 0)',
      'if (check === undefined) return;\n  if (more.length > 0)',
      'a test result says',
    ],
    [
      'no required suite failed',
      "if (result === 'FAILED' && check.required)",
      "if (result === 'FAILED' && check.id === '')",
      'a run carries no test result',
    ],
  ]),
  ...within('engine/vcs/remote-uri.ts', 'test/attack/predicates/names.test.ts', [
    [
      'no password in a name',
      'const isWeb = /^https?:/i.test(plain);',
      'const isWeb = plain === "";',
      'a remote is named',
    ],
  ]),
  ...within('engine/vcs/name-repository.ts', 'test/attack/predicates/names.test.ts', [
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
  ...within('api/verify/require-signers.ts', 'test/attack/verify-target/options.test.ts', [
    [
      'a list of signers names somebody',
      'if (signers.length > 0 || first === undefined) return;',
      'if (signers.length >= 0) return;',
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
      'a run of the future',
      'requirePast({ startedOn: claims.startedAtMs, finishedOn: claims.finishedAtMs }, nowMs);',
      '',
      'a run that ended',
    ],
    [
      'types that hold',
      'if (!found.includes(type)) throw',
      'if (found.length === 0) throw',
      '`--type` finds',
    ],
  ]),
];
