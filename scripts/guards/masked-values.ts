import { type Guard, within } from './guard.ts';

const values = 'test/engine/run/record/mask-values.test.ts';
const address = 'the password of an address';

/**
 * Passwords of addresses and log-ins: refused, masked wherever a refused change repeats them, and examples let alone.
 */
export const guards: readonly Guard[] = [
  ...within('engine/run/record/secret-values.ts', values, [
    [
      'a password as an address is read',
      "match.rule === 'url-password' ? [decoded(written)] : []",
      '[]',
      address,
    ],
    ['short passwords', '!(/[A-Za-z]/.test(value) && /\\d/.test(value))', 'true', address],
  ]),
  ...within('engine/run/record/mask-values.ts', values, [
    ['a short value stands alone', '(?<![A-Za-z0-9])', '', address],
  ]),
  ...within('engine/run/record/keep-masked.ts', values, [
    [
      'binary files of a refused patch',
      '...patch.files.filter(({ binary }) => binary)',
      '',
      'of a refused patch no binary',
    ],
  ]),
  ...within('readers/sensitive/redact.ts', 'test/readers/sensitive/containers.test.ts', [
    [
      'a tar archive that goes on behind its end',
      '|| goesOn(parts))',
      ')',
      'what cannot be looked into is named',
    ],
  ]),
  ...within('readers/sensitive/secrets/passwords-by-name.ts', values, [
    [
      'log-ins for every other host',
      "return loginFile.test(path) ? valuesOf('netrc-password', loginField, text) : [];",
      'return [];',
      address,
    ],
  ]),
  ...within('readers/sensitive/secrets/may-begin-secret.ts', 'test/gates/rules/secrets.test.ts', [
    [
      'a token that begins as a name does',
      'return longer.get(key)?.some((anchor) => stands(bytes, at, anchor)) ?? false;',
      'return false;',
      'secrets: notion-token that begins like a name',
    ],
  ]),
  ...within('readers/sensitive/secrets/find-secrets.ts', 'test/readers/sensitive/secrets/reach.test.ts', [
    [
      'a key is read to its end',
      'const farthestHeads = [...keyAnchors,',
      'const farthestHeads = [',
      'what stands within the reach',
    ],
  ]),
  ...within('readers/sensitive/secrets/weigh-secret.ts', values, [
    [
      'a host that is put in later',
      "(usualPasswords.has(head) || classesOf(value.replaceAll('@', '')) < 3)",
      'false',
      address,
    ],
    [
      'an image by tag and digest',
      "if (/^@sha(?:256|384|512):[0-9a-f]{8}/.test(text.slice(end, end + 16))) return 'nothing';",
      '',
      address,
    ],
  ]),
];
