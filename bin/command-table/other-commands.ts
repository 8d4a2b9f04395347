import { type CommandSpec, loadLean } from '../command-parts/command.ts';
import { remote, run } from './contract-commands.ts';

/** Verification, upkeep and what helps to find one's way. */
export const otherCommands: readonly CommandSpec[] = [
  {
    name: 'verify',
    summary: 'verify commits, runs, and attestations of anybody, offline',
    description:
      'Exit 0: every claim holds. Exit 1: a claim is refuted. Exit 3: nothing could be verified, or the signer is not trusted here; the key id to pin is printed. A file (exported evidence, a sigstore bundle, a DSSE envelope, lines of those, a tlog-proof) is one by its path (`./NAME`) or its ending (`NAME.json`). A target that is several things here, a file and a ref, a tag and a branch, the beginning of a run and of a commit, is refused with all of them (exit 129). All of it is explained in docs/reference/verifying.md.',
    arguments: [
      { name: 'TARGET', about: 'commits, ranges `A..B`, run ids, or files; `-` is stdin', variadic: true },
    ],
    options: [
      { name: 'key', value: 'FILE', repeatable: true, about: 'trust the public keys of this file (PEM)' },
      {
        name: 'identity',
        value: 'NAME',
        about: 'whose certificate signed: an e-mail address or a URI, compared literally',
      },
      { name: 'issuer', value: 'URL', about: 'who vouched for that identity, compared literally' },
      {
        name: 'source-repository',
        value: 'URI',
        about:
          'demand that the certificate names this source repository, such as https://github.com/OWNER/NAME',
      },
      {
        name: 'source-ref',
        value: 'REF',
        about: 'demand that the certificate names this ref of it, such as refs/tags/v1.0.0',
      },
      {
        name: 'trusted-root',
        value: 'FILE',
        about:
          'trust the authorities and logs of this sigstore trusted root (JSON, or several, one on a line)',
      },
      {
        name: 'ledger-key',
        value: 'VKEY',
        repeatable: true,
        about: 'trust this log key (signed-note verifier key), or a file that holds it',
      },
      {
        name: 'allowed-signers',
        value: 'FILE',
        about:
          'verify the approvals by these signers (OpenSSH allowed_signers) instead of those of the repository',
      },
      {
        name: 'artifact',
        value: 'FILE|sha256:…|sha512-…',
        repeatable: true,
        about: 'what it must be about: subject of an attestation, subject or evidence of a run',
      },
      {
        name: 'subject-commit',
        value: 'COMMIT',
        about: 'demand that every target is about this commit; default for a bundle: the commit checked out',
      },
      { name: 'spec', value: 'FILE', about: 'demand that this very contract was followed' },
      {
        name: 'type',
        value: 'URI',
        repeatable: true,
        about: 'demand this predicate type; default those that docs/reference/verifying.md names',
      },
      {
        name: 'verifier-id',
        value: 'URI',
        about: 'demand that a verification summary (VSA) is by this verifier',
      },
      { name: 'resource-uri', value: 'URI', about: 'demand that a verification summary is about this' },
      {
        name: 'level',
        value: 'LEVEL',
        repeatable: true,
        about: 'demand that a verification summary claims this level, or a higher one of its track',
      },
      {
        name: 'policy',
        value: 'BRANCH',
        about: 'require that the policy of a commit of this branch of yours evaluated it',
      },
      {
        name: 'require',
        value: 'WORDS',
        repeatable: true,
        about: 'what was not verified is an error: `approvals`, `log`, `replay`, separated by commas',
      },
      { name: 'replay', about: 'decide again from the stored inputs, and demand the same bytes' },
      { name: 'commit', about: 'every target is a commit, whatever else has that name' },
      { name: 'run', about: 'every target is a run' },
      { name: 'file', about: 'every target is a file' },
      { name: 'explain', about: 'each claim with its evidence, signer, log entry and rule' },
      { name: 'offline', about: 'as always: verifying never uses a network' },
    ],
    examples: [
      { line: 'writ verify HEAD', about: 'the commit just sealed' },
      { line: 'writ verify main..HEAD', about: 'each commit of a branch, with one verdict in total' },
      { line: 'writ verify v1.0.0 --commit', about: 'the tag, even where a file is called so' },
      {
        line: 'writ verify evidence.json --key signer.pem --allowed-signers people --replay',
        about: 'a run handed over in one file, outside of its repository',
      },
      {
        line: 'writ verify app.sigstore.json --artifact app.tgz --trusted-root root.json --identity ci@example.org --issuer https://accounts.example.org',
        about: 'any sigstore bundle by a certificate',
      },
      {
        line: 'writ verify 4f2e1a9 --key signer.pem',
        about: 'on another machine, with the key obtained from the signer',
      },
    ],
    load: async () => (await import('../commands/verify.ts')).run,
  },
  {
    name: 'trust update',
    summary: 'replace a sigstore trusted root by a newer one, and show what changed',
    description:
      'Compares NEW, which you obtained elsewhere, with the trusted root in FILE: which authorities and logs were added, removed or ended, since when each is trusted, and how old the newest is. Then FILE is replaced as a whole; a FILE that does not exist is created. A root that keeps none of the authorities or logs of a kind is refused (exit 1). No network is used, and no signature of TUF is verified: get NEW by a way that you trust.',
    arguments: [{ name: 'NEW', about: 'trusted_root.json, or several roots, one on a line; `-` is stdin' }],
    options: [
      { name: 'root', value: 'FILE', about: 'the trusted root that is kept (`verify --trusted-root`)' },
      { name: 'dry-run', about: 'show what would change, and write nothing' },
    ],
    examples: [
      {
        line: 'writ trust update new/trusted_root.json --root .writ/trust/root.json --dry-run',
        about: 'what a newer root changes',
      },
      {
        line: 'gh attestation trusted-root | writ trust update - --root trusted_root.jsonl',
        about: 'the roots of GitHub, fetched by another program',
      },
    ],
    load: async () => (await import('../commands/trust-update.ts')).run,
  },
  {
    name: 'scan',
    summary: 'evaluate a change with the diff rules alone',
    description:
      'Direct execution, secrets, scope; with a range also new dependencies and licenses, which compare whole files, and where `--rules` names them whether a test was added (`new-tests`) and whether tests went or stopped asserting (`tests-kept`), and which verification inputs changed (`judge-changed`). Without any source: what is not committed yet. What only a contract can forbid is a warning unless `--rules` names it. Options of rules are those of `.writ/config.toml` where the change would go: at A of `--range A..B`, else at HEAD. Exit 1: an error was found, or something could not be scanned.',
    arguments: [
      {
        name: 'FILE',
        about: 'files or directories, every line counting as added',
        optional: true,
        variadic: true,
      },
    ],
    options: [
      { name: 'patch', value: 'FILE', about: 'a git diff of any size; `-` is stdin' },
      { name: 'range', value: 'A..B', about: 'what B changes since it left A' },
      { name: 'rules', value: 'R,…', repeatable: true, about: 'ask these rules only' },
      { name: 'sarif', value: 'FILE', about: 'write SARIF 2.1.0, as GitHub code scanning takes it' },
      {
        name: 'watch',
        about:
          'scan what is not committed yet after each change of it, and print each result that differs from the last one; with `--json` a line for each',
      },
    ],
    streams: 'watch',
    examples: [
      { line: 'writ scan', about: 'before a commit' },
      { line: 'writ scan --watch', about: 'while you work' },
      { line: 'writ scan --range origin/main..HEAD --sarif scan.sarif', about: 'in CI' },
      { line: 'git diff --cached | writ scan --patch - --rules secrets', about: 'in a hook' },
    ],
    load: () => loadLean(async () => (await import('../commands/scan.ts')).scanCommand),
  },
  {
    name: 'sca import',
    summary: 'take in an advisory database of OSV, for lookups without a network',
    description:
      'A record, a list of records, NDJSON, or an export such as `all.zip`. Kept for this user, beside what is there; of two records with one id the later stays, withdrawn ones are taken out. All or nothing. A run makes `sca-report` from it (docs/reference/sca.md).',
    arguments: [{ name: 'FILE', about: 'OSV records in JSON, or a zip archive of them' }],
    options: [],
    examples: [
      { line: 'writ sca import all.zip', about: 'one ecosystem’s export, carried here by whatever way' },
      { line: 'writ --json sca import ours.ndjson', about: 'advisories of your own, beside the others' },
    ],
    load: async () => (await import('../commands/scan.ts')).scaImportCommand,
  },
  {
    name: 'redact',
    summary: 'remove secrets and personal data from a text',
    description:
      'What a run does to every artifact before it is written: each value becomes `[redacted:<class>:<rule>]`, JSON and XML stay well formed. The receipt goes to stderr. Names of persons, postal addresses, pictures and archives are not looked into.',
    arguments: [{ name: 'FILE', about: 'a file, or `-` for stdin', optional: true }],
    options: [
      {
        name: 'classes',
        value: 'C,…',
        repeatable: true,
        about: 'remove these classes only: internal, confidential, pii, phi, secrets',
      },
    ],
    examples: [
      { line: 'writ redact < test.log > clean.log', about: 'receipt on stderr' },
      { line: 'writ redact report.json --classes secrets,pii', about: 'two of the five classes' },
    ],
    load: async () => (await import('../commands/scan.ts')).redactCommand,
  },
  {
    name: 'push',
    summary: 'send runs, approvals and proofs to a remote',
    description:
      'Records only grow: one that diverged is refused by name, the others still move. Runs that were refused or abandoned are held back, and named.',
    arguments: [remote],
    options: [{ name: 'all', about: 'send refused and abandoned runs too' }],
    examples: [
      { line: 'writ push origin', about: 'so that others can approve or verify' },
      { line: 'writ push --all', about: 'refused and abandoned runs included' },
    ],
    load: async () => (await import('../commands/upkeep.ts')).pushCommand,
  },
  {
    name: 'fetch',
    summary: 'bring runs, approvals and proofs from a remote',
    description:
      'Of a run that was begun or resumed here, our record holds; one that changed elsewhere is kept beside it and named. --ours and --theirs say, without asking the remote, which of the two holds.',
    arguments: [remote],
    options: [
      {
        name: 'ours',
        value: 'RUN',
        about: 'our record of the run holds, for the remote too after the next push',
      },
      { name: 'theirs', value: 'RUN', about: "the remote's record of the run takes the place of ours" },
    ],
    examples: [
      { line: 'writ fetch', about: 'from the remote that this repository has' },
      { line: 'writ fetch --theirs 0198c1e2', about: 'what became of the run elsewhere holds here too' },
    ],
    load: async () => (await import('../commands/upkeep.ts')).fetchCommand,
  },
  {
    name: 'replay',
    summary: 'recompute a decision from its stored inputs',
    arguments: [run],
    options: [],
    examples: [{ line: 'writ replay 0198c1e2', about: 'byte-equal, or the first input that differs' }],
    load: () => loadLean(async () => (await import('../commands/upkeep.ts')).replayCommand),
  },
  {
    name: 'gc',
    summary: 'enforce retention, and clear what ended runs have left',
    arguments: [],
    options: [{ name: 'dry-run', about: 'say what would go, remove nothing' }],
    examples: [{ line: 'writ gc --dry-run', about: 'what is past its retention' }],
    load: async () => (await import('../commands/upkeep.ts')).gcCommand,
  },
  {
    name: 'fsck',
    summary: 'check objects, journals and the ledger, and say what rests on what is broken',
    arguments: [],
    options: [
      { name: 'rebuild', about: 'restore what can be derived from what is whole' },
      { name: 'content', about: 'read content that is in object storage, and compare its digest' },
    ],
    examples: [
      { line: 'writ fsck', about: 'exit 0 if nothing stored is damaged; `writ verify` checks signatures' },
    ],
    load: async () => (await import('../commands/upkeep.ts')).fsckCommand,
  },
  {
    name: 'schema',
    summary: 'print the JSON Schema of a command’s `data`',
    arguments: [{ name: 'COMMAND', about: 'the command, in one or two words', variadic: true }],
    options: [{ name: 'events', about: 'of a line that `--events` prints instead: `run`, `seal`, `resume`' }],
    examples: [
      { line: 'writ schema run', about: 'shape of `writ --json run`' },
      { line: 'writ schema spec validate', about: 'a command of two words' },
    ],
    load: async () => (await import('../commands/spec.ts')).schemaCommand,
  },
  {
    name: 'doctor',
    summary: 'say what works here: git, sandbox, keys',
    arguments: [],
    options: [],
    examples: [{ line: 'writ doctor', about: 'run this first when something is refused' }],
    load: async () => (await import('../commands/init.ts')).doctorCommand,
  },
  {
    name: 'demo',
    summary: 'a sample repository taken through the high-assurance chain and verified, offline',
    arguments: [],
    options: [
      { name: 'out', value: 'DIR', about: 'keep the sample repository here' },
      {
        name: 'session',
        about: 'a session of `writ code` instead: request, draft, plan, repair, commit, graph',
      },
      { name: 'watch', about: 'that session on the screen of this terminal, at a speed to read along' },
      {
        name: 'prepare',
        about: 'make the sample repository and the recorded model of that session, and change nothing',
      },
    ],
    examples: [
      { line: 'writ demo --out /tmp/writ-demo', about: 'under a minute' },
      { line: 'writ demo --session', about: 'one session, answered as a person would' },
      { line: 'writ demo --watch', about: 'the same, as its terminal shows it' },
      { line: 'writ demo --prepare --out try-writ', about: 'to open that session yourself, without a key' },
    ],
    load: () => loadLean(async () => (await import('../commands/demo.ts')).run),
  },
];
