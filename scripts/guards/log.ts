import { type Guard, tests, within } from './guard.ts';

const { nothing, hostile, mutation } = tests;

/** Log entries, checkpoints and history. */
export const guards: readonly Guard[] = [
  ...within('attest/verify/verify-log.ts', nothing, [
    [
      'the entry is about this envelope',
      'verifyEntryOf(proof, bundle.envelope, signer.key, signer.certificate);',
      '',
      'an entry about this envelope by another key',
    ],
  ]),
  ...within('attest/verify/verify-log.ts', hostile, [
    [
      'the path leads to the root',
      'if (root?.equals(checkpoint.root) !== true) {',
      'if (root === null) {',
      'checkpoints that lie',
    ],
  ]),
  ...within('attest/verify/verify-log.ts', mutation, [
    [
      'the proof is about this entry',
      'if (file.body?.equals(body) === false)',
      'if (file.index < 0)',
      'no line of checkpoint and proof',
    ],
    [
      'size, root and log id of the checkpoint',
      'if (!same) throw',
      'if (!same && proof.treeSize < 0) throw',
      'no field or octet of provenance',
    ],
  ]),
  ...within('attest/log/checkpoint.ts', hostile, [
    [
      'signature of a checkpoint',
      'if (!verify(null, text, known.key, line.signature)) {',
      'if (known.name === "") {',
      'a log that lies',
    ],
    [
      'a checkpoint that somebody known signed',
      "if (signer === undefined)\n    throw refuted('untrusted-log', 'no trusted key signed the checkpoint', checkpoint.origin);\n  return { ...checkpoint, keyId: signer.keyId };",
      'return { ...checkpoint, keyId: signer?.keyId ?? Buffer.alloc(32) };',
      'a log that lies',
    ],
  ]),
  ...within('attest/log/checkpoint-memory.ts', 'test/attest/log/internal-ledger.test.ts', [
    [
      'one tree of each size',
      'if (!seen.root.equals(checkpoint.root)) throw forked(seen, checkpoint);',
      '',
      'checkpoints seen are remembered',
    ],
    ['what is kept is looked at', 'else requireSeen(before);', '', 'checkpoints seen are remembered'],
    [
      'another process may be quicker',
      'if (seen !== undefined) requireSeen(seen);',
      '',
      'checkpoints seen are remembered',
    ],
  ]),
  ...within('attest/verify/verify-history.ts', nothing, [
    [
      'a log does not shrink',
      'if (head.size < earlier.size) {',
      'if (head.size < 0) {',
      'a ledger rolled back',
    ],
  ]),
  ...within('attest/verify/verify-history.ts', hostile, [
    [
      'a log does not fork',
      'if (await isPrefix(earlier, head, readSubtrees(read, head.size))) return;',
      'return;',
      'a log that lies',
    ],
    ['a log that grows is not read for ever', 'if (attempts > 1 && next', 'if (next', 'a log that has grown'],
    [
      'what was seen of the log counts',
      'seen === undefined ? [checkpoint] : [checkpoint, seen]',
      '[checkpoint]',
      'another tree of the size',
    ],
  ]),
  ...within('attest/log/find-entry.ts', hostile, [
    [
      'entries lead to the root',
      "if (!root.equals(head.root)) throw corrupt('entries and checkpoint disagree', 'checkpoint');",
      '',
      'a revocation in the ledger',
    ],
  ]),
  ...within('attest/verify/verify-tlog-proof.ts', nothing, [
    [
      'a log proof is about something',
      'if (artifact === undefined)',
      'if (artifact === undefined) return;\n    if (false as boolean)',
      'a log proof, and nothing',
    ],
  ]),
];
