import { type Guard, within } from './guard.ts';

const rules = 'test/coder/rules-of-tools.test.ts';
const suites = 'test/engine/tool/shell-suites.test.ts';
const withheld = 'test/plugins/sandbox/withheld-programs.test.ts';

/** What keeps the commands of a model from version control, and from programs that a line hides. */
export const guards: readonly Guard[] = [
  ...within('engine/run/work/hands/judge-use.ts', rules, [
    [
      'a model runs no version control',
      'guardCommand(toolAcl, use.command, { variables, withheld })',
      'guardCommand(toolAcl, use.command, { variables })',
      'a command finds no version control',
    ],
  ]),
  ...within('engine/run/work/hands/execute-in-workspace.ts', rules, [
    [
      'nor does what it runs',
      'withheld: { isWithheld: isVersionControl,',
      'withheld: { isWithheld: () => false,',
      'a command finds no version control',
    ],
  ]),
  ...within('plugins/sandbox/withheld-programs.ts', withheld, [
    [
      'companions are covered',
      'for (const companion of companions) {',
      'for (const companion of companions.slice(companions.length)) {',
      'every name of a withheld file',
    ],
    ['links are resolved', 'return realpathSync(file);', 'return file;', 'every name of a withheld file'],
  ]),
  ...within('plugins/sandbox/bubblewrap.ts', withheld, [
    ['bubblewrap covers them', ', ...withheldMounts(view, request)]', ']', 'bubblewrapSandbox'],
  ]),
  ...within('engine/tool/shell/follow.ts', suites, [
    ['options that run programs are known', 'checkRunningOptions(name, args);', '', ''],
    ["GNU's own names are followed", 'gnuNames.has(name) ? name.slice(1) : name', 'name', ''],
  ]),
  ...within('engine/tool/shell/assigned-name.ts', suites, [
    [
      'modules come from the workspace',
      "workspacePython.has(program ?? '') && isWorkspacePath(value?.literal)",
      'value !== undefined',
      '',
    ],
  ]),
  ...within('engine/tool/shell/running-options.ts', suites, [
    [
      'a script of sed runs nothing',
      "if (name !== 'sed' && name !== 'gsed') return;",
      'if (name) return;',
      '',
    ],
  ]),
  ...within('engine/tool/shell/script.ts', suites, [
    ['text is shown in its own order', 'if (/\\p{Bidi_Control}/u.test(source))', 'if (source === null)', ''],
  ]),
].map((guard) => (guard.fails === '' ? { ...guard, fails: 'hostile lines are refused' } : guard));
