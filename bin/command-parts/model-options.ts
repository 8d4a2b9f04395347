/* The options that select and configure a model. */
import { flagTable } from '../../providers/flags.ts';
import type { OptionSpec } from './command.ts';

/** Flags of single providers, by name and by alias; refused for every other provider. */
const providerFlags: readonly OptionSpec[] = Object.entries(flagTable).flatMap(([provider, flags]) =>
  flags.flatMap(({ name, alias, values, spellings = {}, bare, says }): readonly OptionSpec[] => {
    const form = {
      value: 'VALUE',
      ...(bare === undefined
        ? {}
        : { bare: { means: bare, unless: [...values, ...Object.keys(spellings)] } }),
    };
    const group = `With \`--provider ${provider}\``;
    const about = `${says}${values.length === 0 ? '' : ` (${values.join(', ')})`}`;
    const short =
      alias === undefined ? [] : [{ ...form, name: alias, group, about: `the same as \`--${name}\`` }];
    return [{ ...form, name, group, about }, ...short];
  }),
);

/** Model options besides the provider. The run stores them. */
const choiceOptions: readonly OptionSpec[] = [
  {
    name: 'model',
    value: 'ID',
    about: 'name of the model; default: a model that writ chooses for the provider',
  },
  { name: 'api-base', value: 'URL', about: 'address of the provider, instead of the vendor’s own' },
  { name: 'temperature', value: 'T', about: 'sampling temperature, 0 to 2; default: that of the model' },
  ...providerFlags,
];

export const envFile: OptionSpec = {
  name: 'env-file',
  value: 'FILE',
  about:
    'file with keys and settings of providers as `NAME=value` lines; writ looks here before any other place',
};

/** Options that select and configure the model. */
const asked: readonly OptionSpec[] = [
  {
    name: 'provider',
    value: 'NAME',
    about:
      'let a model of this provider make the change; `replay:DIR` replays a recording, without a key or network',
  },
  envFile,
  {
    name: 'record',
    value: 'DIR',
    about: 'record requests and replies of the model here, with secrets masked (`writ help model-traffic`)',
  },
  ...choiceOptions,
];
export const modelOptions = asked.map((one): OptionSpec => ({ group: 'Model', ...one }));

/** Names of the flags of single providers. */
export const providerFlagNames: readonly string[] = providerFlags.map(({ name }) => name);
/** Names of options that require `--provider`. */
export const choiceNames: readonly string[] = choiceOptions.map(({ name }) => name);
