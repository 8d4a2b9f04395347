import type { ArgumentSpec, OptionSpec } from '../command-parts/command.ts';

/** A contract. */
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
/** Which back end checks run in. */
export const sandbox: OptionSpec = {
  name: 'sandbox',
  value: 'NAME',
  choices: ['auto', 'bubblewrap', 'unshare', 'none'],
  about: 'sandbox back end; `none` is refused where the contract denies the network',
};

/** Another repository. */
export const remote: ArgumentSpec = {
  name: 'REMOTE',
  about: 'name, path or URL; default `origin`, else the only one',
  optional: true,
};

/** A plugin that the repository lists, trusted for this one run. */
export const pluginTrust: OptionSpec = {
  name: 'plugin',
  value: 'DIGEST',
  repeatable: true,
  about: 'let the listed plugin of this digest judge this run, though you do not trust it in general',
};
