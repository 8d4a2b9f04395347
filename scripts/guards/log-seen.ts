import { type Guard, within } from './guard.ts';

const kept = 'test/attest/log/checkpoint-memory.test.ts';

/** What was seen of a log is a file that anybody may have spoilt; a ledger that grows is read whole all the same. */
export const guards: readonly Guard[] = [
  ...within('attest/log/kept-checkpoint.ts', kept, [
    [
      'garbage is a fault',
      "if (isWritError(fault, 'ATTESTATION_MALFORMED')) throw spoilt(path, folder, fault.message);",
      "if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;",
      'garbage in the place',
    ],
    [
      'a checkpoint of another size or log under a name',
      'if (checkpoint.origin === origin && checkpoint.size === size) return checkpoint;',
      'return checkpoint;',
      'what was seen of a log',
    ],
    [
      'a link is not followed',
      'constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK',
      'constants.O_RDONLY | constants.O_NONBLOCK',
      'a link to a sound one',
    ],
    [
      'a pipe does not hang',
      "if (!status.isFile()) throw spoilt(path, folder, 'no regular file');",
      '',
      'a directory in the place',
    ],
    [
      'octets are bounded',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a source
      'if (status.size > maxBytes) throw spoilt(path, folder, `${status.size} octets`);',
      '',
      'more than a checkpoint holds',
    ],
    [
      'the folder is one',
      "if (status !== undefined && !status.isDirectory()) throw spoilt(folder, folder, 'no directory');",
      '',
      'a link for the folder',
    ],
    [
      'what all stands in is one',
      "if (fault.code === 'ENOTDIR') throw spoilt(dirname(folder), dirname(folder), 'no directory');",
      "if (fault.code === 'ENOTDIR') return undefined;",
      'a file for all that was seen',
    ],
    [
      'names of logs with spaces',
      'parseCheckpoint(source, () => true)',
      'parseCheckpoint(source)',
      'a log whose name has spaces',
    ],
  ]),
  ...within('attest/log/checkpoint-memory.ts', kept, [
    ['kept for its user alone', 'mode: 0o600, ', '', 'what is kept is its user'],
  ]),
  ...within('attest/log/read-from.ts', 'test/attest/log/cut-tile.test.ts', [
    [
      'a tile that an append replaced',
      '(await read(path)) ?? (await cutFromWider(path, read, list))',
      'void list || (await read(path))',
      'whoever read the head before an append misses no tile, of 5',
    ],
  ]),
  ...within('attest/log/cut-tile.ts', 'test/attest/log/cut-tile.test.ts', [
    [
      'a wider tile holds as much',
      'tile.length >= width * 32 ? tile.subarray(0, width * 32) : undefined',
      'tile.subarray(0, width * 32)',
      'only partial tiles are cut',
    ],
    [
      'a bundle holds as many',
      'entries === undefined || entries.length < width',
      'entries === undefined',
      'only partial tiles are cut',
    ],
  ]),
];
