/* Declares the commands on specs, and options that several commands share. */
import type { ArgumentSpec, CommandSpec, OptionSpec } from '../command-parts/command.ts';
import { modelOptions } from '../command-parts/model-options.ts';

export const spec: ArgumentSpec = { name: 'SPEC', about: 'an IntentSpec file, full or short; `-` is stdin' };
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
  about: 'IntentSpec files, full or short; `-` is stdin',
  variadic: true,
};
/** A recorded intent. */
const intent: ArgumentSpec = {
  name: 'ID',
  about: 'the `metadata.id` of a recorded intent, or a specification file',
};
/** A run. */
export const run: ArgumentSpec = { name: 'RUN', about: 'a run id, or an unambiguous beginning of one' };
/** A thread. */
export const thread: ArgumentSpec = {
  name: 'THREAD',
  about: 'a thread id (`thread_id` of `writ runs --json`), or an unambiguous beginning of one',
};
/** Which back end checks run in. */
const sandbox: OptionSpec = {
  name: 'sandbox',
  value: 'NAME',
  choices: ['auto', 'bubblewrap', 'unshare', 'none'],
  about: 'sandbox back end; `none` is refused where the contract denies the network',
};

/** What happens to uncommitted changes in the way. */
export const localChanges: OptionSpec = {
  name: 'local-changes',
  value: 'CHOICE',
  choices: ['stop', 'set-aside', 'include'],
  about:
    'uncommitted changes at paths that the change touches: stop, store them and merge them back at the end, or make them part of the change',
};

/** Another repository. */
export const remote: ArgumentSpec = {
  name: 'REMOTE',
  about: 'name, path or URL; default `origin`, else the only one',
  optional: true,
};

/** A plugin that the repository lists, trusted for this one run. */
const pluginTrust: OptionSpec = {
  name: 'plugin',
  value: 'DIGEST',
  repeatable: true,
  about: 'use the listed plugin of this digest in this run, though you do not trust it in general',
};

const ephemeralKey: OptionSpec = {
  name: 'ephemeral-key',
  about: 'accept a throw-away signing key where CI is set and none is configured',
};

/** Options for sandbox, plugin trust and signing key. */
export const machineOptions = [sandbox, pluginTrust, ephemeralKey].map(
  (one): OptionSpec => ({ ...one, group: 'Machine' }),
);

/** The change, where it is to land, and the words that it is sealed with. */
export const changeOptions: readonly OptionSpec[] = [
  { name: 'patch', value: 'FILE', about: 'the change as a patch (git diff or unified); `-` is stdin' },
  { name: 'range', value: 'A..B', about: 'the change as a commit range' },
  { name: 'recording', value: 'FILE', about: 'a recorded worker does the tasks (docs/guides/recording.md)' },
  {
    name: 'external-agent',
    value: 'RECIPE',
    bare: { means: 'auto', unless: [] },
    about:
      'the program behind `--` makes the change, unmodified, in the sandbox (docs/guides/external-agents.md); its recipe is found by its name',
  },
  ...modelOptions,
  { name: 'onto', value: 'BRANCH', about: 'the branch that receives the sealed commit' },
  {
    name: 'policy',
    value: 'BRANCH',
    about: 'refuse any policy but that of this branch (docs/reference/landing.md)',
  },
  {
    name: 'no-merge',
    about:
      'refuse a change that starts behind the tip of that branch, instead of evaluating its merge onto it',
  },
  {
    name: 'message',
    value: 'TEXT',
    about:
      'message of the sealed commit; default: that of a range of one commit, else the contract’s summary',
  },
  {
    name: 'author',
    value: 'NAME <MAIL>',
    about: 'author of the sealed commit; default: that of a range of one commit, else you',
  },
];

/** Commands on a spec before it runs. */
export const contractCommands: readonly CommandSpec[] = [
  {
    name: 'init',
    summary: 'create the state directory, a signing key and a ledger',
    description: 'Optional: every command makes what it needs of this on first use.',
    arguments: [],
    options: [],
    examples: [{ line: 'writ init', about: 'prepare the current repository' }],
    load: async () => (await import('../commands/init.ts')).initCommand,
  },
  {
    name: 'spec new',
    summary: 'write a valid draft from the risk profile',
    description:
      'On a terminal it asks for summary, scope, check and risk that no option gives. `writ run` also accepts a short spec, without what the profile supplies: `writ help short-specs`.',
    arguments: [],
    options: [
      {
        name: 'risk',
        value: 'LEVEL',
        choices: ['low', 'medium', 'high'],
        about:
          'risk profile that supplies the policy; default low or `[seal] least_risk` at HEAD, and high if the scope names security code',
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
        about: 'a draft for a small fix, ready to edit',
      },
      { line: 'writ spec new --summary "Reject expired tokens" > intent.json', about: 'the draft on stdout' },
      {
        line: 'writ spec new --summary "Round half up" --scope src/ --scope test/ --risk low -o intent.json',
        about: 'a draft without words to fill in',
      },
    ],
    load: async () => (await import('../commands/spec-new.ts')).run,
  },
  {
    name: 'spec validate',
    summary: 'check files against the schema and the semantic rules',
    description:
      'Reports every issue of every file at once. Exit 1 if any file is invalid. What the contract shows by itself of why a run would be refused is a warning; inside a repository, also what that and its policy show. `writ plan` says all of it.',
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
    summary: 'print the SHA-256 of the canonical form',
    arguments: [spec],
    options: [],
    examples: [{ line: 'writ spec digest intent.json', about: 'the digest that is bound into provenance' }],
    load: async () => (await import('../commands/spec.ts')).specDigestCommand,
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
    load: async () => (await import('../commands/spec.ts')).specCanonicalCommand,
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
    load: async () => (await import('../commands/spec.ts')).specShowCommand,
  },
  {
    name: 'spec activate',
    summary: 'confirm a draft: from now on it runs',
    description: 'Recorded as an event in the repository; the file itself stays as it is, a draft.',
    arguments: [spec],
    options: [],
    examples: [{ line: 'writ spec activate intent.json', about: 'the draft was reviewed and is agreed' }],
    load: async () => (await import('../commands/spec.ts')).specActivateCommand,
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
    load: async () => (await import('../commands/spec.ts')).specCloseCommand,
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
    load: async () => (await import('../commands/spec.ts')).specSupersedeCommand,
  },
  {
    name: 'spec schema',
    summary: 'print the JSON Schema of the IntentSpec',
    arguments: [],
    options: [],
    examples: [
      { line: 'writ spec schema > intentspec.v1.schema.json', about: 'for an editor or another validator' },
    ],
    load: async () => (await import('../commands/spec.ts')).specSchemaCommand,
  },
  {
    name: 'plan',
    summary:
      'dry run: tasks, stages, scope, what will be enforced by whom, and what a run would be refused for',
    description:
      'Shows how a worker would be given the work, one task per objective unless the contract says otherwise. A patch that exists is always one task: `--for patch`. Names everything that `writ run` with the same options would refuse before any work, and ends with the exit code of the first; with the change at hand (`--patch`, `--range`, `--recording`) what that shows, too. What the gates say of a change, only a run finds out.',
    arguments: [spec, agentWords],
    options: [
      {
        name: 'for',
        value: 'WHO',
        choices: ['worker', 'patch'],
        about: 'who makes a change that is not there yet: a worker, or somebody with a patch; default worker',
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
        about: 'whether that very run would begin',
      },
    ],
    load: async () => (await import('../commands/plan.ts')).run,
  },
];
