/* The commands of verification, upkeep and what helps to find one's way. */
import { type CommandSpec, loadLean } from '../command-parts/command.ts';
import { demandOptions, remote, run, trustOptions } from './contract-commands.ts';

/** About the option `--root` of `writ trust`. */
const keptRoot = 'the trusted root; default: `~/.config/writ/trust/trusted_root.json`';

export const otherCommands: readonly CommandSpec[] = [
  {
    name: 'verify',
    summary: 'verify sealed commits, runs and signed attestations, offline',
    description:
      'Exit 0: every claim is true. Exit 1: a claim is false. Exit 3: nothing could be verified, or you do not trust the signer; writ then prints the id of the key. Name a file by a path (`./NAME`) or with its ending (`NAME.json`): exported evidence, a sigstore bundle, a DSSE envelope or a tlog-proof. A name with several meanings, such as a tag and a branch, is refused (exit 129). `writ help verifying` explains each check.',
    arguments: [
      { name: 'TARGET', about: 'commits, ranges `A..B`, run ids, or files; `-` is stdin', variadic: true },
    ],
    options: [
      ...trustOptions,
      {
        name: 'artifact',
        value: 'FILE|sha256:…|sha512-…',
        repeatable: true,
        about: 'require that the attestation or run is about this file or digest',
      },
      {
        name: 'subject-commit',
        value: 'COMMIT',
        about:
          'require that every target is about this commit; default for a bundle: the commit that is checked out',
      },
      { name: 'spec', value: 'FILE', about: 'require that the run followed exactly this spec' },
      {
        name: 'type',
        value: 'URI',
        repeatable: true,
        about: 'require this type of attestation; default: the types in `writ help verifying`',
      },
      {
        name: 'verifier-id',
        value: 'URI',
        about: 'require that a verification summary (VSA) is by this verifier',
      },
      {
        name: 'resource-uri',
        value: 'URI',
        about: 'require that a verification summary is about this resource',
      },
      {
        name: 'level',
        value: 'LEVEL',
        repeatable: true,
        about: 'require that a verification summary claims this SLSA level or a higher one',
      },
      ...demandOptions,
      {
        name: 'replay',
        about: 'compute the decision again from the stored inputs, and require the same bytes',
      },
      { name: 'commit', about: 'read every target as a commit' },
      { name: 'run', about: 'read every target as a run id' },
      { name: 'file', about: 'read every target as a file' },
      { name: 'explain', about: 'show each claim with its evidence, signer, log entry and rule' },
      { name: 'offline', about: 'no effect: verifying never uses the network' },
    ],
    examples: [
      { line: 'writ verify HEAD', about: 'the newest commit' },
      { line: 'writ verify main..HEAD', about: 'each commit of a branch, with one verdict for all' },
      { line: 'writ verify v1.0.0 --commit', about: 'the tag, even if a file has the same name' },
      {
        line: 'writ verify evidence.json --key signer.pem --allowed-signers people --replay',
        about: 'an exported run, without its repository',
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
      'Compares NEW with the kept trusted root, shows which authorities and logs were added, removed or ended, then replaces the kept root, or creates it. A root that drops every authority or log of a kind is refused (exit 1). writ uses no network and verifies no TUF signature, so get NEW from a source that you trust.',
    arguments: [{ name: 'NEW', about: 'trusted_root.json, or several roots, one on a line; `-` is stdin' }],
    options: [
      { name: 'root', value: 'FILE', about: keptRoot },
      { name: 'dry-run', about: 'show what would change, and write nothing' },
    ],
    examples: [
      {
        line: 'writ trust update new/trusted_root.json --root .writ/trust/root.json --dry-run',
        about: 'what a newer root changes',
      },
      {
        line: 'gh attestation trusted-root | writ trust update -',
        about: 'keep the roots of GitHub, fetched by another program',
      },
    ],
    load: async () => (await import('../commands/trust-update.ts')).run,
  },
  {
    name: 'trust show',
    summary: 'show the authorities and logs of your trusted root, and how old it is',
    arguments: [],
    options: [{ name: 'root', value: 'FILE', about: keptRoot }],
    examples: [{ line: 'writ trust show', about: 'whether it is time for `writ trust update`' }],
    load: async () => (await import('../commands/trust-update.ts')).show,
  },
  {
    name: 'scan',
    summary: 'look for secrets, `eval` and other faults in a change, without running checks',
    description:
      'Without FILE, `--patch` or `--range`, writ scans the changes that are not committed yet. writ applies the rules for direct execution, secrets and scope; with `--range` also the rules for new dependencies and licenses. The rules `new-tests`, `tests-kept` and `judge-changed` run only if `--rules` names them. A finding that only a spec can forbid is a warning. The settings come from `.writ/config.toml` at A of `--range A..B`, else at HEAD. Exit 1: an error was found, or a part could not be scanned.',
    arguments: [
      {
        name: 'FILE',
        about: 'files or directories; writ treats every line as added',
        optional: true,
        variadic: true,
      },
    ],
    options: [
      { name: 'patch', value: 'FILE', about: 'a git diff of any size; `-` is stdin' },
      { name: 'range', value: 'A..B', about: 'the changes on branch B since B branched off A' },
      {
        name: 'rules',
        value: 'R,…',
        repeatable: true,
        about: 'apply only these rules (`writ rules` lists all rules)',
      },
      { name: 'sarif', value: 'FILE', about: 'write the findings as SARIF 2.1.0, for GitHub code scanning' },
      {
        name: 'watch',
        about:
          'scan again after each edit, and print each result that differs from the previous result; with `--json` one line for each result',
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
    summary: 'import vulnerability advisories in OSV format, for lookups without a network',
    description:
      'FILE is a record, a list of records, NDJSON, or an export such as `all.zip`. writ adds the records to the advisories of this user: a newer record replaces an older one, and a withdrawn record is removed. If one record is invalid, writ imports nothing. Each run then reports vulnerable dependencies (`writ help sca`).',
    arguments: [{ name: 'FILE', about: 'OSV records in JSON, or a zip archive of them' }],
    options: [],
    examples: [
      { line: 'writ sca import all.zip', about: 'the export of one ecosystem' },
      { line: 'writ --json sca import ours.ndjson', about: 'your own advisories, in addition' },
    ],
    load: async () => (await import('../commands/scan.ts')).scaImportCommand,
  },
  {
    name: 'redact',
    summary: 'remove secrets and personal data from a text',
    description:
      'A run masks every artifact in the same way before it stores the artifact. Each value becomes `[redacted:<class>:<rule>]`; JSON and XML stay well formed. A summary goes to stderr. writ does not find names of persons or postal addresses, and does not read pictures or archives.',
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
      { line: 'writ redact < test.log > clean.log', about: 'the summary is on stderr' },
      { line: 'writ redact report.json --classes secrets,pii', about: 'two of the five classes' },
    ],
    load: async () => (await import('../commands/scan.ts')).redactCommand,
  },
  {
    name: 'push',
    summary: 'send runs, approvals and proofs to a remote',
    description:
      'If the remote has another record of a run, writ names the record and does not send it; all other records are sent. Runs that ended as refused are not sent without `--all`.',
    arguments: [remote],
    options: [{ name: 'all', about: 'send refused runs too' }],
    examples: [
      { line: 'writ push origin', about: 'so that others can approve or verify' },
      { line: 'writ push --all', about: 'including refused runs' },
    ],
    load: async () => (await import('../commands/upkeep.ts')).pushCommand,
  },
  {
    name: 'fetch',
    summary: 'get runs, approvals and proofs from a remote',
    description:
      'If this clone and the remote have different records of a run, your record stays in use. writ stores the record of the remote beside your record, and prints its name. `--ours` and `--theirs` choose one of the two records, without the network.',
    arguments: [remote],
    options: [
      {
        name: 'ours',
        value: 'RUN',
        about: 'use your record of the run; the next push sends it to the remote',
      },
      { name: 'theirs', value: 'RUN', about: 'use the record of the remote instead of yours' },
    ],
    examples: [
      { line: 'writ fetch', about: 'from `origin`, or the only remote' },
      { line: 'writ fetch --theirs 0198c1e2', about: 'use the result of the other clone' },
    ],
    load: async () => (await import('../commands/upkeep.ts')).fetchCommand,
  },
  {
    name: 'replay',
    summary: 'compute the decision of a run again from its stored inputs',
    arguments: [run],
    options: [],
    examples: [
      {
        line: 'writ replay 0198c1e2',
        about: 'prints that both decisions are equal, or the first input that differs',
      },
    ],
    load: () => loadLean(async () => (await import('../commands/upkeep.ts')).replayCommand),
  },
  {
    name: 'gc',
    summary: 'delete data whose retention time is over, and leftovers of ended runs',
    arguments: [],
    options: [{ name: 'dry-run', about: 'show what would be deleted, and delete nothing' }],
    examples: [{ line: 'writ gc --dry-run', about: 'what would be deleted' }],
    load: async () => (await import('../commands/upkeep.ts')).gcCommand,
  },
  {
    name: 'fsck',
    summary: 'check stored objects, journals and the ledger for damage',
    arguments: [],
    options: [
      { name: 'rebuild', about: 'restore damaged parts that writ can compute from undamaged ones' },
      { name: 'content', about: 'also read content in object storage, and compare its digest' },
    ],
    examples: [
      { line: 'writ fsck', about: 'exit 0 if nothing stored is damaged; `writ verify` checks signatures' },
    ],
    load: async () => (await import('../commands/upkeep.ts')).fsckCommand,
  },
  {
    name: 'schema',
    summary: 'print the JSON Schema of the member `data` that a command prints with `--json`',
    arguments: [{ name: 'COMMAND', about: 'the command, in one or two words', variadic: true }],
    options: [
      { name: 'events', about: 'the schema of the lines that `--events` prints (`run`, `seal`, `resume`)' },
    ],
    examples: [
      { line: 'writ schema run', about: 'shape of `writ --json run`' },
      { line: 'writ schema spec validate', about: 'a command of two words' },
    ],
    load: async () => (await import('../commands/spec.ts')).schemaCommand,
  },
  {
    name: 'doctor',
    summary: 'show what works on this machine: git, sandbox, keys, models',
    arguments: [],
    options: [],
    examples: [{ line: 'writ doctor', about: 'run this first if a command fails' }],
    load: async () => (await import('../commands/init.ts')).doctorCommand,
  },
  {
    name: 'demo',
    summary: 'try writ on a sample repository, offline: a change, two approvals, a seal, a verification',
    arguments: [],
    options: [
      { name: 'out', value: 'DIR', about: 'keep the sample repository here' },
      {
        name: 'session',
        about: 'show a session of `writ code` instead: request, draft, plan, repair, commit',
      },
      { name: 'watch', about: 'show the session of `--session` on this terminal, at reading speed' },
      {
        name: 'prepare',
        about:
          'only create the sample repository and the recorded model, so that you can try the session yourself',
      },
    ],
    examples: [
      { line: 'writ demo --out /tmp/writ-demo', about: 'under a minute' },
      { line: 'writ demo --session', about: 'one session with recorded answers' },
      { line: 'writ demo --watch', about: 'the same session, on the screen' },
      { line: 'writ demo --prepare --out try-writ', about: 'then try the session yourself, without a key' },
    ],
    load: () => loadLean(async () => (await import('../commands/demo.ts')).run),
  },
];
