import { type Guard, within } from './guard.ts';

const forks = 'test/attack/log-memory/forks.test.ts';
const required = 'test/attack/log-memory/required.test.ts';

/** What is remembered of a log, and what a verifier demands. */
export const guards: readonly Guard[] = [
  ...within('attest/log/compare-seen.ts', forks, [
    [
      'another root of a size seen',
      'if (!same.root.equals(found.root)) throw forked(same, found);',
      '',
      'a fork is told',
    ],
    [
      'a smaller tree is a part of what was seen',
      'throw forked(largest, found);',
      "return 'same';",
      'a fork is refused',
    ],
    ['damage here is no fork', 'await readHistory(read, largest);', '', 'damage of what was kept'],
  ]),
  ...within('attest/verify/verify-history.ts', forks, [
    [
      'what nothing was shown of is not remembered',
      "if (compared === 'first' || log !== undefined) {",
      'if (compared.length > 0) {',
      'what nothing tells apart',
    ],
    [
      'a snapshot continues what was seen',
      'if (seen !== undefined && seen.size <= head.size) await requirePrefix(seen, head, read);',
      'if (seen !== undefined && seen.size <= head.size) void seen;',
      'a fork is refused',
    ],
    [
      'of a file it must be told',
      '(options.demanded || source.readSnapshot !== undefined)',
      'options.demanded',
      'what nothing tells apart',
    ],
    [
      'a snapshot reaches the proof',
      'head);\n    await requirePrefix(checkpoint, head, read);',
      'head);',
      'hashes that are not',
    ],
  ]),
  ...within('attest/log/ledger-history.ts', forks, [
    [
      'tiles lead to the root',
      "if (!root.equals(head.root)) throw corrupt('tiles and checkpoint disagree', 'checkpoint');",
      '',
      'hashes that are not',
    ],
  ]),
  ...within('attest/log/checkpoint-memory.ts', forks, [
    ['two keys are two logs', "Buffer.from(keyId).toString('hex')", "''", 'another key under'],
  ]),
  ...within('attest/verify/judge-seen.ts', forks, [
    [
      'a bundle or proof shows no fork',
      "    await list.judge('log-history', () => {\n      throw fault;",
      "    await list.judge('log-history', () => {\n      return;",
      'a fork is told',
    ],
    [
      'what cannot be compared meets no demand',
      'if (required && log === undefined)',
      'if (required && log)',
      'a bundle or a proof whose log',
    ],
    [
      'what cannot be compared is warned of',
      "!== 'unknown')",
      "!== ('' as string))",
      'a bundle or a proof whose log',
    ],
  ]),
  ...within('attest/verify/verify-entries.ts', forks, [
    [
      'the log of a bundle is compared',
      'await judgeSeen(list, inclusion, memory, required);',
      '',
      'a fork is told',
    ],
  ]),
  ...within('attest/verify/verify-tlog-proof.ts', forks, [
    [
      'the log of a proof is compared',
      'await judgeSeen(list, inclusion, memory, logRequired);',
      '',
      'a fork is told',
    ],
  ]),
  ...within('attest/verify/verify-tlog-proof.ts', 'test/attack/log-memory/proof-signer.test.ts', [
    [
      'a signature in a log is verified',
      "if (verdict === 'does-not') throw",
      "if (verdict === 'does-not' && key === undefined) throw",
      'a log vouches for no signature',
    ],
  ]),
  ...within('attest/verify/verify-run.ts', required, [
    [
      'a log that is asked for',
      "const isWaived = asked === 'as-contract' && spec",
      'const isWaived = spec',
      'a log key demands',
    ],
    [
      'approvals that are asked for',
      "if (options.requireApprovals) list.demand('approvals');",
      '',
      'a run that required people',
    ],
  ]),
  ...within('attest/verify/verify-approvals.ts', required, [
    ['at least one who counts', 'isDemanded ? 1 : 0', '0', 'a run that required people'],
  ]),
  ...within('attest/verify/verify-attestation.ts', required, [
    [
      'what only a run answers',
      'list.expect(...(options.unanswerable ?? []));',
      'list.expect(...(options.unanswerable ?? []));\n  if (options.unanswerable) for (const id of options.unanswerable) list.settle(id, "passed");\n  options = { ...options, unanswerable: [] };',
      'what a target cannot',
    ],
  ]),
  ...within('api/verify/warnings.ts', required, [
    [
      'people whom nobody judged',
      "if (id === 'approvals' && code === 'per-repository')",
      "if (id === '')",
      'a run that required people',
    ],
  ]),
];
