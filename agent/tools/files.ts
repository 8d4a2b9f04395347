/* Tool declarations for reading, listing and searching files, and for shell commands. */
import type { HandAnswer } from '../../core/interfaces/worker.ts';
import type { CoderTool, ToolOutcome } from './tool.ts';

function outcomeOf({ outcome, text }: HandAnswer): ToolOutcome {
  return { text: text === '' ? '[nothing]' : text, isError: outcome !== 'done' };
}

export const readFile: CoderTool = {
  name: 'read_file',
  says: 'Reads a text file of the repository, with line numbers. Long files are read in parts.',
  takes: {
    path: { type: 'string', says: 'relative to the repository' },
    from_line: { type: 'integer', says: 'first line, from 1', optional: true },
    lines: { type: 'integer', says: 'how many, at most 2000', optional: true },
  },
  async use({ path, from_line: fromLine, lines }, hands) {
    const from = fromLine === undefined ? {} : { fromLine: Number(fromLine) };
    const many = lines === undefined ? {} : { lines: Number(lines) };
    return outcomeOf(await hands.use({ kind: 'read', path: String(path), ...from, ...many }));
  },
};

export const listDir: CoderTool = {
  name: 'list_dir',
  says: 'Lists a directory of the repository; directories end with a slash.',
  takes: { path: { type: 'string', says: 'relative to the repository; `.` is its top' } },
  use: async ({ path }, hands) => outcomeOf(await hands.use({ kind: 'list', path: String(path) })),
};

export const grepFiles: CoderTool = {
  name: 'grep_files',
  says: 'Searches files for lines that match a POSIX extended regular expression.',
  takes: {
    pattern: { type: 'string', says: 'the expression' },
    path: { type: 'string', says: 'file or directory; default: everything', optional: true },
  },
  use: async ({ pattern, path = '.' }, hands) =>
    outcomeOf(await hands.use({ kind: 'search', pattern: String(pattern), path: String(path) })),
};

export const shell: CoderTool = {
  name: 'shell',
  says: 'Runs a shell command in the repository, in a sandbox. The contract says which commands are allowed.',
  takes: {
    command: { type: 'string', says: 'one command line' },
    timeout_seconds: { type: 'integer', says: 'default 120', optional: true },
  },
  async use({ command, timeout_seconds: timeoutSeconds }, hands) {
    const answer = await hands.use({
      kind: 'execute',
      command: String(command),
      ...(timeoutSeconds === undefined ? {} : { timeoutSeconds: Number(timeoutSeconds) }),
    });
    const { text, isError } = outcomeOf(answer);
    return { text: answer.exitCode ? `${text}\n[exit code ${answer.exitCode}]` : text, isError };
  },
};
