/* Declares the commands of vault, ledger, attestations and service. */
import { type ArgumentSpec, type CommandSpec, loadLean, type OptionSpec } from '../command-parts/command.ts';

const name: ArgumentSpec = {
  name: 'NAME',
  about: 'name of its environment variable, such as `OPENAI_API_KEY`',
};
const everywhere: OptionSpec = {
  name: 'global',
  about: 'use the vault of this user for all repositories, instead of the vault of this repository',
};

/** Secrets of providers and checks. */
export const vaultCommands: readonly CommandSpec[] = [
  {
    name: 'vault set',
    summary: 'store a secret, encrypted; its value is read from stdin',
    description:
      'writ removes one line end after the value, and never prints a value. For keys of models, writ looks in `--env-file`, the vault of the repository, the global vault, and the environment, in this order (`writ help vault`).',
    arguments: [name],
    hidesUnexpected: true,
    options: [
      everywhere,
      {
        name: 'scope',
        value: 'SCOPE',
        repeatable: true,
        about:
          'checks get the secret if `security.secrets.allowedScopes` of the spec names this scope; without a scope, no check gets the secret',
      },
    ],
    examples: [
      { line: 'pass show openai | writ vault set OPENAI_API_KEY --global', about: 'for every repository' },
      { line: 'writ vault set NPM_TOKEN < token.txt', about: 'for this repository only' },
      {
        line: 'writ vault set NPM_TOKEN --scope npm:read < token.txt',
        about: 'checks get it as `$NPM_TOKEN` where the spec allows `npm:read`',
      },
    ],
    load: async () => (await import('../commands/vault.ts')).vaultSetCommand,
  },
  {
    name: 'vault list',
    summary: 'list the names of stored secrets',
    arguments: [],
    options: [everywhere],
    examples: [
      {
        line: 'writ vault list',
        about: 'the names in the vault of this repository and in the vault of the user',
      },
    ],
    load: async () => (await import('../commands/vault.ts')).vaultListCommand,
  },
  {
    name: 'vault rm',
    summary: 'delete a secret',
    arguments: [name],
    options: [everywhere],
    examples: [{ line: 'writ vault rm NPM_TOKEN', about: 'from the vault of this repository' }],
    load: async () => (await import('../commands/vault.ts')).vaultRmCommand,
  },
];

const vkey: OptionSpec = {
  name: 'vkey',
  value: 'VKEY',
  repeatable: true,
  about:
    'trust this public key of a log (C2SP signed-note form), or the key in this file; default: the keys in `~/.config/writ/trust/*.vkey`, then your own log key',
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
  about: 'directory in which the server keeps the shared ledger; `DIR/log` holds the public files',
};

