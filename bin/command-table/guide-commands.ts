/* Declares the commands that explain writ. */
import { type CommandSpec, loadLean } from '../command-parts/command.ts';

const hook = { name: 'NAME', about: '`pre-commit`, `commit-msg` or `pre-push`' };

/** Help, rules, codes, configuration, hooks, completion. */
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
      {
        name: 'RUN|CODE',
        about: 'a run id, the beginning of one, a commit, an error code, or a rule; default: the newest run',
        optional: true,
      },
    ],
    options: [],
    examples: [
      { line: 'writ explain', about: 'the newest run' },
      { line: 'writ explain 0198c1e2', about: 'another run' },
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
    name: 'baseline',
    summary: 'record the findings that exist, so that changes answer for new ones only',
    description:
      'Writes `.writ/baseline.json` from the commit that is checked out: errors of `no-direct-eval`, of the rows of `sast`, and of `sca` if advisories are imported. It counts once it is committed. A finding that moves in its file is known; another equal one, and one in another file, is new. Later changes to the file take two approvals (docs/guides/baseline.md).',
    arguments: [],
    options: [],
    examples: [
      { line: 'writ baseline && git add .writ/baseline.json', about: 'before a team switches writ on' },
    ],
    load: async () => (await import('../commands/baseline.ts')).baselineCommand,
  },
  {
    name: 'hook install',
    summary: 'let git scan what is staged, said or pushed',
    description:
      'pre-commit scans what is staged, commit-msg looks for secrets in the message, pre-push scans the commits that the remote does not have. A hook that is there is kept, and called first. `git commit --no-verify` goes past it, as past every hook.',
    arguments: [hook],
    options: [{ name: 'dry-run', about: 'show what would be written' }],
    examples: [
      { line: 'writ hook install pre-commit', about: 'in this repository, and all its working trees' },
    ],
    load: async () => (await import('../commands/hook.ts')).installCommand,
  },
  {
    name: 'hook uninstall',
    summary: 'remove a hook of writ, and put back the one that was there',
    arguments: [hook],
    options: [],
    examples: [{ line: 'writ hook uninstall pre-commit', about: 'as before' }],
    load: async () => (await import('../commands/hook.ts')).uninstallCommand,
  },
  {
    name: 'hook run',
    summary: 'scan as a hook of git',
    hidden: true,
    arguments: [hook, { name: 'ARG', about: 'what git passes', variadic: true, optional: true }],
    options: [],
    examples: [{ line: 'writ hook run pre-commit', about: 'called by the hook' }],
    load: async () => (await import('../commands/hook.ts')).runHookCommand,
  },
  {
    name: 'lsp',
    summary: 'show findings and faults of specs in an editor, as a language server',
    description:
      'Speaks the Language Server Protocol over standard input and output. For an open document, saved or not: what the rules find in its change since the last commit, as `writ scan --range` would; faults of a spec, as `writ spec validate`; faults of `.writ/config.toml`, `.writ/owners` and `.writ/waivers.toml`. It runs no check and changes nothing (docs/guides/editor.md).',
    arguments: [],
    options: [{ name: 'stdio', about: 'as without it; editors may add it' }],
    streams: true,
    examples: [{ line: 'writ lsp', about: 'started by an editor' }],
    load: () => loadLean(async () => (await import('../commands/lsp.ts')).lspCommand, true),
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell',
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
