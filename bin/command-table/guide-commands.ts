/* Declares the commands that explain writ. */
import type { CommandSpec } from '../command-parts/command.ts';

/** Help, rules, codes, configuration, completion. */
export const guideCommands: readonly CommandSpec[] = [
  {
    name: 'help',
    summary: 'show the help of a command, or a topic',
    arguments: [
      {
        name: 'TOPIC',
        about: 'a command, or a page of `docs/`; without it: all topics',
        variadic: true,
        optional: true,
      },
    ],
    options: [],
    examples: [
      { line: 'writ help', about: 'the topics' },
      { line: 'writ help config', about: 'all of `.writ/config.toml`' },
    ],
    load: async () => (await import('../commands/guide.ts')).helpCommand,
  },
  {
    name: 'explain',
    summary: 'say why a run was refused, or what a code or a rule means, and what to do next',
    arguments: [
      { name: 'RUN|CODE', about: 'a run id or the beginning of one, an error code, or the id of a rule' },
    ],
    options: [],
    examples: [
      { line: 'writ explain 0198c1e2', about: 'a run' },
      { line: 'writ explain WORKTREE_DIRTY', about: 'an error code' },
      { line: 'writ explain new-tests', about: 'a rule' },
    ],
    load: async () => (await import('../commands/guide.ts')).explainCommand,
  },
  {
    name: 'rules',
    summary: 'list every rule: what it refuses, how to mend it, how to allow it',
    arguments: [{ name: 'ID', about: 'one rule; default: all', optional: true }],
    options: [],
    examples: [{ line: 'writ rules tests-kept', about: 'one rule, with an example' }],
    load: async () => (await import('../commands/guide.ts')).rulesCommand,
  },
  {
    name: 'config print',
    summary: 'print the configuration that applies, and where each value comes from',
    description:
      'Of the policy commit: by default the commit checked out, whose `.writ/config.toml` applies to the next change.',
    arguments: [{ name: 'COMMIT', about: 'another policy commit', optional: true }],
    options: [],
    examples: [{ line: 'writ config print', about: 'what applies to a change of this branch' }],
    load: async () => (await import('../commands/guide.ts')).configPrintCommand,
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell',
    description: 'In bash the package `bash-completion` must be installed.',
    arguments: [{ name: 'SHELL', about: '`bash`, `zsh` or `fish`' }],
    options: [],
    examples: [
      { line: 'writ completion bash > ~/.local/share/bash-completion/completions/writ', about: 'bash' },
      { line: 'writ completion zsh > ~/.zfunc/_writ', about: 'zsh, with `~/.zfunc` in `fpath`' },
      { line: 'writ completion fish > ~/.config/fish/completions/writ.fish', about: 'fish' },
    ],
    load: async () => (await import('../commands/completion.ts')).completionCommand,
  },
  {
    name: 'complete',
    summary: 'say what can follow on a command line',
    hidden: true,
    arguments: [{ name: 'WORD', about: 'the words so far', variadic: true, optional: true }],
    options: [],
    examples: [{ line: 'writ complete -- spec n', about: 'asked by the script of `writ completion`' }],
    load: async () => (await import('../commands/completion.ts')).completeCommand,
  },
];
