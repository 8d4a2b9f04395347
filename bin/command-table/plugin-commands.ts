/* Declares the `writ plugin` commands. */
import type { ArgumentSpec, CommandSpec } from '../command-parts/command.ts';
import { kindWords } from '../plugin/kind-words.ts';

const plugin: ArgumentSpec = { name: 'PLUGIN', about: 'a directory, or a file that `npm pack` made' };

/** Plugins of others: made, tested, pinned, trusted (docs/reference/plugins.md). */
export const pluginCommands: readonly CommandSpec[] = [
  {
    name: 'plugin list',
    summary: 'what is loaded, what it enforces, and what the repository lists',
    description: 'A listed plugin that is not trusted, changed or missing stops every run here.',
    arguments: [],
    options: [],
    examples: [
      {
        line: 'writ plugin list',
        about:
          'built-ins, then the plugins of `.writ/config.toml` at HEAD, then what is pinned and not committed',
      },
    ],
    load: async () => (await import('../commands/plugin.ts')).pluginListCommand,
  },
  {
    name: 'plugin new',
    summary: 'make a plugin with one part, its cases and its page',
    arguments: [
      {
        name: 'KIND',
        about: Object.entries(kindWords)
          .map(([kind, words]) => `\`${kind}\`: ${words}`)
          .join('; '),
      },
      { name: 'NAME', about: 'kebab-case; the id of the rule, the name of the part' },
    ],
    options: [{ name: 'dir', value: 'DIR', about: 'make it here; default: a directory of that name' }],
    examples: [
      { line: 'writ plugin new gate no-draft-marks', about: 'in ./no-draft-marks; its test passes at once' },
      { line: 'writ plugin new provider parrot', about: 'for `writ run --provider parrot`' },
    ],
    load: async () => (await import('../commands/plugin-new.ts')).pluginNewCommand,
  },
  {
    name: 'plugin test',
    summary: 'run a plugin through the suite of its kind, in the sandbox, as a run would',
    description:
      'Exit 1 where a part answers otherwise than its cases say, breaks a promise of its kind, or has too few cases.',
    arguments: [plugin],
    options: [],
    examples: [{ line: 'writ plugin test ./no-draft-marks', about: 'a directory; a `.tgz` works as well' }],
    load: async () => (await import('../commands/plugin-new.ts')).pluginTestCommand,
  },
  {
    name: 'plugin pack',
    summary: 'make the file that `plugin add` takes, the same bytes for the same files',
    description:
      'It holds what `files` of package.json names (paths, directories, globs), the manifest, README and LICENSE, and never what is called like a secret (`.env`, `*.pem`, …) or lies behind a link. Nothing of it runs.',
    arguments: [{ name: 'DIR', about: 'directory of the plugin' }],
    options: [
      {
        name: 'out',
        value: 'FILE',
        about: 'write it here; default: NAME-VERSION.tgz, as `npm pack` calls it',
      },
    ],
    examples: [
      {
        line: 'writ plugin pack ./no-draft-marks',
        about: 'writes no-draft-marks-0.1.0.tgz and prints its digest',
      },
      { line: 'writ plugin pack tools/notary --out notary.tgz', about: 'under a name of your own' },
    ],
    load: async () => (await import('../commands/plugin-new.ts')).pluginPackCommand,
  },
  {
    name: 'plugin add',
    summary: 'pin a plugin by digest in .writ/config.toml',
    description:
      'One outside the repository is kept below your own config as well. Nothing of it runs, nothing is trusted yet.',
    arguments: [plugin],
    options: [],
    examples: [
      { line: 'writ plugin add tools/no-draft-marks', about: 'a directory of this repository' },
      {
        line: 'writ plugin add writ-changelog-entry-2.1.0.tgz',
        about: 'a packed one; others add the same file',
      },
    ],
    load: async () => (await import('../commands/plugin.ts')).pluginAddCommand,
  },
  {
    name: 'plugin trust',
    summary: 'trust this content of a plugin to evaluate changes here, after showing what it gets',
    description:
      'Kept in your own config, for every repository that lists it. Another content has another digest. By path or name it shows the hosts, secrets and files that are trusted, and prompts; without a terminal it needs `--yes`. A digest is trusted as it is typed: it names nothing where no such package is known here.',
    arguments: [
      { name: 'PLUGIN', about: 'a directory, a `.tgz`, the name of a listed plugin, or its `sha256:…`' },
    ],
    options: [
      { name: 'yes', about: 'do not ask' },
      { name: 'remove', about: 'withdraw the trust' },
    ],
    examples: [
      { line: 'writ plugin trust notary', about: 'as HEAD lists it; shows what it gets, and prompts' },
      { line: 'writ plugin trust tools/notary --yes', about: 'as it lies there, without asking' },
      {
        line: `writ plugin trust sha256:${'0f'.repeat(32)}`,
        about: 'after you have read it',
      },
    ],
    load: async () => (await import('../commands/plugin.ts')).pluginTrustCommand,
  },
];
