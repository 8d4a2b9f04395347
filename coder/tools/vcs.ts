import type { CoderTool } from './tool.ts';

/** Version control as questions; nothing that changes it is to be had in a run. */
export const runWritVcs: CoderTool = {
  name: 'run_writ_vcs',
  says: 'Asks version control: status, diff, branch, log, show, show-ref, ls-files. `status --json` and `diff` tell what you changed. Commits are `HEAD`, `HEAD~1` or an id; `show COMMIT:PATH` is a file. add, commit and switch need a person: leave the files as they shall be.',
  takes: {
    command: { type: 'string', says: 'the subcommand' },
    args: { type: 'strings', says: 'its arguments, one word each', optional: true },
  },
  wants: 'history',
  async use({ command, args }, hands) {
    const words = Array.isArray(args) ? args : [];
    const { outcome, text } = await hands.use({ kind: 'vcs', command: String(command), args: words });
    return { text: text === '' ? '[nothing]' : text, isError: outcome !== 'done' };
  },
};
