import t from 'tap';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { troubles } from '../../attest/verify/sealed-run.ts';
import {
  bundleBy,
  envelopeBy,
  type Loose,
  signerKey,
  statement,
  verifyStranger,
} from '../../attest/verify/strangers.ts';

const summaryType = 'https://slsa.dev/verification_summary/v1';
const testType = 'https://in-toto.io/attestation/test-result/v0.1';
const digest = { sha256: '7'.repeat(64) };

/** Whole, and more than what is demanded. */
const summary: Loose = {
  verifier: { id: 'https://verifier.example/v', version: { tool: '1.2' } },
  timeVerified: '2026-01-02T03:04:05Z',
  resourceUri: 'pkg:npm/app@1.0.0',
  policy: { uri: 'https://verifier.example/policy', digest },
  inputAttestations: [{ uri: 'https://verifier.example/in', digest }],
  verificationResult: 'PASSED',
  verifiedLevels: ['SLSA_BUILD_LEVEL_2', 'SLSA_SOURCE_LEVEL_3', 'ORG_LEVEL'],
  dependencyLevels: { SLSA_BUILD_LEVEL_1: 4, SLSA_BUILD_LEVEL_UNEVALUATED: 0 },
  slsaVersion: '1.2',
};
const provenance: Loose = {
  buildDefinition: {
    buildType: 'https://example.org/build',
    externalParameters: { ref: 'main' },
    internalParameters: { runner: 'x' },
    resolvedDependencies: [
      { uri: 'git+https://example.org/a@refs/heads/main', digest: { gitCommit: '1'.repeat(40) } },
    ],
  },
  runDetails: {
    builder: {
      id: 'https://example.org/builder',
      version: { it: '1' },
      builderDependencies: [{ name: 'b', digest }],
    },
    metadata: {
      invocationId: '1',
      startedOn: '2026-01-01T00:00:00Z',
      finishedOn: '2026-01-01T00:00:01.5+00:00',
    },
    byproducts: [{ name: 'log', content: 'YQ==', mediaType: 'text/plain' }],
  },
};
const result: Loose = {
  result: 'PASSED',
  configuration: [{ name: 'c', digest }],
  passedTests: ['a'],
  failedTests: [],
};
const whole: Readonly<Record<string, Loose>> = {
  [summaryType]: summary,
  'https://slsa.dev/provenance/v1': provenance,
  [testType]: result,
};

