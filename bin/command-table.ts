import type { ArgumentSpec, CommandSpec, OptionSpec } from './command.ts';

const spec: ArgumentSpec = { name: 'SPEC', about: 'an IntentSpec file; `-` is stdin' };
const specs: ArgumentSpec = { ...spec, about: 'IntentSpec files; `-` is stdin', variadic: true };
const intent: ArgumentSpec = {
  name: 'ID',
  about: 'the `metadata.id` of a recorded intent, or a specification file',
};
const run: ArgumentSpec = { name: 'RUN', about: 'a run id, or an unambiguous beginning of one' };
const sandbox: OptionSpec = {
  name: 'sandbox',
  value: 'NAME',
  choices: ['auto', 'bubblewrap', 'unshare', 'none'],
  about: 'sandbox back end; `none` is refused where the contract denies the network',
};

/** Every command, in the order of the help text. Data only: nothing of a command loads before it is asked for. */
export const commands: readonly CommandSpec[] = [
  {
    name: 'init',
    summary: 'create the state directory, a signing key and a ledger',
    description: 'Optional: every command makes what it needs of this on first use.',
    arguments: [],
    options: [],
    examples: [{ line: 'writ init', about: 'prepare the current repository' }],
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'spec new',
    summary: 'write a valid draft from the risk profile',
    arguments: [],
    options: [
      {
        name: 'risk',
        value: 'LEVEL',
        choices: ['low', 'medium', 'high'],
        about: 'risk profile that supplies the policy; default medium',
      },
      { name: 'summary', value: 'TEXT', about: 'the goal in one sentence, 5 to 256 characters' },
      {
        name: 'change-type',
        value: 'TYPE',
        choices: ['bugfix', 'feature', 'refactor', 'performance', 'security', 'docs', 'chore', 'unknown'],
        about: 'kind of change',
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
        line: 'writ spec new --risk low --change-type bugfix -o intent.json',
        about: 'a draft for a small fix, ready to edit',
      },
      { line: 'writ spec new --summary "Reject expired tokens" > intent.json', about: 'the draft on stdout' },
    ],
    load: () => import('./commands/spec-new.ts'),
  },
  {
    name: 'spec validate',
    summary: 'check files against the schema and the semantic rules',
    description:
      'Reports every issue of every file at once. Exit 1 if any file is invalid; warnings refuse nothing.',
    arguments: [specs],
    options: [],
    examples: [
      { line: 'writ spec validate intent.json', about: 'one file' },
      { line: 'writ --json spec validate specs/*.json', about: 'many files, as one JSON document' },
    ],
    load: () => import('./commands/spec-validate.ts'),
  },
  {
    name: 'spec digest',
    summary: 'print the SHA-256 of the canonical form',
    arguments: [spec],
    options: [],
    examples: [{ line: 'writ spec digest intent.json', about: 'the digest that is bound into provenance' }],
    load: () => import('./commands/spec-digest.ts'),
  },
  {
    name: 'spec canonical',
    summary: 'print the canonical form (RFC 8785), byte for byte',
    arguments: [spec],
    options: [],
    examples: [
      {
        line: 'writ spec canonical intent.json | sha256sum',
        about: 'the same digest, made with another tool',
      },
    ],
    load: () => import('./commands/spec-canonical.ts'),
  },
  {
    name: 'spec show',
    summary: 'print the review document (Markdown)',
    arguments: [
      { ...spec, about: 'an IntentSpec file; `-` is stdin; with `--current` also the id of an intent' },
    ],
    options: [
      { name: 'current', about: 'what has become of it: status, change log and events as recorded here' },
    ],
    examples: [
      { line: 'writ spec show intent.json', about: 'what the contract says, for the person who confirms it' },
      { line: 'writ spec show --current intent.json', about: 'whether it is active, and since when' },
    ],
    load: () => import('./commands/spec-show.ts'),
  },
  {
    name: 'spec activate',
    summary: 'confirm a draft: from now on it runs',
    description: 'Recorded as an event in the repository; the file itself stays as it is, a draft.',
    arguments: [spec],
    options: [],
    examples: [{ line: 'writ spec activate intent.json', about: 'the draft was reviewed and is agreed' }],
    load: () => import('./commands/spec-activate.ts'),
  },
  {
    name: 'spec close',
    summary: 'end an intent: it does not run again',
    description: 'A run that commits closes its intent by itself. Nothing leads back from closed.',
    arguments: [intent],
    options: [{ name: 'reason', value: 'TEXT', about: 'why, kept in its history; 1 to 2000 characters' }],
    examples: [
      {
        line: 'writ spec close 0198c1e2-7a5d-7b1c-9d51-0c5a3f1f7e11 --reason "no longer needed"',
        about: 'by the id in its metadata',
      },
    ],
    load: () => import('./commands/spec-close.ts'),
  },
  {
    name: 'spec supersede',
    summary: 'put a new active spec in the place of an old one',
    description: 'The old intent becomes deprecated; each of the two records the id of the other.',
    arguments: [
      { ...intent, name: 'OLD', about: 'the `metadata.id` of the intent that ends' },
      { ...intent, name: 'NEW', about: 'file or id of an active spec' },
    ],
    options: [],
    examples: [
      {
        line: 'writ spec supersede 0198c1e2-7a5d-7b1c-9d51-0c5a3f1f7e11 intent-v2.json',
        about: 'the second version takes over',
      },
    ],
    load: () => import('./commands/spec-supersede.ts'),
  },
  {
    name: 'spec schema',
    summary: 'print the JSON Schema of the IntentSpec',
    arguments: [],
    options: [],
    examples: [
      { line: 'writ spec schema > intentspec.v1.schema.json', about: 'for an editor or another validator' },
    ],
    load: () => import('./commands/spec-schema.ts'),
  },
  {
    name: 'plan',
    summary: 'dry run: tasks, stages, scope, and what will be enforced by whom',
    description:
      'Shows how a worker would be given the work, one task per objective unless the contract says otherwise. A patch that exists is always one task: `--for patch`.',
    arguments: [spec],
    options: [
      {
        name: 'for',
        value: 'WHO',
        choices: ['worker', 'patch'],
        about: 'who makes the change: a worker, or a supplied patch; default worker',
      },
    ],
    examples: [
      { line: 'writ plan intent.json', about: 'the tasks of a worker' },
      {
        line: 'writ plan intent.json --for patch',
        about: 'what `writ run intent.json --patch FILE` would do',
      },
    ],
    load: () => import('./commands/plan.ts'),
  },
  {
    name: 'run',
    summary: 'take a change through the whole chain, up to a sealed commit',
    description:
      'Nothing in the repository changes before the decision to commit; on abandon it is bit for bit as before.',
    arguments: [spec],
    options: [
      { name: 'patch', value: 'FILE', about: 'the change as a patch (git diff or unified); `-` is stdin' },
      { name: 'range', value: 'A..B', about: 'the change as a commit range' },
      { name: 'onto', value: 'BRANCH', about: 'the branch that receives the sealed commit' },
      sandbox,
      {
        name: 'ephemeral-key',
        about: 'accept a throw-away signing key where CI is set and none is configured',
      },
    ],
    examples: [
      { line: 'writ run intent.json --patch fix.patch', about: 'gate a patch and seal it' },
      { line: 'git show fix | writ run intent.json --patch -', about: 'a patch from stdin' },
      { line: 'writ run intent.json --range main..fix --onto main', about: 'gate the commits of a branch' },
    ],
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'resume',
    summary: 'go on with a run that was stopped or that waited',
    description:
      'What was done is not done again. Where the run is known from its refs alone (fetched from elsewhere), it goes on from those.',
    arguments: [run],
    options: [
      sandbox,
      {
        name: 'ephemeral-key',
        about: 'accept a throw-away signing key where CI is set and none is configured',
      },
    ],
    examples: [{ line: 'writ resume 0198c1e2', about: 'after a kill, a restart or an approval' }],
    load: () => import('./commands/resume.ts'),
  },
  {
    name: 'approve',
    summary: 'sign what a waiting run asks for, or reject it',
    description:
      'Signs with your SSH key a statement about exactly this patchset, contract and gate report. Needs only the run’s refs; the run goes on with `writ resume`.',
    arguments: [run],
    options: [
      {
        name: 'key',
        value: 'FILE',
        about:
          'private key, or a `.pub` whose private half is in the agent; default: git’s SSH signing key, then ~/.ssh/id_ed25519',
      },
      {
        name: 'as',
        value: 'PRINCIPAL',
        about: 'who you are in `.writ/allowed_signers`; needed where it names a pattern',
      },
      { name: 'comment', value: 'TEXT', about: 'why, kept with the signature; at most 4000 characters' },
      { name: 'reject', about: 'refuse the change: one counting rejection ends the run' },
      { name: 'role', value: 'TEXT', about: 'in which role, e.g. `security`; told, not judged' },
      { name: 'expires', value: 'DURATION', about: 'count only so long: `30m`, `12h`, `7d`, `2w`' },
    ],
    examples: [
      { line: 'writ approve 0198c1e2 --comment "read every line"', about: 'with your usual SSH key' },
      {
        line: 'writ approve 0198c1e2 --key ~/.ssh/release.pub --as ana@example.org',
        about: 'with a key in the agent',
      },
      { line: 'writ approve 0198c1e2 --reject --comment "breaks the API"', about: 'end the run' },
    ],
    load: () => import('./commands/approve.ts'),
  },
  {
    name: 'runs',
    summary: 'list the runs of this repository',
    arguments: [],
    options: [],
    examples: [{ line: 'writ runs', about: 'newest first' }],
    load: () => import('./commands/runs.ts'),
  },
  {
    name: 'show',
    summary: 'show one run in full',
    arguments: [run],
    options: [],
    examples: [{ line: 'writ show 0198c1e2', about: 'decision, stages, findings, evidence' }],
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'report',
    summary: 'write the run for people: one HTML page, or Markdown',
    arguments: [run],
    options: [
      { name: 'html', value: 'FILE', about: 'one self-contained page' },
      { name: 'markdown', value: 'FILE', about: 'a summary, e.g. for a pull request' },
    ],
    examples: [{ line: 'writ report 0198c1e2 --html report.html', about: 'a page for the browser' }],
    load: () => import('./commands/report.ts'),
  },
  {
    name: 'verify',
    summary: 'verify a commit or a run, offline',
    description:
      'Exit 0: every claim holds. Exit 1: a claim is refuted. Exit 3: nothing could be verified, or the signer is not trusted here; the key id to pin is printed.',
    arguments: [{ name: 'TARGET', about: 'commits or run ids', variadic: true }],
    options: [
      { name: 'key', value: 'FILE', about: 'trust this public key (PEM)' },
      { name: 'ledger-key', value: 'VKEY', about: 'trust this log key (signed-note verifier key)' },
    ],
    examples: [
      { line: 'writ verify HEAD', about: 'the commit just sealed' },
      {
        line: 'writ verify 4f2e1a9 --key signer.pem',
        about: 'on another machine, with the key obtained from the signer',
      },
    ],
    load: () => import('./commands/verify.ts'),
  },
  {
    name: 'schema',
    summary: 'print the JSON Schema of a command’s `data`',
    arguments: [{ name: 'COMMAND', about: 'the command, in one or two words', variadic: true }],
    options: [],
    examples: [
      { line: 'writ schema run', about: 'shape of `writ --json run`' },
      { line: 'writ schema spec validate', about: 'a command of two words' },
    ],
    load: () => import('./commands/schema.ts'),
  },
  {
    name: 'doctor',
    summary: 'say what works here: git, sandbox, keys',
    arguments: [],
    options: [],
    examples: [{ line: 'writ doctor', about: 'run this first when something is refused' }],
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'demo',
    summary: 'a sample repository taken through the chain and verified, offline',
    arguments: [],
    options: [{ name: 'out', value: 'DIR', about: 'keep the sample repository here' }],
    examples: [{ line: 'writ demo --out /tmp/writ-demo', about: 'under a minute' }],
    load: () => import('./commands/demo.ts'),
  },
];
