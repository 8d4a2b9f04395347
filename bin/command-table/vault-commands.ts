import type { ArgumentSpec, CommandSpec, OptionSpec } from '../command-parts/command.ts';

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
      'One line end behind the value is left out. Values are never arguments and never printed. Keys of models are looked for in `--env-file`, in the vault of the repository, in the global one, then in the environment (docs/vault.md).',
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
    load: () => import('../commands/vault-set.ts'),
  },
  {
    name: 'vault list',
    summary: 'names of the secrets that are kept',
    arguments: [],
    options: [everywhere],
    examples: [{ line: 'writ vault list', about: 'of this repository and of the user' }],
    load: () => import('../commands/vault-list.ts'),
  },
  {
    name: 'vault rm',
    summary: 'forget a secret',
    arguments: [name],
    options: [everywhere],
    examples: [{ line: 'writ vault rm NPM_TOKEN', about: 'out of the vault of this repository' }],
    load: () => import('../commands/vault-rm.ts'),
  },
];
