/** One guard of the verifier: the text that is it, what stands there when it is gone, and the test that then has to fail. */
export interface Guard {
  /** What it guards against. */
  readonly guard: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** File of tests. */
  readonly test: string;
  /** Begins the name of a test in it. */
  readonly fails: string;
}

const nothing = 'test/attack/nothing-verified.test.ts';
const hostile = 'test/attack/hostile-input.test.ts';
const mutation = 'test/attack/mutation.test.ts';
const attacks = 'test/attest/verify/attacks.test.ts';
const statements = 'test/attest/verify/statements.test.ts';
const approvals = 'test/attest/verify/approvals.test.ts';

function within(
  file: string,
  test: string,
  rows: readonly (readonly [guard: string, from: string, to: string, fails: string])[],
): readonly Guard[] {
  return rows.map(([guard, from, to, fails]) => ({ guard, file, from, to, test, fails }));
}

/** Guards whose removal has to be noticed. */
export const guards: readonly Guard[] = [
  ...within('attest/verify/verify-run.ts', nothing, [
    [
      'signature over the provenance',
      'verifyEnvelope(bundle.envelope, anchor.key);',
      '',
      'a signature of other octets',
    ],
    [
      'a signer must be known',
      'if (anchor === undefined)\n    throw unavailable',
      'if (anchor === undefined) return anchors.signers[0] as SigningAnchor;\n  if (false as boolean)\n    throw unavailable',
      'the ephemeral key of nobody',
    ],
    [
      'payload type',
      'if (envelope.payloadType === inTotoPayloadType) return',
      'return',
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
      'if (!setTypes.includes(type))',
      'if (setTypes.length === 0)',
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
      'if (spec?.demands.logged === false && bundle.proof',
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
      'if (unknown.length === 0) return external;',
      'return external;',
      'an external parameter',
    ],
    [
      'exactly three subjects',
      'digests.length !== 3 || digests.some((digest) => digest.length !== 1)',
      'digests.length === 0',
      'subjects of which only the second',
    ],
    ['a time that there is', 'if (Number.isFinite(ms)) return ms;', 'return ms;', 'a time of the run'],
  ]),
  ...within('attest/verify/provenance-claims.ts', attacks, [
    [
      'build type',
      "requireType('buildType', definition.buildType, buildType);",
      '',
      'a signed statement of another type',
    ],
    [
      'builder',
      "requireType('builder.id', builder.id, builderId);",
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
  ...within('attest/verify/read-statement.ts', mutation, [
    [
      'signature over a statement beside',
      'const payload = verifyEnvelope(envelope, signer.key);',
      'const { payload } = envelope;',
      'nothing signed in evidence-manifest',
    ],
    [
      'no log entry where none belongs',
      "if (proof !== undefined) throw refuted('malformed', { found: 'a log entry where none belongs' });",
      '',
      'no stored file can be changed',
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
      'decided to commit',
      "if (predicate.decision !== 'commit')",
      "if (predicate.decision === '')",
      'a decision to abandon',
    ],
    ['all expected checks ran', '&& ran === expected', '', 'a decision whose checks were skipped'],
    [
      'all checks of the contract were expected',
      '|| (same[0]?.expected ?? 0) < listed',
      '',
      'a stage that lists checks',
    ],
    ['every stage is told once', 'if (same.length !== 1 ||', 'if (', 'a decision without a stage'],
    [
      'some check ran',
      "if (!stages.some(({ ran }) => ran > 0)) throw refuted('policy-deny', { found: 'no check ran' });",
      '',
      'a contract without a check',
    ],
    [
      'numbers are numbers',
      "typeof expected === 'number' ? expected : Number.NaN,\n      ran: typeof ran === 'number' ? ran : Number.NaN,",
      'Number(expected),\n      ran: Number(ran),',
      'numbers of checks that are none',
    ],
    [
      'the summary says yes',
      "if (predicate.verificationResult !== 'PASSED')",
      "if (predicate.verificationResult === '')",
      'a summary that says FAILED',
    ],
    [
      'policy of the summary',
      "if (spec) requireEqual('policy', spec.digest, readDigest(predicate, 'policy'));",
      '',
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
      'if (named.size < inputAttestations.length)',
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
      "if (spec) requireEqual('intentspec', spec.digest, readDigest(predicate, 'intentspec'));",
      '',
      'a decision counts only',
    ],
    [
      'record, input and report of the decision',
      'requireEqual(path, sha256Hex(bytes), readDigest(predicate, member));',
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
      'if (people.length >= least) return',
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
  ...within('attest/verify/verify-log.ts', nothing, [
    [
      'the entry is about this envelope',
      'verifyLogEntry(proof.body, bundle.envelope, signingKey);',
      '',
      'an entry about this envelope by another key',
    ],
    [
      'the proof is about this entry',
      'if (file.body?.equals(body) === false)',
      'if (file.index < 0)',
      'the proof of another envelope',
    ],
  ]),
  ...within('attest/verify/verify-log.ts', hostile, [
    [
      'the path leads to the root',
      'if (root?.equals(checkpoint.root) !== true) {',
      'if (root === null) {',
      'checkpoints that lie',
    ],
  ]),
  ...within('attest/verify/verify-log.ts', mutation, [
    [
      'size, root and log id of the checkpoint',
      'if (!same) throw',
      'if (!same && proof.treeSize < 0) throw',
      'no field or octet of provenance',
    ],
  ]),
  ...within('attest/log/checkpoint.ts', hostile, [
    [
      'signature of a checkpoint',
      'if (!verify(null, text, known.key, line.signature)) {',
      'if (known.name === "") {',
      'a log that lies',
    ],
    [
      'a checkpoint that somebody known signed',
      'if (verified === 0)',
      'if (verified < 0)',
      'a log that lies',
    ],
  ]),
  ...within('attest/log/checkpoint-memory.ts', nothing, [
    [
      'one tree of each size',
      'if (seen !== undefined && !seen.root.equals(checkpoint.root)) throw forked(checkpoint);',
      '',
      'a second tree of a size',
    ],
  ]),
  ...within('attest/verify/verify-history.ts', nothing, [
    [
      'a log does not shrink',
      'if (head.size < earlier.size) {',
      'if (head.size < 0) {',
      'a ledger rolled back',
    ],
  ]),
  ...within('attest/verify/verify-history.ts', hostile, [
    [
      'a log does not fork',
      'if (await isPrefix(earlier, head, readSubtrees(read, head.size))) return;',
      'return;',
      'a log that lies',
    ],
    ['a log that grows is not read for ever', 'if (attempts > 1 && next', 'if (next', 'a log that has grown'],
    [
      'what was seen of the log counts',
      'largest === undefined ? [checkpoint] : [checkpoint, largest]',
      '[checkpoint]',
      'another tree of the size',
    ],
  ]),
  ...within('attest/log/find-entry.ts', hostile, [
    [
      'entries lead to the root',
      "if (!root.equals(head.root)) throw corrupt('entries and checkpoint disagree', 'checkpoint');",
      '',
      'a revocation in the ledger',
    ],
  ]),
  ...within('attest/dsse.ts', nothing, [
    ['one signature', '/signatures`, 1)', '/signatures`, 2)', 'one signature by one key, counted twice'],
  ]),
  ...within('attest/bundle.ts', mutation, [
    [
      'the key hint is that of the signature',
      'expectText(hint, ',
      'Object(hint, ',
      'no field or octet of provenance',
    ],
  ]),
  ...within('attest/expect-json.ts', mutation, [
    [
      'no member that nobody knows',
      'if (known !== undefined && !known.includes(key)) throw',
      'if (known?.length === 0) throw',
      'no field or octet of evidence-manifest',
    ],
  ]),
  ...within('attest/base64.ts', mutation, [
    [
      'base64 in one form',
      "if (bytes.toString('base64') === text) return bytes;",
      'return bytes;',
      'no field or octet of evidence-manifest',
    ],
  ]),
  ...within('core/base/strict-json.ts', nothing, [
    ['a key once', 'if (Object.hasOwn(object, key)) {', 'if (at < 0) {', 'a signed payload in which'],
  ]),
  ...within('attest/signer/guarded-file.ts', nothing, [
    [
      'keys that others may write',
      'if ((status.mode & forbidden) === 0) return undefined;',
      'if (forbidden >= 0) return undefined;',
      'a trust directory in which',
    ],
  ]),
  ...within('attest/verify/check-list.ts', nothing, [
    [
      'what is expected has to pass',
      'verified: signed && good.length === expected.length && ran.length === expected.length,',
      'verified: signed,',
      'a statement that was deleted',
    ],
  ]),
  ...within('attest/verify/verify-attestation.ts', nothing, [
    [
      'something must be at hand',
      "throw unavailable('missing', { expected: 'what it is about (`--artifact FILE`)', found });",
      "return { commit: '' };",
      'a bundle about something',
    ],
    [
      'artifacts are subjects',
      "if (!subjects.some(({ digest }) => digest.get('sha256') === sha256))",
      'if (subjects.length === 0)',
      'an artifact that is no subject',
    ],
    [
      'a log where one was asked for',
      "if (options.logged) list.settle('log', 'missing', 'not-logged');\n    else",
      '',
      'a bundle without a log entry',
    ],
  ]),
  ...within('attest/verify/read-attestation.ts', nothing, [
    [
      'a verdict is yes',
      "if (typeof found === 'string' && expected.includes(found)) return;",
      'return;',
      'a test result that says FAILED',
    ],
    [
      'a type that was asked for',
      'if (!accepted.includes(predicateType))',
      'if (accepted.length === 0)',
      'a demanded type that the bundle',
    ],
    [
      'a revocation is no good news',
      "throw refuted('revoked', { found: clipped(predicate.run_id) });",
      'return undefined;',
      'a revocation, handed in',
    ],
  ]),
  ...within('attest/verify/verify-tlog-proof.ts', nothing, [
    [
      'a log proof is about something',
      'if (artifact === undefined)',
      'if (artifact === undefined) return;\n    if (false as boolean)',
      'a log proof, and nothing',
    ],
  ]),
];
