import { type Guard, tests, within } from './guard.ts';

const { nothing, hostile, mutation, statements, approvals } = tests;

/** The statements beside the provenance, and the approvals. */
export const guards: readonly Guard[] = [
  ...within('attest/verify/read-statement.ts', statements, [
    [
      'one signer for the whole set',
      'if (envelope.keyId !== signer.keyId)\n    throw',
      'if (envelope.keyId === "")\n    throw',
      'each statement is held to signer',
    ],
    [
      'payload type of a statement beside',
      "requireType('payloadType', envelope.payloadType, inTotoPayloadType);",
      '',
      'each statement is held to signer',
    ],
    [
      'type of a statement beside',
      "requireType('predicateType', statement.predicateType, predicateType);",
      '',
      'each statement is held to signer',
    ],
    [
      'version of a statement beside',
      "requireType('_type', statement._type, statementType);",
      '',
      'each statement is held to signer',
    ],
    [
      'subjects of a statement beside',
      'if (subjects[name] !== claims[name])',
      'if (subjects[name] === "")',
      'each statement is held to signer',
    ],
  ]),
  ...within('attest/verify/read-statement.ts', nothing, [
    [
      'no log entry where none belongs',
      "if (proof !== undefined) throw refuted('malformed', { found: 'a log entry where none belongs' });",
      '',
      'a log entry that nobody would look at',
    ],
  ]),
  ...within('attest/verify/read-statement.ts', mutation, [
    [
      'signature over a statement beside',
      'const payload = verifyEnvelope(envelope, signer.key);',
      'const { payload } = envelope;',
      'nothing signed in evidence-manifest',
    ],
  ]),
  ...within('attest/verify/verify-statements.ts', nothing, [
    [
      'the manifest is complete',
      "if (unlisted.length > 0)\n    throw refuted('unlisted', { found: unlisted.slice(0, 20), count: unlisted.length });",
      '',
      'a manifest of zero files',
    ],
    [
      'what the manifest lists is there',
      "if (bytes === undefined) throw unavailable('missing', { path });\n    const found = sha256Hex(bytes);",
      'if (bytes === undefined) continue;\n    const found = sha256Hex(bytes);',
      'a statement that was deleted',
    ],
    [
      'all checks of the contract were expected',
      "if (found < listed) throw refuted('policy-deny', { stage, expected: listed, found });",
      '',
      'a stage that lists checks',
    ],
    [
      'policy of the summary',
      "requireEqual('policy', spec.digest, expectText(summary.policy.digest.get('sha256'), '/policy/digest'));",
      'spec.digest.toString();',
      'a summary without the digest',
    ],
    [
      'inputs of the summary',
      "requireEqual(path, bytes === undefined ? 'missing' : sha256Hex(bytes), named.get(uri) ?? 'not named');",
      '',
      'a summary over no attestation',
    ],
    [
      'each input of the summary once',
      'if (named.size < summary.inputs.length)',
      'if (named.size < 0)',
      'a summary that names one',
    ],
    [
      'two persons are two',
      "if (people < 2) throw refuted('policy-deny', { expected: 'two persons', found: people });",
      '',
      'a summary that claims two persons',
    ],
  ]),
  ...within('attest/verify/predicates/read-decision.ts', nothing, [
    [
      'decided to commit',
      "if (predicate.decision !== 'commit')",
      "if (predicate.decision === '')",
      'a decision to abandon',
    ],
    ['all expected checks ran', '&& ran === expected', '', 'a decision whose checks were skipped'],
    [
      'every stage is told once',
      'if (stages.has(stage)) throw',
      'if (stages.has("")) throw',
      'a stage that is told twice',
    ],
    [
      'some check ran',
      "if (![...stages.values()].some((ran) => ran > 0)) throw refuted('policy-deny', { found: 'no check ran' });",
      '',
      'a contract without a check',
    ],
    [
      'numbers are numbers',
      "typeof due === 'number' ? due : Number.NaN;\n    const ran = typeof done === 'number' ? done : Number.NaN;",
      'Number(due);\n    const ran = Number(done);',
      'numbers of checks that are none',
    ],
  ]),
  ...within('attest/verify/predicates/read-summary.ts', nothing, [
    ['the summary says yes', "if (result !== 'PASSED')", "if (result === '')", 'a summary that says FAILED'],
  ]),
  ...within('attest/verify/verify-statements.ts', statements, [
    [
      'digests of the manifest',
      "if (found !== digest) throw refuted('mismatch', { path, expected: digest, found });",
      '',
      'the manifest lists exactly',
    ],
    [
      'run of the statements',
      "if (found !== runId) throw refuted('wrong-run'",
      "if (found === '') throw refuted('wrong-run'",
      'each statement is held to signer',
    ],
    [
      'contract of the decision',
      "if (spec) requireEqual('intentspec', spec.digest, digests.intentspec);",
      '',
      'a decision counts only',
    ],
    [
      'record, input and report of the decision',
      'requireEqual(path, sha256Hex(bytes), digest);',
      '',
      'a decision counts only',
    ],
    [
      'inputs of the summary that are not there',
      "if (named.size > 0) throw unavailable('missing'",
      "if (named.size < 0) throw unavailable('missing'",
      'a summary counts only',
    ],
    [
      'level of the summary',
      'if (!claimed.includes(levels.gates))',
      'if (claimed.includes(""))',
      'a summary counts only',
    ],
  ]),
  ...within('attest/verify/verify-statements.ts', approvals, [
    [
      'as many approvers as the contract demands',
      'if (new Set(approvers).size < needed)',
      'if (needed < 0)',
      'a decision with fewer approvers',
    ],
  ]),
  ...within('attest/verify/verify-approvals.ts', nothing, [
    [
      'a rejection stands above approvals',
      "if (counted.some((verdict) => verdict.decision === 'reject'))",
      'if (counted.length < 0)',
      'a rejection beside two approvals',
    ],
    [
      'enough people, by who is known',
      'if (people.length >= Math.max(least, isDemanded ? 1 : 0)) return',
      'if (people.length >= 0) return',
      'signers: an empty file',
    ],
  ]),
  ...within('attest/verify/verify-approvals.ts', hostile, [
    [
      'as many approvals as can be read',
      'if (paths.length > maxApprovals) {',
      'if (paths.length < 0) {',
      'a store that holds more',
    ],
  ]),
  ...within('attest/approval/judge-approval.ts', nothing, [
    [
      'subject of an approval',
      "if (difference !== undefined) return refused(proven, 'wrong-subject', difference);",
      '',
      'an approval of an older patchset',
    ],
    [
      'expiry of an approval',
      'if (expiresAt !== undefined && Date.parse(expiresAt) <= receivedAtMs)',
      'if (expiresAt === "")',
      'an approval that had expired',
    ],
    [
      'signature of an approval',
      'if (refutation) return refused(unproven, refutation.status, refutation.detail);',
      '',
      'a signature made for git',
    ],
  ]),
  ...within('attest/approval/find-signer.ts', nothing, [
    [
      'a key until when',
      'if (before !== undefined && atMs > before)',
      'if (before !== undefined && atMs < 0)',
      'a signer whose key was valid until',
    ],
    [
      'a key from when',
      'if (after !== undefined && atMs < after)',
      'if (after !== undefined && atMs < 0)',
      'a signer whose key is valid from',
    ],
    [
      'what a key is for',
      'fitsPatternList(approvalNamespace, line.namespaces ?? ',
      'fitsPatternList(approvalNamespace, ',
      'a signer who may sign for git',
    ],
  ]),
  ...within('attest/approval/count-people.ts', nothing, [
    [
      'authors do not approve',
      'if (excluded.has(person)) {',
      'if (excluded.size < 0) {',
      'an author of the change',
    ],
    [
      'a person counts once',
      'if (other === undefined || other === verdict) return verdict;',
      'return verdict;',
      'two approvals by one key',
    ],
  ]),
];
