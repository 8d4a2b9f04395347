import { type Guard, within } from './guard.ts';

const traffic = 'test/providers/traffic.test.ts';
const keys = 'test/providers/find-key.test.ts';
const ollama = 'test/providers/ollama/ollama.test.ts';

/** Where a provider's key may go, and what a recording of its traffic holds and is taken for. */
export const guards: readonly Guard[] = [
  ...within('providers/wire/record-traffic.ts', traffic, [
    [
      'a secret is masked over the cuts of a body',
      'mask.bytes(Buffer.concat(pieces))',
      'Buffer.concat(pieces)',
      'a key is in no octet that is written',
    ],
    [
      'headers are kept by name',
      '.filter(([name]) => isKeptHeader(name))',
      '',
      'a key is in no octet that is written',
    ],
    [
      'a file of a recording is a new one',
      'constants.O_EXCL | ',
      '',
      'a recording is made in an empty directory',
    ],
    [
      'a recording with a gap is none',
      '      if (broken !== undefined) throw broken;\n      count += 1;',
      '      count += 1;',
      'a recording is made in an empty directory',
    ],
  ]),
  ...within('providers/wire/replay-traffic.ts', traffic, [
    [
      'a question is compared with the recorded one',
      'if (difference !== undefined)',
      'if (false)',
      'another question than the recorded one',
    ],
    [
      'one recording has one provider',
      'if (canonicalize(openedNow) !== openedThen)',
      'if (false)',
      'a directory that is no recording is refused',
    ],
  ]),
  ...within('providers/wire/traffic-file.ts', traffic, [
    [
      'a recording has no headers that may be a key',
      'if (foreign !== undefined)',
      'if (false)',
      'a directory that is no recording is refused',
    ],
  ]),
  ...within('providers/find-key.ts', keys, [
    [
      'what cannot stand in a header is no key',
      'if (fault !== undefined) throw',
      "if (fault === '') throw",
      'what cannot stand in a header is no key',
    ],
  ]),
  ...within('providers/ollama/ollama-format.ts', ollama, [
    [
      'the key of a vendor goes to the vendor',
      'key === undefined || !isCloud(base)',
      'key === undefined',
      'the key goes to the cloud of the vendor alone',
    ],
  ]),
];
