import { type Guard, tests, within } from './guard.ts';

const { nothing, mutation } = tests;

/** Documents, keys, and attestations of others. */
export const guards: readonly Guard[] = [
  ...within('attest/encoding/dsse.ts', 'test/attest/dsse.test.ts', [
    ['one signature', '/signatures`, 1)', '/signatures`, 2)', 'an envelope of ours has one signature'],
  ]),
  ...within('attest/bundle/bundle.ts', mutation, [
    [
      'the key hint is that of the signature',
      'expectText(hint, ',
      'Object(hint, ',
      'no field or octet of provenance',
    ],
  ]),
  ...within('attest/bundle/bundled-proof.ts', 'test/attest/dsse.test.ts', [
    [
      'a log entry of ours has one form',
      'const entry = requireOwnForm(value, at);',
      'const entry = expectObject(value, at);',
      'a log entry of ours has one form',
    ],
  ]),
  ...within('attest/encoding/expect-json.ts', mutation, [
    [
      'no member that nobody knows',
      'if (known !== undefined && !known.includes(key)) throw',
      'if (known?.length === 0) throw',
      'no field or octet of evidence-manifest',
    ],
  ]),
  ...within('attest/encoding/base64.ts', mutation, [
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
  ...within('core/base/guarded-file.ts', nothing, [
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
  ...within('attest/verify/read-attestation.ts', nothing, [
    [
      'a verdict is yes',
      "if (predicate.result === 'FAILED')",
      "if (predicate.result === '')",
      'a test result that says FAILED',
    ],
    [
      'a type that was asked for',
      'if (asked.length > 0 && !asked.includes(predicateType))',
      'if (asked.length < 0)',
      'a demanded type that the bundle',
    ],
    [
      'a revocation is no good news',
      "throw refuted('revoked', { found: clipped(predicate.run_id) });",
      'return {};',
      'a revocation, handed in',
    ],
  ]),
];