/** A copy with `value` at a path; `undefined` removes. */
function withAt(of: Loose, path: string, value: unknown): Loose {
  const copy = structuredClone(of);
  const keys = path.split('.');
  let at = copy;
  for (const key of keys.slice(0, -1)) at = at[key];
  const last = keys.at(-1) ?? '';
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

async function refusal(
  predicateType: string,
  predicate: Loose,
  more: Loose = {},
): Promise<readonly unknown[]> {
  const outcomes = new Set<string>();
  let last: readonly unknown[] = [];
  // As a bundle and as an envelope by itself.
  for (const of of [
    bundleBy(statement({ predicateType, predicate })),
    envelopeBy(signerKey, statement({ predicateType, predicate })),
  ]) {
    const report = await verifyStranger(of, more);
    last = [verifyExitCode(report), ...troubles(report).filter((one) => !/not-run|not-required/.test(one))];
    outcomes.add(JSON.stringify(last));
  }
  return outcomes.size === 1 ? last : [...outcomes];
}

t.test('a complete predicate verifies, and so does one with only the required members', async (t) => {
  for (const [type, predicate] of Object.entries(whole)) t.same(await refusal(type, predicate), [0], type);
  for (const [type, path] of [
    [summaryType, 'timeVerified'],
    [summaryType, 'inputAttestations'],
    [summaryType, 'dependencyLevels'],
    [summaryType, 'slsaVersion'],
    [summaryType, 'verifier.version'],
    [summaryType, 'policy.digest'],
    ['https://slsa.dev/provenance/v1', 'buildDefinition.internalParameters'],
    ['https://slsa.dev/provenance/v1', 'buildDefinition.resolvedDependencies'],
    ['https://slsa.dev/provenance/v1', 'runDetails.metadata'],
    ['https://slsa.dev/provenance/v1', 'runDetails.byproducts'],
    [testType, 'passedTests'],
    [testType, 'failedTests'],
  ] as const) {
    t.same(await refusal(type, withAt(whole[type], path, undefined)), [0], `without ${path}`);
    t.same(await refusal(type, withAt(whole[type], path, null)), [0], `${path} is null`);
  }
});

const malformed: readonly (readonly [type: string, path: string, value: unknown])[] = [
  ...(
    [
      ['verifier', undefined],
      ['verifier', 'https://verifier.example/v'],
      ['verifier.id', undefined],
      ['verifier.id', ''],
      ['verifier.id', 'us'],
      ['verifier.version', { tool: 1 }],
      ['timeVerified', 'yesterday'],
      ['timeVerified', '2026-02-30T00:00:00Z'],
      ['timeVerified', 1_767_225_600],
      ['resourceUri', undefined],
      ['resourceUri', ''],
      ['resourceUri', ['pkg:npm/app@1.0.0']],
      ['policy', undefined],
      ['policy', {}],
      ['policy.uri', undefined],
      ['policy.digest', { sha256: '7'.repeat(63) }],
      ['inputAttestations', {}],
      ['inputAttestations', ['https://verifier.example/in']],
      ['inputAttestations.0.digest', undefined],
      ['inputAttestations.0.digest', {}],
      ['verificationResult', undefined],
      ['verificationResult', 'passed'],
      ['verificationResult', true],
      ['verifiedLevels', undefined],
      ['verifiedLevels', 'SLSA_BUILD_LEVEL_3'],
      ['verifiedLevels', ['SLSA_BUILD_LEVEL_1', 'SLSA_BUILD_LEVEL_3']],
      ['verifiedLevels', ['SLSA_BUILD_LEVEL_3', 'SLSA_BUILD_LEVEL_3']],
      ['verifiedLevels', ['SLSA_BUILD_LEVEL_9']],
      ['verifiedLevels', ['SLSA_SOURCE_LEVEL_5']],
      ['verifiedLevels', ['SLSA_BEST']],
      ['verifiedLevels', ['SLSA_BUILD_LEVEL_2', 'FAILED']],
      ['verifiedLevels', [3]],
      ['dependencyLevels', ['SLSA_BUILD_LEVEL_1']],
      ['dependencyLevels.SLSA_BUILD_LEVEL_1', -1],
      ['dependencyLevels.SLSA_BUILD_LEVEL_1', '4'],
      ['dependencyLevels.SLSA_BUILD_LEVEL_7', 1],
      ['slsaVersion', 'latest'],
      ['slsaVersion', '2.0'],
      ['slsaVersion', 1.2],
      ['VerificationResult', 'FAILED'],
      ['verification_result', 'FAILED'],
      ['verifier.ID', 'https://somebody.example/v'],
      ['policy.URI', 'https://verifier.example/other'],
      ['verifiedLevels', ['slsa_build_level_3']],
      ['verifiedLevels', ['SLSA-BUILD-LEVEL-3']],
      ['verifiedLevels', ['SLSA_BUILD_LEVEL_2', 'Slsa_Build_Level_3']],
      ['verifiedLevels', ['failed']],
      ['dependencyLevels', { slsa_build_level_3: 1 }],
    ] as const
  ).map(([path, value]) => [summaryType, path, value] as const),
  ...(
    [
      ['buildDefinition', undefined],
      ['buildDefinition.buildType', ''],
      ['buildDefinition.buildType', 'make'],
      ['buildDefinition.externalParameters', undefined],
      ['buildDefinition.externalParameters', null],
      ['buildDefinition.externalParameters', 'main'],
      ['buildDefinition.externalParameters', ['main']],
      ['buildDefinition.internalParameters', ['x']],
      ['buildDefinition.internalParameters', { ref: 'other' }],
      ['buildDefinition.resolvedDependencies', {}],
      ['buildDefinition.resolvedDependencies', ['git+https://example.org/a']],
      ['buildDefinition.resolvedDependencies', [{ name: 'of nothing' }]],
      ['buildDefinition.resolvedDependencies.0.digest', { gitCommit: '1'.repeat(39) }],
      ['buildDefinition.resolvedDependencies.0.digest', { gitCommit: 'A'.repeat(40) }],
      ['buildDefinition.resolvedDependencies.0.digest', { SHA256: '1'.repeat(64) }],
      ['buildDefinition.resolvedDependencies.0.digest', { 'sha-256': '1'.repeat(64) }],
      ['buildDefinition.resolvedDependencies.0.digest', { gitcommit: '1'.repeat(40) }],
      ['buildDefinition.resolvedDependencies.0.digest', 'sha256:1'],
      ['buildDefinition.resolvedDependencies.0.uri', 7],
      ['buildDefinition.resolvedDependencies.0.content', 'no base64!'],
      ['buildDefinition.resolvedDependencies.0.annotations', 'x'],
      ['runDetails', undefined],
      ['runDetails.builder', undefined],
      ['runDetails.builder.id', undefined],
      ['runDetails.builder.id', 'me'],
      ['runDetails.builder.id', ''],
      ['runDetails.builder.ID', 'https://example.org/other'],
      ['builddefinition', {}],
      ['buildDefinition.external_parameters', { ref: 'other' }],
      ['runDetails.Metadata', { startedOn: 'yesterday' }],
      ['runDetails.metadata.invocationID', '2'],
      ['runDetails.builder.version', '1'],
      ['runDetails.builder.builderDependencies', [{}]],
      ['runDetails.metadata', 'x'],
      ['runDetails.metadata.invocationId', 1],
      ['runDetails.metadata.startedOn', '2026-13-01T00:00:00Z'],
      ['runDetails.metadata.startedOn', '2026-01-01'],
      ['runDetails.metadata.finishedOn', '2025-12-31T23:59:59Z'],
      ['runDetails.byproducts', [{ digest: { sha512: '7'.repeat(64) } }]],
    ] as const
  ).map(([path, value]) => ['https://slsa.dev/provenance/v1', path, value] as const),
  ...(
    [
      ['result', undefined],
      ['result', 'OK'],
      ['configuration', undefined],
      ['configuration', [{ name: 'c' }]],
      ['passedTests', 'a'],
      ['failedTests', ['a']],
      ['failedTests', [1]],
      ['Result', 'FAILED'],
      ['FailedTests', ['a']],
    ] as const
  ).map(([path, value]) => [testType, path, value] as const),
];

t.test('a malformed predicate is refused, however well it is signed', async (t) => {
  for (const [type, path, value] of malformed)
    t.same(
      await refusal(type, withAt(whole[type], path, value)),
      [1, 'predicate failed malformed'],
      `${path} ${JSON.stringify(value)}`,
    );
});

/** A copy in which the last name of a path is another. */
function renamed(of: Loose, path: string, name: string): Loose {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let from = of;
  for (const key of keys) from = from[key];
  return withAt(withAt(of, path, undefined), [...keys, name].join('.'), from[last]);
}

t.test(
  'a misspelled required member is missing, and a misspelled optional member is unsupported',
  async (t) => {
    const provenanceType = 'https://slsa.dev/provenance/v1';
    for (const [type, path, name, trouble] of [
      [summaryType, 'policy', 'Policy', '1 failed malformed'],
      [summaryType, 'verifier', 'Verifier', '1 failed malformed'],
      [summaryType, 'verifiedLevels', 'verifiedlevels', '1 failed malformed'],
      [summaryType, 'verificationResult', 'verification_result', '1 failed malformed'],
      [summaryType, 'verifier.id', 'Id', '1 failed malformed'],
      [provenanceType, 'runDetails', 'rundetails', '1 failed malformed'],
      [provenanceType, 'runDetails.builder.id', 'ID', '1 failed malformed'],
      [summaryType, 'timeVerified', 'time_verified', '3 unverified unsupported'],
      [summaryType, 'inputAttestations', 'inputattestations', '3 unverified unsupported'],
      [summaryType, 'dependencyLevels', 'DependencyLevels', '3 unverified unsupported'],
      [summaryType, 'slsaVersion', 'SlsaVersion', '3 unverified unsupported'],
      [summaryType, 'policy.digest', 'Digest', '3 unverified unsupported'],
      [
        provenanceType,
        'buildDefinition.resolvedDependencies',
        'resolveddependencies',
        '3 unverified unsupported',
      ],
      [provenanceType, 'buildDefinition.resolvedDependencies.0.digest', 'Digest', '3 unverified unsupported'],
      [provenanceType, 'runDetails.metadata.startedOn', 'startedon', '3 unverified unsupported'],
      [testType, 'failedTests', 'failed_tests', '3 unverified unsupported'],
    ] as const) {
      const [exit, ...code] = trouble.split(' ');
      t.same(
        await refusal(type, renamed(whole[type], path, name)),
        [Number(exit), `predicate ${code.join(' ')}`],
        `${path} as ${name}`,
      );
    }
    for (const [type, path, value] of [
      [summaryType, 'acme_reviewed', { by: 'us' }],
      [summaryType, 'resource', 'x'],
      [provenanceType, 'runDetails.metadata.buildkit_hermetic', true],
      [testType, 'tests', 7],
    ] as const)
      t.same(await refusal(type, withAt(whole[type], path, value)), [0], `${path} is of nobody here`);
    t.same(
      await refusal(provenanceType, renamed(provenance, 'runDetails.metadata.invocationId', 'invocationID')),
      [0],
      'as BuildKit writes it',
    );
    for (const changes of [{ Subject: [] }, { PredicateType: testType }, { predicate_type: testType }]) {
      const report = await verifyStranger(bundleBy(statement(changes)));
      t.ok(troubles(report).includes('statement failed malformed'), JSON.stringify(changes));
    }
  },
);

t.test('names and digests that identify nothing are unverified, not refuted', async (t) => {
  const names = [
    'git+https://example.org/a',
    'gce_image:a',
    'oci://x/y',
    'quay.io/a/b@sha256:0',
    'localhost:5000/a',
  ];
  for (const name of names) t.same(await refusal(summaryType, { ...summary, resourceUri: name }), [0], name);
  for (const name of [
    'app',
    '/srv/app',
    './app',
    '../app',
    'file:///srv/app',
    'https://',
    ':',
    'http:',
    'x/',
    '-',
  ])
    t.same(
      await refusal(summaryType, { ...summary, resourceUri: name }),
      [3, 'predicate unverified unsupported'],
      name,
    );
  t.same(await refusal(summaryType, withAt(summary, 'policy.digest', {})), [0], 'as Conforma writes it');
  for (const path of ['policy.digest', 'inputAttestations.0.digest']) {
    const git = { gitCommit: '1'.repeat(40) };
    t.same(await refusal(summaryType, withAt(summary, path, git)), [0], 'a commit');
    t.same(await refusal(summaryType, withAt(summary, path, { md5: '1'.repeat(32), ...digest })), [0]);
    for (const weak of [{ md5: '1'.repeat(32) }, { sha1: '1'.repeat(40) }, { own: '1' }])
      t.same(
        await refusal(summaryType, withAt(summary, path, weak)),
        [3, 'predicate unverified unsupported'],
        `${path} ${Object.keys(weak)}`,
      );
  }
});

t.test('a predicate with a future time is unverified, with a tolerance of some minutes', async (t) => {
  const nowMs = Date.parse('2026-03-01T00:00:00Z');
  for (const [type, path, first] of [
    [summaryType, 'timeVerified', undefined],
    ['https://slsa.dev/provenance/v1', 'runDetails.metadata.startedOn', 'runDetails.metadata.finishedOn'],
    ['https://slsa.dev/provenance/v1', 'runDetails.metadata.finishedOn', undefined],
  ] as const) {
    const at = (ms: number) =>
      refusal(
        type,
        withAt(first ? withAt(whole[type], first, undefined) : whole[type], path, new Date(ms).toISOString()),
        { nowMs },
      );
    t.same(await at(nowMs + 4 * 60_000), [0], path);
    for (const ms of [nowMs + 6 * 60_000, Date.parse('2999-01-01T00:00:00Z')])
      t.same(await at(ms), [3, 'predicate unverified not-yet'], `${path} ${ms}`);
  }
});

t.test('subject digests must have the exact algorithm name and length', async (t) => {
  const bad = [
    { sha256: '1'.repeat(40) },
    { sha512: '1'.repeat(64) },
    { sha1: '1'.repeat(64) },
    { SHA256: '1'.repeat(64) },
    { 'sha-512': '1'.repeat(128) },
    { gitCommit: '1'.repeat(50) },
    { gittree: '1'.repeat(40) },
    { sha256: `${'1'.repeat(63)}G` },
    { '': '1'.repeat(64) },
    { 'a b': 'x' },
    { more: '' },
    { more: 'ü' },
  ];
  for (const one of bad) {
    const report = await verifyStranger(
      bundleBy(statement({ subject: [...statement().subject, { name: 'other', digest: one }] })),
    );
    t.same(
      [verifyExitCode(report), troubles(report).find((one) => one.startsWith('statement'))],
      [1, 'statement failed malformed'],
      JSON.stringify(one),
    );
  }
  const known = { gce_image_id: '8970095005306000053' };
  const report = await verifyStranger(
    bundleBy(statement({ subject: [...statement().subject, { name: 'image', digest: known }] })),
  );
  t.equal(report.verified, true, 'what is not known by its name is compared with nothing');
});

t.test('a summary must match the requested verifier, resource and level', async (t) => {
  const asked = {
    verifierId: 'https://verifier.example/v',
    resourceUri: 'pkg:npm/app@1.0.0',
    levels: ['SLSA_BUILD_LEVEL_1', 'SLSA_BUILD_LEVEL_2', 'SLSA_SOURCE_LEVEL_0', 'ORG_LEVEL'],
  };
  t.same(await refusal(summaryType, summary, { summary: asked }), [0]);
  t.same(
    await refusal(summaryType, summary, { summary: { ...asked, verifierId: 'https://verifier.example/V' } }),
    [1, 'verifier-id failed mismatch'],
  );
  t.same(await refusal(summaryType, summary, { summary: { ...asked, resourceUri: 'pkg:npm/app@1.0.1' } }), [
    1,
    'resource-uri failed mismatch',
  ]);
  for (const level of [
    'SLSA_BUILD_LEVEL_3',
    'SLSA_SOURCE_LEVEL_4',
    'OTHER',
    'SLSA_SOURCE_TWO_PARTY_REVIEWED',
  ])
    t.same(await refusal(summaryType, summary, { summary: { levels: [level] } }), [
      1,
      `level:${level} failed policy-deny`,
    ]);
  const unevaluated = { ...summary, verifiedLevels: ['SLSA_BUILD_LEVEL_UNEVALUATED'] };
  t.same(await refusal(summaryType, unevaluated, { summary: { levels: ['SLSA_BUILD_LEVEL_0'] } }), [
    1,
    'level:SLSA_BUILD_LEVEL_0 failed policy-deny',
  ]);
});

t.test('a statement that is not a summary does not meet requirements for a summary', async (t) => {
  for (const demands of [
    { verifierId: 'https://verifier.example/v', levels: [] },
    { resourceUri: 'pkg:npm/app@1.0.0', levels: [] },
    { levels: ['SLSA_BUILD_LEVEL_0'] },
  ]) {
    const [exit, trouble] = await refusal('https://slsa.dev/provenance/v1', provenance, { summary: demands });
    t.equal(exit, 3);
    t.match(trouble, / missing missing$/);
  }
});

t.test('an unknown predicate type is not evaluated and verifies only if its type is requested', async (t) => {
  const type = 'https://cyclonedx.org/bom';
  t.same(await refusal(type, { any: 'thing' }), [3, 'predicate unverified not-judged']);
  t.same(await refusal(type, { any: 'thing' }, { types: [type] }), [0, 'predicate unverified not-judged']);
  t.same(await refusal(type, { any: 'thing' }, { types: ['https://spdx.dev/Document'] }), [
    1,
    'predicate failed wrong-type',
  ]);
  const other = await refusal(
    type,
    { any: 'thing' },
    { types: [type], artifacts: [{ name: 'x', sha256: '0'.repeat(64) }] },
  );
  t.same(
    other,
    [1, 'predicate unverified not-judged', 'subject failed wrong-subject'],
    'its subject is judged',
  );
});
