/* Declares the `writ plugin` commands. */
import type { ArgumentSpec, CommandSpec } from '../command-parts/command.ts';
import { kindWords } from '../plugin/kind-words.ts';

const plugin: ArgumentSpec = {
  name: 'PLUGIN',
  about: 'a directory, or a file that `npm pack` or `writ plugin pack` made',
};

/** Plugins of others: made, tested, pinned, trusted (docs/reference/plugins.md). */
export const pluginCommands: readonly CommandSpec[] = [
  {
    name: 'plugin list',
    summary: 'list the built-in parts and the plugins of this repository',
    description: 'A listed plugin that is changed, missing or not trusted by you stops every run.',
    arguments: [],
    options: [],
    examples: [
      {
        line: 'writ plugin list',
        about:
          'built-in parts, then the plugins in `.writ/config.toml` at HEAD, then those that are not committed yet',
      },
    ],
    load: async () => (await import('../commands/plugin.ts')).pluginListCommand,
  },
  {
    name: 'plugin new',
    summary: 'create a plugin with tests and a README',
    arguments: [
      {
        name: 'KIND',
        about: Object.entries(kindWords)
          .map(([kind, words]) => `\`${kind}\`: ${words}`)
          .join('; '),
      },
      { name: 'NAME', about: 'name of the plugin and of its rule or part, such as `no-draft-marks`' },
    ],
    options: [{ name: 'dir', value: 'DIR', about: 'directory of the new plugin; default: ./NAME' }],
    examples: [
      { line: 'writ plugin new gate no-draft-marks', about: 'a rule of your own, in ./no-draft-marks' },
      { line: 'writ plugin new provider parrot', about: 'for `writ run --provider parrot`' },
    ],
    load: async () => (await import('../commands/plugin-new.ts')).pluginNewCommand,
  },
  {
    name: 'plugin test',
    summary: 'run the tests of a plugin in the sandbox',
    description:
      'Exit 1: a test case fails, the plugin does not keep the interface of its kind (such as `gate`), or `cases.json` lacks a required test case.',
    arguments: [plugin],
    options: [],
    examples: [{ line: 'writ plugin test ./no-draft-marks', about: 'a directory; a `.tgz` works as well' }],
    load: async () => (await import('../commands/plugin-new.ts')).pluginTestCommand,
  },
  {
    name: 'plugin pack',
    summary:
      'pack a plugin into one file for `writ plugin add`; packing the same files again gives the same bytes',
    description:
      'Packs the paths in `files` of package.json, the manifest, README and LICENSE. writ never packs files named like a secret (`.env`, `*.pem`, …) or behind a link, and runs no code of the plugin.',
    arguments: [{ name: 'DIR', about: 'directory of the plugin' }],
    options: [
      {
        name: 'out',
        value: 'FILE',
        about: 'name of the written file; default: NAME-VERSION.tgz, as with `npm pack`',
      },
    ],
    examples: [
      {
        line: 'writ plugin pack ./no-draft-marks',
        about: 'writes no-draft-marks-0.1.0.tgz and prints its digest',
      },
      {
        line: 'writ plugin pack tools/notary --out notary.tgz',
        about: 'choose the name of the written file',
      },
    ],
    load: async () => (await import('../commands/plugin-new.ts')).pluginPackCommand,
  },
  {
    name: 'plugin add',
    summary: 'list a plugin in .writ/config.toml, fixed to its digest (SHA-256)',
    description:
      'A plugin from outside the repository is also copied to your user directory. writ runs no code of the plugin until you trust the plugin (`writ plugin trust`).',
    arguments: [plugin],
    options: [],
    examples: [
      { line: 'writ plugin add tools/no-draft-marks', about: 'a directory of this repository' },
      {
        line: 'writ plugin add writ-changelog-entry-2.1.0.tgz',
        about: 'a packed plugin; each user of the repository adds the same file',
      },
    ],
    load: async () => (await import('../commands/plugin.ts')).pluginAddCommand,
  },
  {
    name: 'plugin trust',
    summary: 'let a plugin run in your runs, after showing what it may access',
    description:
      'Your trust is for exactly these files (their digest), in every repository that lists them. writ shows the hosts, secrets and files that the plugin may access, then asks; without a terminal it needs `--yes`. If you pass a digest instead of a plugin, writ trusts the digest without a question.',
    arguments: [
      {
        name: 'PLUGIN',
        about: 'a directory, a `.tgz`, the name of a listed plugin, or the digest `sha256:…` of a plugin',
      },
    ],
    options: [
      { name: 'yes', about: 'trust the plugin without a question' },
      { name: 'remove', about: 'withdraw the trust' },
    ],
    examples: [
      { line: 'writ plugin trust notary', about: 'the plugin that HEAD lists, after a question' },
      {
        line: 'writ plugin trust tools/notary --yes',
        about: 'the files in that directory, without a question',
      },
      {
        line: `writ plugin trust sha256:${'0f'.repeat(32)}`,
        about: 'trust the files with this digest, after you have read the files',
      },
    ],
    load: async () => (await import('../commands/plugin.ts')).pluginTrustCommand,
  },
];
