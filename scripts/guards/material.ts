import { type Guard, tests, within } from './guard.ts';

const { nothing } = tests;
const forgeries = 'test/attack/material/forgeries.test.ts';
const strangers = 'test/attest/verify/verify-attestation.test.ts';
const signatures = 'test/attest/material/signatures.test.ts';
const certificates = 'test/attest/material/certificates.test.ts';

/** What keeps leniency towards genuine material from letting a forgery pass. */
export const guards: readonly Guard[] = [
  ...within('attest/verify/match-subject.ts', nothing, [
    [
      'something must be at hand',
      "throw unavailable('missing', { expected: 'what it is about (`--artifact FILE`)', found });",
      "return { commit: '' };",
      'a bundle about something',
    ],
    [
      'artifacts are subjects',
      "if (answers.includes('same')) continue;",
      'if (answers.length > 0) continue;',
      'an artifact that is no subject',
    ],
  ]),
  ...within('attest/verify/verify-entries.ts', nothing, [
    [
      'a log where one was asked for',
      "if (required || (demanded && !isByTimeOnly)) list.settle('log', 'missing', 'not-logged');\n    else",
      '',
      'a bundle without a log entry',
    ],
  ]),
  ...within('attest/verify/match-subject.ts', forgeries, [
    [
      'no digest of a subject differs',
      'return common.every((hash) =>',
      'return common.some((hash) =>',
      'a subject with digests of two files',
    ],
  ]),
  ...within('attest/verify/verify-by-key.ts', forgeries, [
    [
      'a signature holds',
      "if (verdict === 'holds') return anchor;",
      "if (verdict !== 'cannot') return anchor;",
      'a good signature by a believed key',
    ],
  ]),
  ...within('attest/verify/rsa-digest.ts', forgeries, [
    [
      'nothing stands behind the digest that RSA signed',
      'encoded.equals(Buffer.concat([padding, info]))',
      'encoded.includes(info)',
      'an RSA signature made without the key',
    ],
  ]),
  ...within('attest/verify/verify-with-sigstore.ts', forgeries, [
    [
      'the time of a log that nobody named is none',
      '...timesOf(entries)]',
      '...timesOf(entity.tlogEntries)]',
      'what a log says that nobody named',
    ],
  ]),
  ...within('attest/verify/verify-by-certificate.ts', forgeries, [
    [
      'a certificate is for signing',
      'if (!maySignStatements(der))',
      'if (der.length === 0)',
      'a certificate speaks for the one name',
    ],
  ]),
  ...within('attest/verify/certificate-claims.ts', forgeries, [
    [
      'one name in a certificate',
      'if (name === undefined || more.length > 0) return undefined;',
      'if (name === undefined) return undefined;',
      'a certificate speaks for the one name',
    ],
    [
      'a user name is the one that Fulcio writes',
      " || oid.content.toString('hex') !== oids.userName",
      '',
      'a certificate speaks for the one name',
    ],
    [
      'both forms of the issuer agree',
      'return names.every((name) => name === names[0]) ? names[0] : undefined;',
      'return names[0];',
      'a certificate speaks for the one name',
    ],
  ]),
  ...within('attest/bundle/any-bundle.ts', strangers, [
    [
      'a bundle has one signature',
      "parseEnvelope(json.dsseEnvelope, '/dsseEnvelope', 1)",
      "parseEnvelope(json.dsseEnvelope, '/dsseEnvelope', 2)",
      'what is no one attestation by one signer',
    ],
  ]),
  ...within('api/verify/split-file.ts', 'test/bin/commands/verify-layouts.test.ts', [
    [
      'a bundle is no list',
      'const list = isArray ? value : isBundle ? undefined : attestations;',
      'const list = isArray ? value : attestations;',
      'lists of bundles as registries hand them out',
    ],
  ]),
  ...within('attest/encoding/public-key.ts', signatures, [
    [
      'a file of keys holds public ones alone',
      "if (label !== 'PUBLIC KEY' && label !== 'RSA PUBLIC KEY')",
      "if (label === '')",
      'keys: several in one file',
    ],
    [
      'a key is of a kind and a size that counts',
      'if (!canJudgeBy(key))',
      'if (key.asymmetricKeyType === undefined)',
      'keys: several in one file',
    ],
  ]),
  ...within('attest/verify/verify-entries.ts', certificates, [
    [
      'a time stamp where nothing else tells the time',
      'if (times.length === 0)',
      'if (times.length < 0)',
      'a root that names a time-stamp authority',
    ],
  ]),
];
