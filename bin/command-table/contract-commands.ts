/* Declares the commands on specs, and options that several commands share. */
import type { ArgumentSpec, CommandSpec, OptionSpec } from '../command-parts/command.ts';
import { modelOptions } from '../command-parts/model-options.ts';

export const spec: ArgumentSpec = {
  name: 'SPEC',
  about: 'a spec file (JSON: goal, allowed files, checks), full or short; `-` is stdin',
};
/** What follows `--`. */
export const agentWords: ArgumentSpec = {
  name: 'ARGV',
  about: 'with `--external-agent`: the program and its arguments',
  behindDashes: true,
  variadic: true,
  optional: true,
};
/** Contracts. */
const specs: ArgumentSpec = {
  ...spec,
  about: 'spec files (JSON: goal, allowed files, checks), full or short; `-` is stdin',
  variadic: true,
};
/** A recorded intent. */
const intent: ArgumentSpec = {
  name: 'ID',
  about: 'a spec file, or the `metadata.id` of a spec that is stored here',
};
/** A run. */
export const run: ArgumentSpec = { name: 'RUN', about: 'a run id, or the first characters of it' };
/** A thread. */
export const thread: ArgumentSpec = {
  name: 'THREAD',
  about: 'a thread id (`thread_id` of `writ runs --json`), or the first characters of it',
};
/** Which back end checks run in. */
const sandbox: OptionSpec = {
  name: 'sandbox',
  value: 'NAME',
  choices: ['auto', 'bubblewrap', 'unshare', 'none'],
  about: 'program that isolates checks; writ refuses `none` if the spec denies the network',
};

/** What happens to uncommitted changes in the way. */
export const localChanges: OptionSpec = {
  name: 'local-changes',
  value: 'CHOICE',
  choices: ['stop', 'set-aside', 'include'],
  about:
    'what to do with uncommitted changes in files of the patch: stop, put them aside and merge them back at the end, or include them in the change',
};

/** What a verification trusts beside the user's own keys. */
export const trustOptions: readonly OptionSpec[] = [
  { name: 'key', value: 'FILE', repeatable: true, about: 'trust the public keys in this file (PEM)' },
  {
    name: 'identity',
    value: 'NAME',
    about:
      'trust this identity in the certificate of the signer: an e-mail address or a URI, compared exactly',
  },
  {
    name: 'issuer',
    value: 'URL',
    about: 'trust this issuer in the certificate of the signer (it confirmed `--identity`), compared exactly',
  },
  {
    name: 'source-repository',
    value: 'URI',
    about: 'require that the certificate names this source repository, such as https://github.com/OWNER/NAME',
  },
  {
    name: 'source-ref',
    value: 'REF',
    about: 'require that the certificate names this ref, such as refs/tags/v1.0.0',
  },
  {
    name: 'trusted-root',
    value: 'FILE',
    about:
      'trust the authorities and logs in this sigstore trusted root (one JSON document, or one on each line); with `--identity` the default is the root that `writ trust update` keeps',
  },
  {
    name: 'ledger-key',
    value: 'VKEY',
    repeatable: true,
    about: 'trust this public key of a log (C2SP signed-note form), or the key in this file',
  },
  {
    name: 'allowed-signers',
    value: 'FILE',
    about:
      'verify approvals against your own list (OpenSSH allowed_signers) instead of the list in the repository',
  },
];

/** What a verification requires of each sealed change. */
export const demandOptions: readonly OptionSpec[] = [
  {
    name: 'policy',
    value: 'BRANCH',
    about: 'require that the run applied the rules of this branch (a branch in your clone) to the change',
  },
  {
    name: 'require',
    value: 'WORDS',
    repeatable: true,
    about: 'fail unless writ verifies these too: `approvals`, `log`, `replay`, separated by commas',
  },
];

/** The same options of `writ report`, in a group of their own. */
export const reportVerification: readonly OptionSpec[] = [...trustOptions, ...demandOptions].map((one) => ({
  ...one,
  group: 'Verification (with `--release` or `--html`)',
}));

/** Another repository. */
export const remote: ArgumentSpec = {
  name: 'REMOTE',
  about: 'name, path or URL of a remote; default `origin`, else the only remote',
  optional: true,
};

/** A plugin that the repository lists, trusted for this one run. */
const pluginTrust: OptionSpec = {
  name: 'plugin',
  value: 'DIGEST',
  repeatable: true,
  about: 'for this run only, trust the plugin with this digest, which `.writ/config.toml` lists',
};

