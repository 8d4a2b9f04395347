/* Declares the commands of vault, ledger, attestations and service. */
import { type ArgumentSpec, type CommandSpec, loadLean, type OptionSpec } from '../command-parts/command.ts';

const name: ArgumentSpec = { name: 'NAME', about: 'as its variable is called, e.g. `OPENAI_API_KEY`' };
const everywhere: OptionSpec = {
  name: 'global',
  about: 'the vault of this user for all repositories, and not that of this one',
};

/** Secrets of providers and checks. */
export const vaultCommands: readonly CommandSpec[] = [
  {
    name: 'vault set',
    summary: 'keep a secret, encrypted; its value is read from stdin',
    description:
      'One line end behind the value is left out. Values are never arguments and never printed. Keys of models are looked for in `--env-file`, in the vault of the repository, in the global one, then in the environment (docs/guides/vault.md).',
    arguments: [name],
    hidesUnexpected: true,
    options: [
      everywhere,
      {
        name: 'scope',
        value: 'SCOPE',
        repeatable: true,
        about:
          'give it to checks of contracts whose `security.secrets.allowedScopes` names this; without, to none',
      },
    ],
    examples: [
      { line: 'pass show openai | writ vault set OPENAI_API_KEY --global', about: 'for every repository' },
      { line: 'writ vault set NPM_TOKEN < token.txt', about: 'for this one' },
      {
        line: 'writ vault set NPM_TOKEN --scope npm:read < token.txt',
        about: 'checks get it as `$NPM_TOKEN` where the contract allows `npm:read`',
      },
    ],
    load: async () => (await import('../commands/vault.ts')).vaultSetCommand,
  },
  {
    name: 'vault list',
    summary: 'names of the secrets that are kept',
    arguments: [],
    options: [everywhere],
    examples: [{ line: 'writ vault list', about: 'of this repository and of the user' }],
    load: async () => (await import('../commands/vault.ts')).vaultListCommand,
  },
  {
    name: 'vault rm',
    summary: 'forget a secret',
    arguments: [name],
    options: [everywhere],
    examples: [{ line: 'writ vault rm NPM_TOKEN', about: 'out of the vault of this repository' }],
    load: async () => (await import('../commands/vault.ts')).vaultRmCommand,
  },
];

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

const sharedDirectory: OptionSpec = {
  name: 'directory',
  value: 'DIR',
  about: 'where the server of a shared ledger keeps it; `DIR/log` are the public files',
};

