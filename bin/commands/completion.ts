/* Shell completion: the script of a shell, and what it asks writ for. */
import { RootCommand, ShellCompDirective } from '@bomb.sh/tab';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { listRuns } from '../../engine/record/list-runs.ts';
import { rules } from '../../gates/rules.ts';
import { tryGit } from '../../workspace/git/git.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import {
  type CommandContext,
  type CommandResult,
  type CommandSpec,
  succeeded,
} from '../command-parts/command.ts';
import { globalOptions } from '../help.ts';

const shells = ['bash', 'zsh', 'fish'];

/**
 * The script of bash. What is typed reaches writ as words: that of the library evaluates it, so that a TAB behind
 * `> FILE` would empty the file. Words are undivided at `=` and `:`, without bash-completion at white space. Without an
 * answer of writ, bash completes names of files.
 */
const bashScript = `# bash completion for writ
__writ_complete() {
    local cur cword line words=()
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n "=:" cur words cword
    else
        line="\${COMP_LINE:0:COMP_POINT}"
        read -ra words <<< "$line"
        if [[ "$line" == *[[:space:]] ]]; then words+=(""); fi
        cword=$(( \${#words[@]} - 1 ))
    fi
    COMPREPLY=()
    while IFS= read -r line; do
        [[ "$line" == :* ]] || COMPREPLY+=("\${line%%$'\\t'*}")
    done < <(writ complete -- "\${words[@]:1:cword}" 2>/dev/null </dev/null)
}
complete -o default -F __writ_complete writ
`;

/** `writ completion SHELL`: its script on stdout. USAGE for another shell. */
export async function completionCommand({ args: [shell = ''] }: CommandContext): Promise<CommandResult> {
  if (!shells.includes(shell))
    throw new WritError('USAGE', {
      message: `the shell must be one of ${shells.join(', ')}, found \`${shell}\``,
      detail: { expected: shells, found: shell },
    });
  const script = shell === 'bash' ? bashScript : scriptOf(shell);
  return succeeded({ shell, script }, (printer) => printer.raw(script));
}

function scriptOf(shell: string): string {
  const lines: string[] = [];
  // The library prints the script.
  const { log } = console;
  console.log = (line: string) => void lines.push(line);
  try {
    new RootCommand().setup('writ', 'writ', shell);
  } finally {
    console.log = log;
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** `writ complete -- WORDS`: what can follow, one on a line, with its description. Never fails. */
export async function completeCommand(context: CommandContext): Promise<CommandResult> {
  const { commands } = context;
  const root = new RootCommand();
  const words = [...context.args];
  const values = await valuesFor(context, commandOf(words, commands));
  for (const { name, value, short, about } of globalOptions)
    if (value === undefined) root.option(name, about, short ?? '');
  for (const { name, summary, options, arguments: given, hidden } of commands) {
    if (hidden) continue;
    const command = root.command(name, summary);
    for (const one of [...options, ...globalOptions]) {
      const choices = one.choices ?? [];
      if (one.value === undefined) command.option(one.name, one.about, one.short ?? '');
      else
        command.option(
          one.name,
          one.about,
          (complete) => {
            for (const choice of choices) complete(choice, one.about);
          },
          one.short ?? '',
        );
    }
    for (const argument of given)
      command.argument(
        argument.name,
        (complete) => {
          for (const [text, about] of values(argument.name)) complete(text, about);
        },
        argument.variadic === true,
      );
  }
  const answers = new Map<string, string>();
  // In place of the library's printing.
  Object.defineProperty(root, 'complete', {
    value: (typed: string) => {
      const begun = typed.includes('=') ? typed.slice(typed.indexOf('=') + 1) : typed;
      for (const { value, description = '' } of root.completions)
        if (value.startsWith(begun)) answers.set(value, description);
    },
  });
  root.parse(words);
  const lines = [...answers].map(([value, about]) => `${value}\t${about}`);
  const { ShellCompDirectiveDefault: files, ShellCompDirectiveNoFileComp: noFiles } = ShellCompDirective;
  const text = [...lines, `:${lines.length === 0 ? files : noFiles}`, ''].join('\n');
  return succeeded({ text }, (printer) => printer.raw(text));
}

function commandOf(words: readonly string[], commands: readonly CommandSpec[]): CommandSpec | undefined {
  const typed = words.filter((word) => !word.startsWith('-'));
  return commands.find(({ name }) => name === typed[0] || name === `${typed[0]} ${typed[1]}`);
}

type Value = readonly [text: string, about: string];

/** What arguments of a command can be here: runs, rules, shells, refs. */
async function valuesFor(
  context: CommandContext,
  command: CommandSpec | undefined,
): Promise<(argument: string) => readonly Value[]> {
  const names = new Set(command?.arguments.map(({ name }) => name));
  const known = new Map<string, readonly Value[]>();
  known.set(
    'SHELL',
    shells.map((shell) => [shell, '']),
  );
  known.set(
    'ID',
    rules.map(({ id, guide }) => [id, guide?.refuses ?? '']),
  );
  try {
    const repository = await openRepository(context.repoPath ?? context.cwd, { onlyReads: true });
    if (['RUN', 'RUN|CODE', 'TARGET'].some((name) => names.has(name))) {
      const runs = (await listRuns(context.stores, repository, systemClock)).map(
        ({ runId, summary }): Value => [runId, summary],
      );
      for (const name of ['RUN', 'RUN|CODE', 'TARGET']) known.set(name, runs);
    }
    if (names.has('TARGET') || names.has('COMMIT')) {
      const args = ['for-each-ref', '--format=%(refname:short)', 'refs/heads/', 'refs/tags/'];
      const refs = ((await tryGit(repository, args)) ?? '').split('\n').filter((ref) => ref !== '');
      const listed = refs.slice(0, 200).map((ref): Value => [ref, 'ref']);
      known.set('COMMIT', listed);
      known.set('TARGET', [...(known.get('TARGET') ?? []), ['HEAD', 'the commit checked out'], ...listed]);
    }
  } catch {
    // Outside a repository there are no runs and no refs.
  }
  return (name) =>
    names.has(name) && command?.name.startsWith('spec ') !== true ? (known.get(name) ?? []) : [];
}
