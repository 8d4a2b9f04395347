import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/** A case of a word of a table that seals and proofs are read by: what is asked of a module, and what it answers. */
export interface AttestCase {
  /** Of the module, relative to the project. */
  readonly entry: string;
  readonly name: string;
  readonly ask: (module: Readonly<Record<string, unknown>>) => unknown;
  /** What it says of itself, or the code of its refusal. */
  readonly expected: unknown;
}

type Reader = (...given: readonly unknown[]) => unknown;
const call =
  (name: string, ...given: readonly unknown[]) =>
  (module: Readonly<Record<string, unknown>>): unknown =>
    (module[name] as Reader)(...given);

type Json = Readonly<Record<string, unknown>>;
const sha256 = 'a'.repeat(64);
const resource = { uri: 'https://a.example/b', digest: { sha256 } };
const provenance = (more: { readonly [part: string]: Json } = {}): Json => ({
  buildDefinition: {
    buildType: 'https://a.example/type',
    externalParameters: { a: 1 },
    ...more.definition,
  },
  runDetails: {
    builder: { id: 'https://a.example/builder', ...more.builder },
    metadata: { ...more.metadata },
    ...more.details,
  },
  ...more.predicate,
});
const summary = (more: Json = {}, verifier: Json = {}): Json => ({
  verifier: { id: 'https://a.example/verifier', ...verifier },
  resourceUri: 'https://a.example/b',
  policy: resource,
  verificationResult: 'PASSED',
  verifiedLevels: ['SLSA_BUILD_LEVEL_2'],
  ...more,
});

/** A member under nearly its name: nobody may take it for the right one, nor for none. */
function nearly(
  entry: string,
  reader: string,
  names: readonly string[],
  made: (near: Json) => readonly unknown[],
): readonly AttestCase[] {
  return names.map((name) => ({
    entry: `attest/verify/predicates/${entry}`,
    name: `${reader}: ${name}`,
    ask: call(reader, ...made({ [name.toUpperCase()]: 'a' })),
    expected: /^(?:unsupported|malformed)$/,
  }));
}

const members: readonly AttestCase[] = [
  ...nearly(
    'summary.ts',
    'readSummary',
    [
      'verifier',
      'timeVerified',
      'resourceUri',
      'policy',
      'inputAttestations',
      'verificationResult',
      'verifiedLevels',
      'dependencyLevels',
      'slsaVersion',
    ],
    (near) => [summary(near)],
  ),
  ...nearly('summary.ts', 'readSummary', ['id', 'version'], (near) => [summary({}, near)]),
  ...nearly('provenance.ts', 'readSlsaProvenance', ['buildDefinition', 'runDetails'], (near) => [
    provenance({ predicate: near }),
  ]),
  ...nearly(
    'provenance.ts',
    'readSlsaProvenance',
    ['buildType', 'externalParameters', 'internalParameters', 'resolvedDependencies'],
    (near) => [provenance({ definition: near })],
  ),
  ...nearly('provenance.ts', 'readSlsaProvenance', ['builder', 'metadata', 'byproducts'], (near) => [
    provenance({ details: near }),
  ]),
  ...nearly('provenance.ts', 'readSlsaProvenance', ['id', 'version', 'builderDependencies'], (near) => [
    provenance({ builder: near }),
  ]),
  ...nearly('provenance.ts', 'readSlsaProvenance', ['startedOn', 'finishedOn'], (near) => [
    provenance({ metadata: near }),
  ]),
  ...nearly('provenance.ts', 'readSlsaProvenance', ['invocationId'], (near) => [
    provenance({ metadata: { invocationId: 'b', ...near } }),
  ]),
  ...nearly('members.ts', 'readResource', ['name', 'uri', 'digest', 'content'], (near) => [
    { ...resource, ...near },
    '/a',
  ]),
  ...nearly(
    'run-statements.ts',
    'readTestResult',
    ['result', 'configuration', 'url', 'passedTests', 'warnedTests', 'failedTests'],
    (near) => [{ result: 'PASSED', configuration: [resource], ...near }],
  ),
];

const lengths: Readonly<Record<number, readonly string[]>> = {
  32: ['md5'],
  40: ['sha1', 'ripemd160', 'gitCommit', 'gitTree', 'gitBlob', 'gitTag'],
  56: ['sha224', 'sha512_224', 'sha3_224'],
  64: ['sha256', 'sha512_256', 'sha3_256', 'blake2s', 'sm3', 'gost', 'dirHash'],
  96: ['sha384', 'sha3_384'],
  128: ['sha512', 'sha3_512', 'blake2b'],
};

const digests: readonly AttestCase[] = [
  ...Object.entries(lengths).flatMap(([length, names]) =>
    names.map((name) => ({
      entry: 'attest/statement/statement.ts',
      name: `${name} of another length`,
      ask: call('readDigestSet', { [name]: 'a'.repeat(Number(length) + 1) }, '/a'),
      expected: 'ATTESTATION_MALFORMED',
    })),
  ),
  ...['md5', 'sha1', 'ripemd160', 'gost'].map((name) => ({
    entry: 'attest/verify/predicates/summary.ts',
    name: `${name} binds nothing`,
    ask: call(
      'readSummary',
      summary({
        policy: {
          uri: 'https://a.example/p',
          digest: { [name]: 'a'.repeat(name === 'md5' ? 32 : name === 'gost' ? 64 : 40) },
        },
      }),
    ),
    expected: 'unsupported',
  })),
];