/** The transparency log of a repository, and the one that many share. */
export const ledgerCommands: readonly CommandSpec[] = [
  {
    name: 'ledger show',
    summary: 'the head of the transparency log of this repository, and the key to pin',
    arguments: [],
    options: [vkey],
    examples: [{ line: 'writ ledger show', about: 'origin, entries, root, key' }],
    load: async () => (await import('../commands/ledger.ts')).ledgerShowCommand,
  },
  {
    name: 'ledger prove',
    summary: 'prove that the log contains an entry',
    description:
      'A C2SP tlog-proof: index, path and signed checkpoint, cosignatures included, the entry itself in its `extra` line. Verified before it is given out.',
    arguments: [{ name: 'N', about: 'number of the entry, from 0' }],
    options: [output, vkey],
    examples: [
      { line: 'writ ledger prove 0', about: 'the first entry' },
      { line: 'writ ledger prove 41 -o entry.tlog-proof', about: 'into a file, to hand on' },
    ],
    load: async () => (await import('../commands/ledger.ts')).ledgerProveCommand,
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
    load: async () => (await import('../commands/ledger.ts')).ledgerConsistencyCommand,
  },
  {
    name: 'ledger audit',
    summary: 'recompute a whole log from its entries, and verify what was signed over it',
    description:
      'Any directory of C2SP tiles with a checkpoint. Exit 0: every entry and tile is what the log’s key signed, it continues what you have seen of it, and a quorum of the policy cosigned it where one is given. Exit 3: nothing to verify, or no trusted key.',
    arguments: [{ name: 'DIR', about: 'holds `checkpoint` and `tile/`; or the URL below which they are' }],
    options: [
      vkey,
      {
        name: 'policy',
        value: 'FILE',
        about: 'logs, witnesses and a quorum (C2SP tlog-policy); without it, no cosignature is asked for',
      },
      {
        name: 'follow',
        about: 'audit what the log gains, until Ctrl+C; exit 1 for a fork, a rollback, or a missing quorum',
      },
      { name: 'interval', value: 'SECONDS', about: 'between two looks of `--follow`; default 10' },
    ],
    streams: 'follow',
    examples: [
      { line: 'writ ledger audit .git/writ/ledger', about: 'your own' },
      {
        line: 'writ ledger audit /mnt/copy --vkey log.vkey --policy witnesses.txt',
        about: 'somebody else’s',
      },
      {
        line: 'writ ledger audit https://ledger.example.org/ --vkey log.vkey --follow',
        about: 'watch a shared ledger: one line for each growth, by repository',
      },
    ],
    load: async () => (await import('../commands/ledger.ts')).ledgerAuditCommand,
  },
  {
    name: 'ledger export-trusted-root',
    summary: 'write the sigstore trusted root by which stock clients check our log proofs',
    arguments: [],
    options: [output, vkey],
    examples: [
      { line: 'writ ledger export-trusted-root -o trusted_root.json', about: 'for `@sigstore/verify`' },
    ],
    load: async () => (await import('../commands/ledger.ts')).ledgerExportTrustedRootCommand,
  },
  {
    name: 'ledger rotate',
    summary: 'let a new key sign the log; its entries and its name stay',
    description:
      'If your ledger key signed the head, it is put aside and a new one is made. Else the key in use takes over from an earlier key of yours, whose private half is not needed (docs/guides/keys.md). Give the new key to those who verify; proofs by the key before need the key before.',
    arguments: [],
    options: [],
    examples: [{ line: 'writ ledger rotate', about: 'prints the new key to pin, and the one before' }],
    load: async () => (await import('../commands/ledger.ts')).ledgerRotateCommand,
  },
  {
    name: 'ledger serve',
    summary: 'serve the log over HTTP; with `--write`, accept entries of many repositories',
    description:
      'Checkpoint, tiles and entry bundles (C2SP tlog-tiles) on 127.0.0.1, to be read by monitors and witnesses. With `--write`, the shared ledger in `--directory` accepts entries with the tokens of `writ ledger token`; what is acknowledged is durable, and covered by a checkpoint that the quorum of `--policy` cosigned (docs/reference/ledger.md). Ctrl+C ends it with exit 0.',
    arguments: [],
    options: [
      { name: 'port', value: 'N', about: 'default any that is free; the address goes to stderr' },
      { name: 'write', group: 'Shared ledger', about: 'accept entries (`POST /add`)' },
      { ...sharedDirectory, group: 'Shared ledger' },
      {
        name: 'policy',
        value: 'FILE',
        group: 'Shared ledger',
        about: 'witnesses with their URLs, and a quorum (C2SP tlog-policy); without it, the log signs alone',
      },
      {
        name: 'origin',
        value: 'NAME',
        group: 'Shared ledger',
        about: 'name of a log that is made; default a random one',
      },
      {
        name: 'host',
        value: 'ADDRESS',
        group: 'Shared ledger',
        about: 'default 127.0.0.1; any other address needs TLS',
      },
      { name: 'tls-cert', value: 'FILE', group: 'Shared ledger', about: 'certificate chain (PEM)' },
      { name: 'tls-key', value: 'FILE', group: 'Shared ledger', about: 'its private key (PEM)' },
    ],
    examples: [
      { line: 'writ ledger serve --port 8080', about: 'then `curl 127.0.0.1:8080/checkpoint`' },
      {
        line: 'writ ledger serve --write --directory /srv/ledger --policy witnesses.txt --port 8080',
        about: 'one ledger for many repositories, behind a proxy with TLS',
      },
    ],
    load: () => loadLean(async () => (await import('../commands/ledger.ts')).ledgerServeCommand),
  },
  {
    name: 'ledger token',
    summary: 'give a repository a token for a shared ledger, take it away, list them',
    description:
      'The token goes to stdout once; the server keeps its digest. Entries bear the name of the token that sent them. A running server sees the change at once.',
    arguments: [
      { name: 'ACTION', about: '`add`, `remove` or `list`' },
      { name: 'NAME', about: 'of the repository: lower-case letters, digits, `.`, `_`, `-`', optional: true },
    ],
    options: [
      sharedDirectory,
      { name: 'rate', value: 'N', about: 'entries a minute; default 600' },
      { name: 'max-bytes', value: 'N', about: 'longest entry in octets; default 16384, at most 65535' },
    ],
    examples: [
      {
        line: 'writ ledger token add web-shop --directory /srv/ledger',
        about: 'hand it on; there, `writ vault set WRIT_LEDGER_TOKEN` reads it',
      },
      { line: 'writ ledger token list --directory /srv/ledger', about: 'names and limits' },
    ],
    load: async () => (await import('../commands/shared-ledger.ts')).ledgerTokenCommand,
  },
  {
    name: 'ledger backup',
    summary: 'bring a copy of a log up to date, and recompute the whole copy',
    description:
      'Reads only what the copy lacks. The copy is a whole log again: it can be served, audited and restored. A log that does not continue the copy is refused, and the copy stays as it is. Key and tokens of the server are not in it.',
    arguments: [
      { name: 'FROM', about: 'a directory with `checkpoint` and `tile/`, or the URL below which they are' },
      { name: 'TO', about: 'directory of the copy' },
    ],
    options: [vkey],
    examples: [
      {
        line: 'writ ledger backup https://ledger.example.org/ /mnt/backup --vkey log.vkey',
        about: 'also while entries arrive',
      },
    ],
    load: async () => (await import('../commands/shared-ledger.ts')).ledgerBackupCommand,
  },
  {
    name: 'ledger restore',
    summary: 'put a shared ledger back from a backup, if it lacks nothing that was seen',
    description:
      'The backup is recomputed, and compared with every checkpoint that is known: yours, `--known`, the ones in the directory, and what the witnesses of `--policy` have seen. If one of them is not contained in it, the missing entries are named and nothing is written (`LEDGER_INCOMPLETE`): a server that went on from there would fork the log.',
    arguments: [{ name: 'BACKUP', about: 'directory or URL of the copy' }],
    options: [
      sharedDirectory,
      vkey,
      {
        name: 'known',
        value: 'FILE',
        repeatable: true,
        about: 'a checkpoint or tlog-proof that somebody has of this log',
      },
      { name: 'policy', value: 'FILE', about: 'witnesses with their URLs (C2SP tlog-policy)' },
    ],
    examples: [
      {
        line: 'writ ledger restore /mnt/backup --directory /srv/ledger --policy witnesses.txt',
        about: 'before the server starts again',
      },
    ],
    load: async () => (await import('../commands/shared-ledger.ts')).ledgerRestoreCommand,
  },
  {
    name: 'ledger migrate',
    summary: 'append the entries of this repository’s ledger to a shared one, with a proof',
    description:
      'Entries that are there are not appended again, so it can be repeated. Each is proven against one checkpoint of the shared ledger, from its files. The old ledger stays: its proofs are verified with its key.',
    arguments: [],
    options: [
      { name: 'server', value: 'URL', about: 'of the shared ledger; its token is `WRIT_LEDGER_TOKEN`' },
      { name: 'shared-vkey', value: 'VKEY', about: 'key of the shared ledger' },
      { name: 'policy', value: 'FILE', about: 'witnesses and a quorum (C2SP tlog-policy)' },
      vkey,
      output,
    ],
    examples: [
      {
        line: 'writ ledger migrate --server https://ledger.example.org --shared-vkey "$KEY" -o moved.json',
        about: 'where each entry is now, and both checkpoints',
      },
    ],
    load: async () => (await import('../commands/shared-ledger.ts')).ledgerMigrateCommand,
  },
];