const ephemeralKey: OptionSpec = {
  name: 'ephemeral-key',
  about: 'in CI, sign with a throw-away key if no key is configured',
};

/** Options for sandbox, plugin trust and signing key. */
export const machineOptions = [sandbox, pluginTrust, ephemeralKey].map(
  (one): OptionSpec => ({ ...one, group: 'Machine' }),
);

/** The change, where it is to land, and the words that it is sealed with. */
export const changeOptions: readonly OptionSpec[] = [
  { name: 'patch', value: 'FILE', about: 'the change as a patch (git diff or unified); `-` is stdin' },
  { name: 'range', value: 'A..B', about: 'the change as a commit range' },
  {
    name: 'recording',
    value: 'FILE',
    about: 'use the recorded changes in this file instead of a model (`writ help recording`)',
  },
  {
    name: 'external-agent',
    value: 'RECIPE',
    bare: { means: 'auto', unless: [] },
    about:
      'the program after `--`, such as `codex`, makes the change in the sandbox; RECIPE says how writ starts the program; default: by its name (`writ help external-agents`)',
  },
  ...modelOptions,
  { name: 'onto', value: 'BRANCH', about: 'the branch that receives the sealed commit' },
  {
    name: 'policy',
    value: 'BRANCH',
    about:
      'the branch whose rules must apply; writ refuses the change if the rules of another branch would apply (`writ help landing`)',
  },
  {
    name: 'no-merge',
    about: 'refuse a change that is behind the newest commit of its target branch, instead of merging it',
  },
  {
    name: 'message',
    value: 'TEXT',
    about:
      'message of the sealed commit; default: the message of a single commit, else the summary of the spec',
  },
  {
    name: 'author',
    value: 'NAME <MAIL>',
    about: 'author of the sealed commit; default: the author of a single commit, else you',
  },
];