const levels: readonly AttestCase[] = [
  ...[
    'SLSA-BUILD-LEVEL-1',
    'SLSA-SOURCE-LEVEL-1',
    'slsa_dependency_level_1',
    'slsa_dependencies_level_1',
  ].map((name) => ({
    entry: 'attest/verify/predicates/summary.ts',
    name: `${name} is a mistake`,
    ask: call('isMistakenLevel', name),
    expected: true,
  })),
  ...(['BUILD', 'SOURCE'] as const).map((track) => ({
    entry: 'attest/verify/predicates/summary.ts',
    name: `the track ${track}`,
    ask: call('levelOf', `SLSA_${track}_LEVEL_1`),
    expected: { track, rank: 1 },
  })),
];

const approval = {
  subject: {
    runId: '01890a5d-ac96-774b-bcce-b302099a8057',
    baseCommit: 'a'.repeat(40),
    candidateTree: 'b'.repeat(40),
    patchDigest: sha256,
    specDigest: sha256,
    gateReportDigest: sha256,
  },
  decision: 'approve',
  principal: 'a@a.example',
  role: 'reviewer',
  comment: 'well',
  inProcess: true,
  signedAtMs: 1_700_000_000_000,
  expiresAtMs: 1_800_000_000_000,
};

const approvals: readonly AttestCase[] = (['approve', 'reject'] as const).map((decision) => ({
  entry: 'attest/approval/approval-statement.ts',
  name: `a statement with every member, ${decision}: _type subject predicateType predicate name digest runId baseCommit gateReport principal role comment inProcess expiresAt nonce signedAt`,
  ask: (module: Readonly<Record<string, unknown>>) => {
    const bytes = (module.buildApproval as Reader)({ ...approval, decision });
    const read = (module.parseApproval as Reader)(bytes) as {
      readonly predicate: { readonly decision: string; readonly nonce: string };
    };
    return Object.keys(read.predicate).sort().join(' ') + read.predicate.decision;
  },
  expected: `baseCommit comment decision expiresAt gateReport inProcess nonce principal role runId signedAt${decision}`,
}));

const word = (bytes: Uint8Array | string): Buffer => {
  const octets = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(octets.length);
  return Buffer.concat([length, octets]);
};
const octets = (key: KeyObject, name: 'x' | 'y' | 'n' | 'e'): Buffer =>
  Buffer.from(String(key.export({ format: 'jwk' })[name]), 'base64url');

/** A public key as SSH writes it. */
function blobOf(type: string): Buffer {
  const isSk = type.startsWith('sk-');
  const application = isSk ? [word('ssh:')] : [];
  if (/ed25519/.test(type)) {
    const { publicKey } = generateKeyPairSync('ed25519');
    return Buffer.concat([word(type), word(octets(publicKey, 'x')), ...application]);
  }
  if (type === 'ssh-rsa') {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return Buffer.concat([
      word(type),
      word(octets(publicKey, 'e')),
      word(Buffer.concat([Buffer.from([0]), octets(publicKey, 'n')])),
    ]);
  }
  const curve = /nistp\d+/.exec(type)?.[0] ?? '';
  const named = { nistp256: 'P-256', nistp384: 'P-384', nistp521: 'P-521' }[curve] ?? '';
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: named });
  const point = Buffer.concat([Buffer.from([4]), octets(publicKey, 'x'), octets(publicKey, 'y')]);
  return Buffer.concat([word(type), word(curve), word(point), ...application]);
}

const keys: readonly AttestCase[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
].map((type) => ({
  entry: 'attest/encoding/ssh-wire.ts',
  name: `a key of the type ${type}`,
  ask: (module) => ((module.parseSshPublicKey as Reader)(blobOf(type)) as { readonly type: string }).type,
  expected: type,
}));

const subjects: readonly AttestCase[] = ['gitCommit', 'gitTree', 'gitTag', 'gitBlob'].map((name) => ({
  entry: 'attest/verify/given-artifact.ts',
  name: `a file is no ${name}`,
  ask: call('requireSubject', [{ name: 'a', digest: new Map([[name, 'a'.repeat(40)]]) }], {
    artifacts: [{ name: 'b', sha256 }],
  }),
  expected: 'wrong-subject',
}));

/** A case per word. */
export const attestCases: readonly AttestCase[] = [
  ...members,
  ...digests,
  ...levels,
  ...approvals,
  ...keys,
  ...subjects,
];

/** What a case came to: what was answered, or the reason or code of the refusal. */
export async function outcomeOf(
  one: AttestCase,
  module: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  try {
    return await one.ask(module);
  } catch (fault) {
    const { code, reason, detail } = fault as {
      code?: string;
      reason?: string;
      detail?: { reason?: string };
    };
    return reason ?? detail?.reason ?? code;
  }
}
