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
        about:
          'a run id or its first characters, a commit, an error code, or a rule; default: the newest run',
        optional: true,
      },
    ],
    options: [],
    examples: [
      { line: 'writ explain', about: 'the newest run' },
      { line: 'writ explain 0198c1e2', about: 'the run whose id starts with these characters' },
      { line: 'writ explain WORKTREE_DIRTY', about: 'an error code' },
      { line: 'writ explain new-tests', about: 'a rule' },
    ],
    load: async () => (await import('../commands/guide.ts')).explainCommand,
  },
  {
    name: 'rules',
    summary: 'list every rule: what it refuses, how to correct it, how to allow it',
    arguments: [{ name: 'ID', about: 'one rule; default: all', optional: true }],
    options: [],
    examples: [{ line: 'writ rules tests-kept', about: 'one rule, with an example' }],
    load: async () => (await import('../commands/guide.ts')).rulesCommand,
  },
  {
    name: 'config print',
    summary: 'print the configuration that applies, and where each value comes from',
    description:
      'The configuration is `.writ/config.toml` at COMMIT; by default at the commit that is checked out, because that configuration applies to the next change.',
    arguments: [{ name: 'COMMIT', about: 'print the configuration at this commit', optional: true }],
    options: [],
    examples: [
      { line: 'writ config print', about: 'the configuration that applies to a change of this branch' },
    ],
    load: async () => (await import('../commands/guide.ts')).configPrintCommand,
  },
  {
    name: 'baseline',
    summary: 'record the existing findings, so that writ refuses only new ones',
    description:
      'Writes `.writ/baseline.json` with the errors in the commit that is checked out: direct execution (`no-direct-eval`), static analysis (`sast`), and vulnerable dependencies (`sca`) if advisories are imported. Commit the file to make it count. A finding that only moves within its file stays known. Later changes to the file need two approvals (`writ help baseline.md`).',
    arguments: [],
    options: [],
    examples: [
      { line: 'writ baseline && git add .writ/baseline.json', about: 'before a team starts with writ' },
    ],
    load: async () => (await import('../commands/baseline.ts')).baselineCommand,
  },
  {
    name: 'hook install',
    summary: 'let git scan changes before a commit or a push',
    description:
      'pre-commit scans the staged files, commit-msg looks for secrets in the message, pre-push scans the commits that the remote does not have. An existing hook stays and runs first. `git commit --no-verify` skips both hooks.',
    arguments: [hook],
    options: [{ name: 'dry-run', about: 'show what would be written' }],
    examples: [
      { line: 'writ hook install pre-commit', about: 'for this repository and all its working trees' },
    ],
    load: async () => (await import('../commands/hook.ts')).installCommand,
  },
  {
    name: 'hook uninstall',
    summary: 'remove a hook of writ, and restore the earlier hook',
    arguments: [hook],
    options: [],
    examples: [{ line: 'writ hook uninstall pre-commit', about: 'the earlier hook runs again' }],
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
    summary: 'show findings and errors in specs in an editor, as a language server',
    description:
      'Speaks the Language Server Protocol over standard input and output. For each open document, the editor shows findings of the rules in the changes since the last commit, and errors in specs and in the files of `.writ/`. No check runs, and no file changes (`writ help editor`).',
    arguments: [],
    options: [{ name: 'stdio', about: 'accepted without an effect, because some editors add this option' }],
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
