import { type Survivor, within } from './survivor.ts';

/** Mutants of `attest` that no test notices and that may stay so. */
export const ofAttest: readonly Survivor[] = [
  ...within('attest/approval/in-process-approver.ts', [
    [
      "detail: { path, expected: 'ed25519', found: signer.algorithm },",
      "'ed25519' → ''",
      'a person is told it; nothing is decided by it',
    ],
  ]),
  ...within('attest/approval/judge-approval.ts', [
    [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a source
      'return `gateReportDigest: the verdict is not the one that was signed (\\`${found.gateReportDigest.slice(0, 12)}\\`): ${how}`;',
      '12 → 13',
      'a person is told it; nothing is decided by it',
    ],
  ]),
  ...within('attest/approval/sign-approval.ts', [
    [
      "if (isWritError(cause, 'KEY_UNUSABLE'))",
      "'KEY_UNUSABLE' → ''",
      'the fault goes on with the same code, in other words',
    ],
  ]),
  ...within('attest/log/audit-ledger.ts', [
    [
      'for (let bundle = 0; bundle * tileWidth < head.size; bundle += 1) {',
      '< → <=',
      'one bundle more, of which nothing is there and nothing expected',
    ],
  ]),
  ...within('attest/log/durable-file.ts', [
    [
      'await Promise.all([...changed].map(syncDirectory));',
      '...changed → ',
      'only a loss of power shows what was not synced',
    ],
  ]),
  ...within('attest/log/kept-checkpoint.ts', [
    [
      "if (fault.code === 'ENOENT') return value;",
      "if (fault.code === 'ENOENT') return value; → ;",
      'only where the folder goes between two looks at it, which nothing can time',
    ],
  ]),
  ...within('attest/log/note-key.ts', [
    ["detail: { what: 'vkey' },", "'vkey' → ''", 'a person is told it; nothing is decided by it'],
  ]),
  ...within('attest/public/rekor-v2.ts', [
    [
      'hashes: proof.hashes ?? [],',
      'proof.hashes ?? [] → proof.hashes',
      'an entry alone in its log is then refused, and none is believed that was not',
    ],
  ]),
  ...within('attest/signer/id-token.ts', [
    [
      "const { value } = parseStrictJson(bytes, { code: 'SIGNER_FAILED', maxDepth: 8 });",
      "'SIGNER_FAILED' → ''",
      'the fault is caught beside it and goes no further',
    ],
    ['const maxTokenBytes = 16 * 1024;', '16 → 17', 'a bound of what is read, generous either way'],
  ]),
  ...within('attest/signer/keyless-key.ts', [
    ["detail: { what: 'id-token' },", "'id-token' → ''", 'a person is told it; nothing is decided by it'],
  ]),
  ...within('attest/verify/certificate-claims.ts', [
    [
      'const [body] = readDerSequence(der) ?? [];',
      'readDerSequence(der) ?? [] → readDerSequence(der)',
      'a certificate that was parsed before is a sequence',
    ],
  ]),
  ...within('attest/verify/git-commit.ts', [
    [
      'const author = /^author ([^\\n]*<[^\\n>]*>)/m.exec(text.slice(0, split))?.[1];',
      '0 → 1',
      'a commit begins with its tree, of which that takes a letter',
    ],
  ]),
  ...within('attest/verify/known-timestamps.ts', [
    [
      'timestamps: [one],',
      'one → ',
      'the bundle is verified with the time stamp behind it, and refused there where it does not hold',
    ],
  ]),
  ...within('attest/verify/read-statement.ts', [
    [
      'const isSame = signer.certificate?.equals(certificate ?? Buffer.alloc(0)) ?? certificate === undefined;',
      '0 → 1',
      'no certificate is one octet either',
    ],
  ]),
  ...within('attest/verify/shown-verdict.ts', [
    ['throw fault;', 'throw fault; → ;', 'reading a report throws nothing else'],
  ]),
  ...within('attest/verify/verify-approvals.ts', [
    [
      'const tips = [...new Set(reports.flatMap(({ authorship: { tip } }) => tip ?? []))];',
      'tip ?? [] → tip',
      'git knows no commit of no name, and then nobody had a hand in it',
    ],
  ]),
  ...within('attest/verify/verify-policy.ts', [
    [
      "expected: claims.config ?? 'none',",
      "claims.config ?? 'none' → claims.config",
      'a person is told it; nothing is decided by it',
    ],
  ]),
  ...within('attest/verify/verify-statements.ts', [
    [
      "if (spec?.demands.repository) requireEqual('resourceUri', spec.demands.repository, resourceUri);",
      "'resourceUri' → ''",
      'a person is told it; nothing is decided by it',
    ],
  ]),
];