/** The transparency log of a repository, and the one that many share. */
export const ledgerCommands: readonly CommandSpec[] = [
  {
    name: 'ledger show',
    summary: 'show the ledger (the log of sealed changes) of this repository: size, root hash, key',
    arguments: [],
    options: [vkey],
    examples: [
      {
        line: 'writ ledger show',
        about: 'the printed key is the one that verifiers trust with `--ledger-key`',
      },
    ],
    load: async () => (await import('../commands/ledger.ts')).ledgerShowCommand,
  },
  {
    name: 'ledger prove',
    summary: 'prove that the log contains an entry',
    description:
      'Prints a C2SP tlog-proof: the number of the entry, the hashes that lead to the root, and the signed state of the log with the signatures of its witnesses. The entry is in the `extra` line. writ prints only a proof that it has verified.',
    arguments: [{ name: 'N', about: 'number of the entry, from 0' }],
    options: [output, vkey],
    examples: [
      { line: 'writ ledger prove 0', about: 'the first entry' },
      { line: 'writ ledger prove 41 -o entry.tlog-proof', about: 'write it to a file' },
    ],
    load: async () => (await import('../commands/ledger.ts')).ledgerProveCommand,
  },
  {
    name: 'ledger consistency',
    summary: 'prove that the log only grew from A entries to B entries, without other changes',
    description:
      'Prints the proof (RFC 6962) in base64, one hash on each line. writ verifies the proof against the newest signed state of the log, and against states of these sizes that you have seen.',
    arguments: [
      { name: 'A', about: 'the earlier size of the log, in entries' },
      { name: 'B', about: 'the later size, at most the current size' },
    ],
    options: [vkey],
    examples: [
      {
        line: 'writ ledger consistency 10 42',
        about: 'proves that between 10 and 42 entries nothing was removed or changed',
      },
    ],
    load: async () => (await import('../commands/ledger.ts')).ledgerConsistencyCommand,
  },
  {
    name: 'ledger audit',
    summary: 'compute a whole log again from its entries, and verify its signatures',
    description:
      'Works on any log in the form C2SP tlog-tiles. Exit 0: the newest state is signed by the key of the log, contains every state that you have seen, and is also signed by enough witnesses if `--policy` names them. Exit 3: there is nothing to verify, or no trusted key.',
    arguments: [
      {
        name: 'DIR',
        about:
          'directory or URL of the log, which has the file `checkpoint` (the signed state) and `tile/` (the entries)',
      },
    ],
    options: [
      vkey,
      {
        name: 'policy',
        value: 'FILE',
        about:
          'file with logs, witnesses and the number of witnesses that must sign (C2SP tlog-policy); without it, none must sign',
      },
      {
        name: 'follow',
        about:
          'keep auditing new entries until Ctrl+C; exit 1 if the log has a second history, loses entries, or lacks signatures of witnesses',
      },
      { name: 'interval', value: 'SECONDS', about: 'pause of `--follow` between two audits; default 10' },
    ],
    streams: 'follow',
    examples: [
      { line: 'writ ledger audit .git/writ/ledger', about: 'your own ledger' },
      {
        line: 'writ ledger audit /mnt/copy --vkey log.vkey --policy witnesses.txt',
        about: 'a ledger of someone else',
      },
      {
        line: 'writ ledger audit https://ledger.example.org/ --vkey log.vkey --follow',
        about: 'watch a shared ledger: one line for each new batch of entries',
      },
    ],
    load: async () => (await import('../commands/ledger.ts')).ledgerAuditCommand,
  },
  {
    name: 'ledger export-trusted-root',
    summary: 'write the sigstore trusted root with which other sigstore clients verify the log proofs',
    arguments: [],
    options: [output, vkey],
    examples: [
      { line: 'writ ledger export-trusted-root -o trusted_root.json', about: 'for `@sigstore/verify`' },
    ],
    load: async () => (await import('../commands/ledger.ts')).ledgerExportTrustedRootCommand,
  },
  {
    name: 'ledger rotate',
    summary: 'replace the key that signs the ledger; entries and name of the log stay',
    description:
      'If your ledger key signed the newest state, writ stores the old key and creates a new one. Otherwise the key in use replaces an earlier key of yours, whose private half is not needed (`writ help keys`). Give the new key to the people who verify. Older proofs still need the old key.',
    arguments: [],
    options: [],
    examples: [{ line: 'writ ledger rotate', about: 'prints the new key and the old one' }],
    load: async () => (await import('../commands/ledger.ts')).ledgerRotateCommand,
  },
  {
    name: 'ledger serve',
    summary: 'serve the log over HTTP; with `--write`, accept entries of many repositories',
    description:
      'Serves the files of the log (C2SP tlog-tiles) on 127.0.0.1, for monitors and witnesses (servers that compare all states of the log, and sign them too). With `--write`, the shared ledger in `--directory` accepts entries from clients with a token (`writ ledger token`). The server confirms an entry to its client when the entry is on disk and the witnesses of `--policy` have signed (`writ help ledger`). Ctrl+C ends the server with exit 0.',
    arguments: [],
    options: [
      {
        name: 'port',
        value: 'N',
        about: 'port of the server; default: any free port; writ prints the address on stderr',
      },
      { name: 'write', group: 'Shared ledger', about: 'accept entries (`POST /add`)' },
      { ...sharedDirectory, group: 'Shared ledger' },
      {
        name: 'policy',
        value: 'FILE',
        group: 'Shared ledger',
        about:
          'file with witnesses, their URLs, and the number of witnesses that must sign (C2SP tlog-policy); without it, only the log signs',
      },
      {
        name: 'origin',
        value: 'NAME',
        group: 'Shared ledger',
        about: 'name of a new log; default: a random name',
      },
      {
        name: 'host',
        value: 'ADDRESS',
        group: 'Shared ledger',
        about: 'address of the server; default 127.0.0.1; any other address needs TLS',
      },
      { name: 'tls-cert', value: 'FILE', group: 'Shared ledger', about: 'certificate chain (PEM)' },
      {
        name: 'tls-key',
        value: 'FILE',
        group: 'Shared ledger',
        about: 'private key of the certificate (PEM)',
      },
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
    summary: 'add, remove or list the tokens of repositories for a shared ledger',
    description:
      'The token is printed once; the server stores only its digest. Each entry names the token that sent it. A running server uses the change at once.',
    arguments: [
      { name: 'ACTION', about: '`add`, `remove` or `list`' },
      {
        name: 'NAME',
        about: 'name of the repository: lower-case letters, digits, `.`, `_`, `-`',
        optional: true,
      },
    ],
    options: [
      sharedDirectory,
      {
        name: 'rate',
        value: 'N',
        about: 'how many entries the repository may send in a minute; default 600',
      },
      {
        name: 'max-bytes',
        value: 'N',
        about: 'size of the longest allowed entry in bytes; default 16384, at most 65535',
      },
    ],
    examples: [
      {
        line: 'writ ledger token add web-shop --directory /srv/ledger',
        about: 'store it in that repository with `writ vault set WRIT_LEDGER_TOKEN`',
      },
      { line: 'writ ledger token list --directory /srv/ledger', about: 'names and limits' },
    ],
    load: async () => (await import('../commands/shared-ledger.ts')).ledgerTokenCommand,
  },
  {
    name: 'ledger backup',
    summary: 'update a copy of a ledger, and verify the whole copy',
    description:
      'Reads only entries that the copy lacks. You can serve, audit and restore the copy. A log that does not continue the copy is refused, and the copy stays as it is. The copy holds no key and no tokens of the server.',
    arguments: [
      {
        name: 'FROM',
        about:
          'directory or URL of the ledger, which has the file `checkpoint` (the signed state) and `tile/` (the entries)',
      },
      { name: 'TO', about: 'directory of the copy' },
    ],
    options: [vkey],
    examples: [
      {
        line: 'writ ledger backup https://ledger.example.org/ /mnt/backup --vkey log.vkey',
        about: 'works while the server accepts entries',
      },
    ],
    load: async () => (await import('../commands/shared-ledger.ts')).ledgerBackupCommand,
  },
  {
    name: 'ledger restore',
    summary: 'restore a shared ledger from a complete backup',
    description:
      'writ compares the backup with every known state of the log: the states that you have seen, `--known`, the states in the directory, and the states of the witnesses in `--policy`. If the backup lacks entries of one of them, writ names the entries and writes nothing (`LEDGER_INCOMPLETE`), because the server would otherwise fork the log.',
    arguments: [{ name: 'BACKUP', about: 'directory or URL of the copy' }],
    options: [
      sharedDirectory,
      vkey,
      {
        name: 'known',
        value: 'FILE',
        repeatable: true,
        about: 'file with a signed state (checkpoint) or a tlog-proof of this log',
      },
      { name: 'policy', value: 'FILE', about: 'file with witnesses and their URLs (C2SP tlog-policy)' },
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
      'You can repeat the command: entries are not appended twice. writ proves that the shared ledger contains each entry. The old ledger stays, and its proofs are still verified with its key.',
    arguments: [],
    options: [
      {
        name: 'server',
        value: 'URL',
        about: 'address of the shared ledger; its token is in `WRIT_LEDGER_TOKEN`',
      },
      { name: 'shared-vkey', value: 'VKEY', about: 'public key of the shared ledger' },
      {
        name: 'policy',
        value: 'FILE',
        about: 'file with witnesses and the number of witnesses that must sign (C2SP tlog-policy)',
      },
      vkey,
      output,
    ],
    examples: [
      {
        line: 'writ ledger migrate --server https://ledger.example.org --shared-vkey "$KEY" -o moved.json',
        about: 'writes the new place of each entry',
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
      'FILE is an in-toto Statement v1 with at least one subject, each with a digest. writ signs it unchanged and writes a sigstore bundle v0.3, without a log entry. `writ verify` and other sigstore clients can verify it.',
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
      {
        line: 'writ attest sign statement.json -o app.sigstore.json',
        about: 'a bundle that others can verify',
      },
    ],
    load: async () => (await import('../commands/attest.ts')).attestSignCommand,
  },
  {
    name: 'attest show',
    summary: 'print the content of a signed bundle, without verifying it',
    description:
      'Reads sigstore bundles, DSSE envelopes, tlog-proofs and exported evidence. The content is a claim of its author; `writ verify` verifies it.',
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
    summary:
      'serve events to programs on this machine: progress of runs, and files that programs marked as changed',
    description:
      'Runs in the foreground, once for each repository and its working trees. Other machines cannot reach the service. Its address is in `.writ/service/service.json`, its token in `.writ/service/service-token`. Ctrl+C or SIGTERM ends the service with exit 0. `writ help service` describes endpoints and events.',
    arguments: [],
    options: [
      {
        name: 'host',
        value: 'LOOPBACK-IP',
        about: 'address of the service: in 127.0.0.0/8 (default 127.0.0.1), or ::1',
      },
      { name: 'port', value: 'PORT', about: 'port of the service; default 0: any free port' },
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
    summary: 'show the running service: process, address, health',
    description:
      'Exit 1 if no service runs. `stale` means that the service was killed; the next start cleans up.',
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
    summary: 'print events as they happen: files marked as changed, notifications, progress of runs',
    description:
      'Prints one line for each event (NDJSON with `--json`) until the service ends. No event comes twice; the event `resync` means that some events were lost.',
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
    summary: 'list the files that programs marked as changed (dirty), or clear the marks',
    description: 'Works without a running service too. `--clear` prints exactly the marks that it removes.',
    arguments: [],
    options: [{ name: 'clear', about: 'remove the marks' }],
    examples: [
      { line: 'writ service dirty', about: 'one path per line' },
      { line: 'writ service dirty --clear --json', about: 'for a script that handles each mark once' },
    ],
    load: async () => (await import('../commands/service.ts')).serviceDirtyCommand,
  },
];
