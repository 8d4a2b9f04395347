import { type Guard, within } from './guard.ts';

const kept = 'test/attest/log/checkpoint-memory.test.ts';

const pinned = 'test/attest/public/pinned-log.test.ts';
const growth = 'test/attest/public/growth.test.ts';

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
  ...within('attest/log/hold-to-seen.ts', 'test/attest/log/hold-to-seen.test.ts', [
    [
      'another root of a size seen, when sealing',
      'if (same !== undefined && !same.root.equals(found.root)) throw forked(same, found);',
      '',
      'a home that cannot be written to is no reason',
    ],
    [
      'what proves nothing is refused',
      'if (isConsistent(from, to, nodes)) return;',
      'return;',
      'a fork that has grown',
    ],
    [
      'what is silent is refused',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a source
      'throw unproven(seen, found, `none: ${messageOf(cause).slice(0, maxWords)}`, cause);',
      'return;',
      'no answer is refused',
    ],
    [
      'what two were shown at once',
      '    await rememberSeen([found], memory);\n    // A log that shows each of two processes another history is found by whichever of them comes here last.\n    await holdToNear();',
      '    await rememberSeen([found], memory);',
      'a log that shows two who seal at once',
    ],
    [
      'the newest is kept',
      '    await rememberSeen([found], memory);\n',
      '',
      'a log that grows passes, and the newest',
    ],
  ]),
  ...within('attest/public/pinned-log.ts', pinned, [
    [
      'sealing remembers of a log that proves how it grew',
      'if (prove) await holdToSeen(head, memory, prove);',
      'if (prove) void holdToSeen;',
      'sealing remembers the newest',
    ],
    [
      'sealing remembers the first of a log that proves nothing',
      "if ((await compareSeen(head, memory)) === 'first') await rememberSeen([head], memory);",
      'if ((await compareSeen(head, memory)) === undefined) await rememberSeen([head], memory);',
      'sealing remembers the first',
    ],
    [
      'a size does not go back',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a source
      'if (size < least) throw new RangeError(`it had ${least} entries, and now has ${size}`);',
      '',
      'a size that is answered while another clone seals',
    ],
    [
      'what is remembered meanwhile is no rollback',
      'const least = Math.max(seen, remembered?.size ?? 0);\n        const size = await outside.size();',
      'const size = await outside.size();\n        const least = Math.max(seen, (await memory.latest({ origin: key.name, keyId: key.keyId }))?.size ?? 0, remembered?.size ?? 0);',
      'a size that is answered while another clone seals',
    ],
  ]),
  ...within('attest/public/public-log.ts', growth, [
    [
      'a public log is held to what was seen',
      'await holdToSeen({ ...checkpoint, keyId: log.logId }, options.memory, growthOf(shown));',
      '',
      'Rekor v2: each checkpoint is shown',
    ],
  ]),
  ...within('attest/public/prove-growth.ts', growth, [
    [
      'the tree of the checkpoint is asked',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a source
      "tree === undefined ? '' : `&treeID=${tree}`",
      "tree === undefined ? '' : ''",
      'Rekor v1: each checkpoint is shown',
    ],
    [
      'a full tile stands for a partial one',
      '(await read(path)) ?? (await cutFromWider(path, read, nothingListed))',
      '(await read(path)) ?? (nothingListed === undefined ? await cutFromWider(path, read, nothingListed) : undefined)',
      'proofs out of tiles hold',
    ],
  ]),
  ...within('attest/log/internal-ledger.ts', 'test/attest/log/internal-ledger.test.ts', [
    [
      'a larger ledger of another history',
      'if (seen.size === current.size || (await isPrefix(',
      'if (seen.size <= current.size || (await isPrefix(',
      'a ledger put back from a backup',
    ],
  ]),
  ...within(
    'engine/plugin-trust/parts/outside-log.ts',
    'test/engine/plugin-trust/parts/hostile-log.test.ts',
    [
      [
        'a consistency proof in its form',
        "const { hashes } = toFields(answer, 'a consistency proof', ['hashes']);",
        "const { hashes } = toFields(answer, 'a consistency proof');",
        'a consistency proof of a plugin is taken in its form',
      ],
      [
        'only a log that offers it is asked',
        '...(consistency && {',
        '...((consistency || module) && {',
        'a log is asked for no proof',
      ],
    ],
  ),
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
