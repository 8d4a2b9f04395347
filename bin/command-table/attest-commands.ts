import type { CommandSpec } from '../command-parts/command.ts';

/** Statements of one's own, and what those of others claim. */
export const attestCommands: readonly CommandSpec[] = [
  {
    name: 'attest sign',
    summary: 'sign an in-toto statement with your key',
    description:
      'The file is read strictly and signed as it stands: in-toto Statement v1, at least one subject, each with a digest. Out comes a sigstore bundle v0.3 that is not logged. `writ verify` and any sigstore client read it.',
    arguments: [{ name: 'FILE', about: 'the statement (JSON); `-` is stdin' }],
    options: [
      {
        name: 'key',
        value: 'FILE',
        about: 'sign with this private key (ECDSA P-256, PEM) instead of your own',
      },
      {
        name: 'output',
        short: 'o',
        value: 'FILE',
        about: 'write here instead of stdout; an existing file is never overwritten',
      },
    ],
    examples: [
      { line: 'writ attest sign statement.json -o app.sigstore.json', about: 'a bundle to hand on' },
    ],
    load: () => import('../commands/attest-sign.ts'),
  },
  {
    name: 'attest show',
    summary: 'print what a bundle claims, unverified',
    description:
      'Sigstore bundles, DSSE envelopes, lines of those, tlog-proofs and exported evidence. Everything shown is what somebody wrote there; `writ verify` judges it.',
    arguments: [{ name: 'FILE', about: 'the file; `-` is stdin' }],
    options: [],
    examples: [
      { line: 'writ attest show app.sigstore.json', about: 'signer, types, subjects' },
      { line: 'writ --json attest show evidence.json', about: 'with the predicates in full' },
    ],
    load: () => import('../commands/attest-show.ts'),
  },
];