/** Statements of one's own, and what those of others claim. */
export const attestCommands: readonly CommandSpec[] = [
  {
    name: 'attest sign',
    summary: 'sign an in-toto statement with your key',
    description:
      'The file is parsed strictly and signed as it is: in-toto Statement v1, at least one subject, each with a digest. Out comes a sigstore bundle v0.3 that is not logged. `writ verify` and any sigstore client read it.',
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
    load: async () => (await import('../commands/attest.ts')).attestSignCommand,
  },
  {
    name: 'attest show',
    summary: 'print what a bundle claims, unverified',
    description:
      'Sigstore bundles, DSSE envelopes, lines of those, tlog-proofs and exported evidence. Everything shown is a claim of its author; `writ verify` verifies it.',
    arguments: [{ name: 'FILE', about: 'the file; `-` is stdin' }],
    options: [],
    examples: [
      { line: 'writ attest show app.sigstore.json', about: 'signer, types, subjects' },
      { line: 'writ --json attest show evidence.json', about: 'with the predicates in full' },
    ],
    load: async () => (await import('../commands/attest.ts')).attestShowCommand,
  },
];

/** The local notification bus. */
export const serviceCommands: readonly CommandSpec[] = [
  {
    name: 'service run',
    summary: 'serve notifications and dirty marks of this repository on the loopback',
    description:
      'In the foreground, one per repository (its work trees share it), never reachable from another machine. Address in `.writ/service/service.json`, token for the header `X-Svc-Service-Token` in `.writ/service/service-token`. Ctrl+C or SIGTERM ends it with exit 0. Endpoints and events: docs/reference/service.md.',
    arguments: [],
    options: [
      {
        name: 'host',
        value: 'LOOPBACK-IP',
        about: 'a literal address: 127.0.0.0/8 (default 127.0.0.1) or ::1',
      },
      { name: 'port', value: 'PORT', about: 'default 0: any that is free' },
    ],
    examples: [
      { line: 'writ service run', about: 'on a free port; `writ service status` prints which' },
      { line: 'writ service run --host ::1 --port 7420', about: 'IPv6, always the same port' },
    ],
    streams: true,
    load: () => loadLean(async () => (await import('../commands/service.ts')).serviceRunCommand),
  },
  {
    name: 'service status',
    summary: 'the running instance: process, address, health',
    description:
      'Exit 1 where none runs; `stale` is one that was killed, which the next start cleans up after.',
    arguments: [],
    options: [],
    examples: [
      { line: 'writ service status', about: 'for people' },
      { line: 'writ service status --json', about: '`data.base_url` is the address' },
    ],
    load: async () => (await import('../commands/service.ts')).serviceStatusCommand,
  },
  {
    name: 'service events',
    summary: 'follow the events: dirty marks, notifications, the progress of runs',
    description:
      'One line per event, or NDJSON with `--json`, until the service ends. Delivery is at most once; a `resync` event says that some were missed.',
    arguments: [],
    options: [],
    examples: [
      { line: 'writ service events', about: 'watch a `writ run` from another terminal' },
      { line: 'writ service events --json', about: '`{seq, type, at, data}` per line, for a script' },
    ],
    streams: true,
    load: async () => (await import('../commands/service.ts')).serviceEventsCommand,
  },
  {
    name: 'service dirty',
    summary: 'list the paths that were marked dirty, or clear them',
    description: 'Works whether the service runs or not. What `--clear` shows is exactly what it took away.',
    arguments: [],
    options: [{ name: 'clear', about: 'take the marks away' }],
    examples: [
      { line: 'writ service dirty', about: 'one path per line' },
      { line: 'writ service dirty --clear --json', about: 'hand them to a script, once' },
    ],
    load: async () => (await import('../commands/service.ts')).serviceDirtyCommand,
  },
];
