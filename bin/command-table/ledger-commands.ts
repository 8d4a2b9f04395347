import type { CommandSpec, OptionSpec } from '../command-parts/command.ts';
import { loadLean } from '../command-parts/load-lean.ts';

const vkey: OptionSpec = {
  name: 'vkey',
  value: 'VKEY',
  repeatable: true,
  about:
    'the log’s key (signed-note verifier key), or a file that holds it; default pinned keys, then your own',
};
const output: OptionSpec = {
  name: 'output',
  short: 'o',
  value: 'FILE',
  about: 'write here instead of stdout; an existing file is never overwritten',
};

/** The internal transparency log. */
export const ledgerCommands: readonly CommandSpec[] = [
  {
    name: 'ledger show',
    summary: 'the head of the transparency log of this repository, and the key to pin',
    arguments: [],
    options: [vkey],
    examples: [{ line: 'writ ledger show', about: 'origin, entries, root, key' }],
    load: () => import('../commands/ledger-show.ts'),
  },
  {
    name: 'ledger prove',
    summary: 'prove that an entry stands in the log',
    description:
      'A C2SP tlog-proof: index, path and signed checkpoint, cosignatures included, the entry itself in its `extra` line. Verified before it is given out.',
    arguments: [{ name: 'N', about: 'number of the entry, from 0' }],
    options: [output, vkey],
    examples: [
      { line: 'writ ledger prove 0', about: 'the first entry' },
      { line: 'writ ledger prove 41 -o entry.tlog-proof', about: 'into a file, to hand on' },
    ],
    load: () => import('../commands/ledger-prove.ts'),
  },
  {
    name: 'ledger consistency',
    summary: 'prove that the log of A entries is a prefix of that of B',
    description:
      'The proof (RFC 6962) in base64, one hash a line, verified against the signed head, and against the checkpoints of these sizes that you have seen.',
    arguments: [
      { name: 'A', about: 'the earlier size' },
      { name: 'B', about: 'the later size, up to that of the head' },
    ],
    options: [vkey],
    examples: [{ line: 'writ ledger consistency 10 42', about: 'what was logged since, was only added' }],
    load: () => import('../commands/ledger-consistency.ts'),
  },
  {
    name: 'ledger audit',
    summary: 'recompute a whole log from its entries, and verify what was signed over it',
    description:
      'Any directory of C2SP tiles with a checkpoint. Exit 0: every entry and tile is what the log’s key signed, it continues what you have seen of it, and a quorum of the policy cosigned it where one is given. Exit 3: nothing to verify, or nobody to believe.',
    arguments: [{ name: 'DIR', about: 'holds `checkpoint` and `tile/`' }],
    options: [
      vkey,
      {
        name: 'policy',
        value: 'FILE',
        about: 'logs, witnesses and a quorum (C2SP tlog-policy); without it, no cosignature is asked for',
      },
    ],
    examples: [
      { line: 'writ ledger audit .git/writ/ledger', about: 'your own' },
      {
        line: 'writ ledger audit /mnt/copy --vkey log.vkey --policy witnesses.txt',
        about: 'somebody else’s',
      },
    ],
    load: () => import('../commands/ledger-audit.ts'),
  },
  {
    name: 'ledger export-trusted-root',
    summary: 'write the sigstore trusted root by which stock clients check our log proofs',
    arguments: [],
    options: [output, vkey],
    examples: [
      { line: 'writ ledger export-trusted-root -o trusted_root.json', about: 'for `@sigstore/verify`' },
    ],
    load: () => import('../commands/ledger-export-trusted-root.ts'),
  },
  {
    name: 'ledger serve',
    summary: 'serve the log as static files over HTTP on loopback',
    description:
      'Checkpoint, tiles and entry bundles (C2SP tlog-tiles) on 127.0.0.1, to be read by monitors and witnesses. Nothing can be written. Ctrl+C ends it with exit 0.',
    arguments: [],
    options: [{ name: 'port', value: 'N', about: 'default any that is free; the address goes to stderr' }],
    examples: [{ line: 'writ ledger serve --port 8080', about: 'then `curl 127.0.0.1:8080/checkpoint`' }],
    load: () => loadLean(() => import('../commands/ledger-serve.ts')),
  },
];
