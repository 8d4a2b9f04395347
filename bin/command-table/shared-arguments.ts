import type { ArgumentSpec, OptionSpec } from '../command-parts/command.ts';
import { modelOptions } from '../command-parts/model-options.ts';

export const spec: ArgumentSpec = { name: 'SPEC', about: 'an IntentSpec file; `-` is stdin' };
/** Contracts. */
export const specs: ArgumentSpec = { ...spec, about: 'IntentSpec files; `-` is stdin', variadic: true };
/** A recorded intent. */
export const intent: ArgumentSpec = {
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
export const sandbox: OptionSpec = {
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
export const machineOptions: readonly OptionSpec[] = [sandbox, pluginTrust, ephemeralKey];

/** The change, where it is to land, and the words that it is sealed with. */
export const changeOptions: readonly OptionSpec[] = [
  { name: 'patch', value: 'FILE', about: 'the change as a patch (git diff or unified); `-` is stdin' },
  { name: 'range', value: 'A..B', about: 'the change as a commit range' },
  { name: 'recording', value: 'FILE', about: 'a recorded worker does the tasks (docs/recording.md)' },
  ...modelOptions,
  { name: 'onto', value: 'BRANCH', about: 'the branch that receives the sealed commit' },
  {
    name: 'policy',
    value: 'BRANCH',
    about: 'refuse any policy but that of this branch (docs/landing.md)',
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
