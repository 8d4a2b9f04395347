import { type Guard, within } from './guard.ts';

const layouts = 'test/bin/commands/verify-layouts.test.ts';
const required = 'test/attack/log-memory/required.test.ts';
const evidence = 'test/attest/verify/evidence-file.test.ts';

/** Genuine material is found in whatever file it comes, and what has no effect is told. */
export const guards: readonly Guard[] = [
  ...within('api/verify/split-file.ts', layouts, [
    [
      'a list behind much else',
      'bytes.includes(\'"attestations"\')',
      'bytes.subarray(0, 65536).includes(\'"attestations"\')',
      'lists of bundles',
    ],
    [
      'evidence in a list',
      "one?.mediaType === evidenceMediaType ? 'evidence' : 'attestation'",
      "'attestation'",
      'evidence in a list',
    ],
    ['evidence of several lines', 'if (!hasLines && isEvidence', 'if (isEvidence', 'evidence in a list'],
  ]),
  ...within('attest/verify/given-artifact.ts', layouts, [
    [
      'an artifact given twice',
      'if (known === undefined) distinct.push(artifact);',
      'if (known === undefined || at >= 0) distinct.push(artifact);',
      'an artifact that is given twice',
    ],
    [
      'two artifacts are two',
      'one[hash] === other[hash]',
      'one[hash] !== ""',
      'an artifact that is given twice',
    ],
  ]),
  ...within('attest/bundle/any-bundle.ts', layouts, [
    [
      'enumerations as numbers',
      'expectText(nameOf(digest.algorithm)',
      'expectText(digest.algorithm',
      'an artifact that is given twice',
    ],
    [
      'attestations of the Python Package Index',
      'if (json.attestation_bundles !== undefined ||',
      'if (json.attestation_bundles === 0 ||',
      'lists of bundles',
    ],
  ]),
  ...within('api/verify/verify-bytes.ts', required, [
    [
      'signers without effect',
      "demands.allowedSigners && { withoutEffect: ['--allowed-signers'] }",
      'undefined',
      'a list of signers',
    ],
  ]),
  ...within('attest/verify/cut-texts.ts', evidence, [
    ['how many values', 'tokens > maxTokens ||', '', 'a hostile document'],
    [
      'how much besides content',
      'if (bytes.length - cutBytes > maxSkeletonBytes) return undefined;',
      '',
      'a hostile document',
    ],
    ['only content is cut out', 'isNamed && members.includes(name) &&', '', 'content is taken out'],
  ]),
  ...within('attest/verify/evidence-file.ts', evidence, [
    [
      'what was cut out stands once',
      'cut === undefined || used.has(Number(place))',
      'cut === undefined',
      'content is taken out',
    ],
  ]),
  ...within('api/verify/warnings.ts', required, [
    ['content that is gone', 'gone === 0', 'gone >= 0', 'content that is gone'],
  ]),
  ...within('attest/verify/log-snapshot.ts', evidence, [
    ['a ledger left behind', 'claims.ledger !== undefined', 'true', 'whether a run stands'],
  ]),
];