/** Commands on a spec before it runs. */
export const contractCommands: readonly CommandSpec[] = [
  {
    name: 'init',
    summary: 'create `.writ/`, a signing key and a ledger (log of sealed changes)',
    description:
      'You need not run this command: every other command creates the files that it needs on first use.',
    arguments: [],
    options: [],
    examples: [{ line: 'writ init', about: 'prepare the current repository' }],
    load: async () => (await import('../commands/init.ts')).initCommand,
  },
  {
    name: 'spec new',
    summary: 'write a draft of a spec, ready to edit',
    description:
      'A spec is a JSON file that says what a change may do and which checks must pass. On a terminal, writ asks for summary, scope, check and risk that no option gives. `writ run` also accepts a short spec: `writ help short-specs`.',
    arguments: [],
    options: [
      {
        name: 'risk',
        value: 'LEVEL',
        choices: ['low', 'medium', 'high'],
        about:
          'risk of the change, which decides the required checks and approvals; default: low, or `[seal] least_risk` at HEAD; for security code: high',
      },
      { name: 'summary', value: 'TEXT', about: 'the goal in one sentence, 5 to 256 characters' },
      {
        name: 'scope',
        value: 'PATH',
        repeatable: true,
        about: 'a file or directory that may change, such as `src/`',
      },
      {
        name: 'check',
        value: 'CMD',
        repeatable: true,
        about: 'a command that checks the change; default: the tests of the project',
      },
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
        about: 'a draft of a spec for a small fix, ready to edit',
      },
      { line: 'writ spec new --summary "Reject expired tokens" > intent.json', about: 'the draft on stdout' },
      {
        line: 'writ spec new --summary "Round half up" --scope src/ --scope test/ --risk low -o intent.json',
        about: 'a complete draft, without placeholders',
      },
    ],
    load: async () => (await import('../commands/spec-new.ts')).run,
  },
  {
    name: 'spec validate',
    summary: 'check spec files for errors',
    description:
      'Reports every error of every file. Exit 1 if a file is invalid. A reason for which a run would refuse the spec is a warning. `writ plan` lists all such reasons.',
    arguments: [specs],
    options: [],
    examples: [
      { line: 'writ spec validate intent.json', about: 'one file' },
      { line: 'writ --json spec validate specs/*.json', about: 'many files, as one JSON document' },
    ],
    load: async () => (await import('../commands/spec-validate.ts')).run,
  },
  {
    name: 'spec digest',
    summary: 'print the SHA-256 of a spec in its canonical form (RFC 8785)',
    arguments: [spec],
    options: [],
    examples: [{ line: 'writ spec digest intent.json', about: 'the digest that a sealed commit records' }],
    load: async () => (await import('../commands/spec.ts')).specDigestCommand,
  },
  {
    name: 'spec canonical',
    summary: 'print a spec in its canonical form (RFC 8785), byte for byte',
    arguments: [spec],
    options: [],
    examples: [
      {
        line: 'writ spec canonical intent.json | sha256sum',
        about: 'the same digest, made with another tool',
      },
    ],
    load: async () => (await import('../commands/spec.ts')).specCanonicalCommand,
  },
  {
    name: 'spec show',
    summary: 'print a spec as Markdown, for the person who reviews it',
    arguments: [
      { ...spec, about: 'a spec file; `-` is stdin; with `--current` also the id of a stored spec' },
    ],
    options: [
      {
        name: 'current',
        about: 'show status, change log and events of the spec as stored in this repository',
      },
    ],
    examples: [
      { line: 'writ spec show intent.json', about: 'what the spec demands, as text' },
      { line: 'writ spec show --current intent.json', about: 'whether it is active, and since when' },
    ],
    load: async () => (await import('../commands/spec.ts')).specShowCommand,
  },
  {
    name: 'spec activate',
    summary: 'confirm a draft of a spec, so that it can run',
    description: 'The repository records the confirmation; the file itself is not changed.',
    arguments: [spec],
    options: [],
    examples: [{ line: 'writ spec activate intent.json', about: 'after you have read the draft' }],
    load: async () => (await import('../commands/spec.ts')).specActivateCommand,
  },
  {
    name: 'spec close',
    summary: 'end a spec: it does not run again',
    description: 'A committed run closes its spec by itself. A closed spec cannot be opened again.',
    arguments: [intent],
    options: [
      {
        name: 'reason',
        value: 'TEXT',
        about: 'the reason, stored in the history of the spec; 1 to 2000 characters',
      },
    ],
    examples: [
      {
        line: 'writ spec close 0198c1e2-7a5d-7b1c-9d51-0c5a3f1f7e11 --reason "no longer needed"',
        about: 'by the id in its metadata',
      },
    ],
    load: async () => (await import('../commands/spec.ts')).specCloseCommand,
  },
  {
    name: 'spec supersede',
    summary: 'replace an old spec by a new one',
    description:
      'The old spec becomes deprecated. The repository records in each of the two specs the id of the other spec.',
    arguments: [
      { ...intent, name: 'OLD', about: 'the `metadata.id` of the old spec' },
      { ...intent, name: 'NEW', about: 'file or id of an active spec' },
    ],
    options: [],
    examples: [
      {
        line: 'writ spec supersede 0198c1e2-7a5d-7b1c-9d51-0c5a3f1f7e11 intent-v2.json',
        about: 'the second version replaces the first',
      },
    ],
    load: async () => (await import('../commands/spec.ts')).specSupersedeCommand,
  },
  {
    name: 'spec schema',
    summary: 'print the JSON Schema of specs',
    arguments: [],
    options: [],
    examples: [
      { line: 'writ spec schema > intentspec.v1.schema.json', about: 'for an editor or another validator' },
    ],
    load: async () => (await import('../commands/spec.ts')).specSchemaCommand,
  },
  {
    name: 'plan',
    summary: 'show what `writ run` would do, and why it would be refused, without running anything',
    description:
      'Shows the tasks of a worker (one per objective, unless the spec says otherwise), the stages with their checks, and the scope. Lists every reason for which `writ run` with the same options would refuse to start, and ends with the exit code of the first one. With `--patch`, `--range` or `--recording`, the reasons include faults of the change, such as a patch that does not apply. No check runs.',
    arguments: [spec, agentWords],
    options: [
      {
        name: 'for',
        value: 'WHO',
        choices: ['worker', 'patch'],
        about:
          'who will make the change: a worker (such as a model), or a person with a patch; default worker',
      },
      ...changeOptions,
      ...machineOptions,
    ],
    examples: [
      { line: 'writ plan intent.json', about: 'the tasks of a worker' },
      {
        line: 'writ plan intent.json --for patch',
        about: 'what `writ run intent.json --patch FILE` would do',
      },
      {
        line: 'writ plan intent.json --patch fix.patch --onto main',
        about: 'whether this run would start',
      },
    ],
    load: async () => (await import('../commands/plan.ts')).run,
  },
];
