import { type Guard, tests, within } from './guard.ts';

const { nothing, hostile, attacks } = tests;

/** Commit, run, contract and evidence. */
export const guards: readonly Guard[] = [
  ...within('attest/verify/run-signer.ts', nothing, [
    [
      'signature over the provenance',
      '  verifyEnvelope(envelope, anchor.key);',
      '',
      'a signature of other octets',
    ],
    [
      'a signer must be known',
      'const anchor = findSigner(anchors, keyId);',
      'const anchor = findSigner(anchors, keyId) ?? anchors.signers[0];',
      'the ephemeral key of nobody',
    ],
  ]),
  ...within('attest/verify/verify-run.ts', nothing, [
    [
      'payload type',
      'if (payloadType !== inTotoPayloadType)',
      "if (payloadType === '')",
      'a payload type that is not that',
    ],
    [
      'octets of the commit object',
      "if (found !== commit.id) throw refuted('mismatch', { expected: commit.id, found });",
      '',
      'a commit whose octets are not',
    ],
    [
      'subject: commit',
      'if (found !== claims.commit) throw wrongSubject(claims.commit, found);',
      '',
      'the commit of another repository',
    ],
    [
      'subject: patchset',
      "list.judge('subject-patchset', () => requireDigest(patch, claims.patchset));",
      "list.judge('subject-patchset', () => undefined);",
      'evidence that was exchanged',
    ],
    [
      'one run in the commit',
      'found.length === 1 && found[0] === claims.runId',
      'found[0] === claims.runId',
      'a commit that names two runs',
    ],
    [
      'run that is meant',
      '(meant === undefined || meant === claims.runId)',
      'true',
      'another run than the one asked for',
    ],
    [
      'artifact that is meant',
      'if (!known.includes(sha256))',
      'if (known.length === 0)',
      'an artifact that is neither',
    ],
    [
      'the same artifact twice',
      '[...new Set(options.artifacts)]',
      '[...(options.artifacts ?? [])]',
      'the same wrong artifact',
    ],
    [
      'predicate type that is meant',
      'if (!found.includes(type)) throw',
      'if (found.length === 0) throw',
      'a demanded predicate type',
    ],
    [
      'revocation beside the run',
      'if (revocation === undefined) return;',
      'return;',
      'a run that was revoked',
    ],
    [
      'logged because the contract says so',
      'if (isWaived && bundle.proof',
      'if (bundle.proof',
      'a logged contract whose entry',
    ],
  ]),
  ...within('attest/verify/verify-run.ts', hostile, [
    [
      'revocation in the ledger',
      "if (later?.revokedAt !== undefined) throw refuted('revoked', { index: later.revokedAt });",
      '',
      'a revocation in the ledger',
    ],
  ]),
  ...within('attest/verify/verify-run.ts', attacks, [
    [
      'subject: tree',
      'if (commit?.tree !== claims.tree) throw wrongSubject(claims.tree, commit?.tree);',
      '',
      'a signed statement of another type',
    ],
  ]),
  ...within('attest/verify/anchors.ts', nothing, [
    [
      'given keys stand alone',
      '(given.length > 0 ? given : anchors.signers).find(',
      'anchors.signers.find(',
      'a key that is trusted, where',
    ],
    ['given ledger keys stand alone', 'if (given.length > 0) return given;', '', 'another ledger key than'],
  ]),
  ...within('attest/verify/provenance-claims.ts', nothing, [
    [
      'statement type',
      "requireType('_type', statement._type, statementType);",
      '',
      'a statement of another version',
    ],
    [
      'predicate type',
      "requireType('predicateType', statement.predicateType, slsaProvenanceType);",
      '',
      'a predicate of another type',
    ],
    [
      'parameters that nobody knows',
      'if (unknown.length > 0)',
      'if (unknown.length < 0)',
      'an external parameter',
    ],
    [
      'exactly three subjects',
      'digests.length !== 3 || digests.some((digest) => digest.length !== 1)',
      'digests.length === 0',
      'subjects of which only the second',
    ],
  ]),
  ...within('attest/verify/predicates/read-moment.ts', nothing, [
    [
      'a time that there is',
      'if (Number.isFinite(ms) && Number(day) >= 1 && Number(day) <= lastDay) return ms;',
      'return ms;',
      'a time of the run',
    ],
  ]),
  ...within('attest/verify/provenance-claims.ts', attacks, [
    [
      'build type',
      "requireType('buildType', said.buildType, buildType);",
      '',
      'a signed statement of another type',
    ],
    [
      'builder',
      "requireType('builder.id', said.builderId, builderId);",
      '',
      'a signed statement of another type',
    ],
    [
      'a byproduct once',
      'if (names.has(name)) throw',
      'if (name === name.toUpperCase() && names.has(name)) throw',
      'a signed statement of another type',
    ],
  ]),
  ...within('attest/verify/verify-spec.ts', nothing, [
    [
      'contract that is meant',
      "if (expectedDigest !== undefined) requireSame('the given spec', digest, [expectedDigest]);",
      '',
      'another contract than the one',
    ],
  ]),
  ...within('attest/verify/verify-spec.ts', attacks, [
    [
      'contract that the statement embeds',
      "requireSame('intentspec_digest', digest, claims.specDigest === undefined ? [] : [claims.specDigest]);",
      '',
      'a signed statement of another type',
    ],
    [
      'contract that the commit names',
      "requireSame('Intentspec-Digest', digest, commit.trailer('Intentspec-Digest').map(bareDigest));",
      '',
      'another commit, tree, trailer',
    ],
    [
      'intent that the commit names',
      "requireSame('Intent-Id', claims.specId, commit.trailer('Intent-Id'));",
      '',
      'another commit, tree, trailer',
    ],
  ]),
  ...within('attest/verify/verify-evidence.ts', nothing, [
    [
      'retention has to be over',
      'return nowMs >= claims.startedAtMs + demands.retentionDays * dayMs;',
      'return true;',
      'evidence that was emptied before',
    ],
    [
      'what no retention covers',
      'if (!isContentPath(path) || demands === undefined) return false;',
      'if (demands === undefined) return false;',
      'evidence that no retention covers',
    ],
  ]),
  ...within('attest/verify/verify-evidence.ts', attacks, [
    [
      'digest of each piece of evidence',
      '() => requireDigest(bytes, sha256));',
      '() => undefined);',
      'no stored file can be changed',
    ],
    [
      'evidence that must be listed',
      "if (absent.length > 0) throw unavailable('missing', { not_listed: absent });",
      '',
      'a signed statement of another type',
    ],
    [
      'files that nobody listed',
      "if (unlisted.length > 0)\n      throw refuted('unlisted', { found: unlisted.slice(0, 20), count: unlisted.length });",
      '',
      'no stored file can be changed',
    ],
  ]),
  ...within('engine/run/work/work-task.ts', 'test/engine/run/cost-cap.test.ts', [
    [
      'an attempt that waits for people is decided anew',
      "({ decision }) => !decision.next.startsWith('wait-')",
      '() => true',
      'what passed past the cap is committed',
    ],
  ]),
];
