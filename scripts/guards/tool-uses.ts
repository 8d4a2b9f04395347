import { type Guard, within } from './guard.ts';

const uses = 'test/coder/tool-invocations.test.ts';
const parts = 'test/coder/read-parts.test.ts';
const calls = 'test/coder/hostile-calls.test.ts';
const each = 'each use of a tool is a ToolInvocation';

/** What is kept of the tools of a worker, and what of a file a model is shown. */
export const guards: readonly Guard[] = [
  ...within('engine/run/decide/replay-run.ts', uses, [
    ['no use is gone', "same(toolUsesPath, '', found, told);", '', each],
    [
      'a use is of the Run that it lies in',
      "same(path, '/run', run.object_id,",
      "if (at < 0) same(path, '/run', run.object_id,",
      each,
    ],
  ]),
  ...within('engine/run/work/tools/kept-arguments.ts', uses, [
    ['a command is kept masked', 'command: kept(command)', 'command', each],
  ]),
  ...within('engine/run/work/tools/kept-arguments.ts', calls, [
    [
      'words of a model fit into a record',
      ".replaceAll('\\0', '\\ufffd')",
      '',
      'paths that lead nowhere good',
    ],
  ]),
  ...within('engine/run/work/hands/search-workspace.ts', calls, [
    [
      'an expression fits into a process',
      "if (pattern.includes('\\0') || pattern.length > maxPattern) {",
      "if (pattern === '') {",
      'paths that lead nowhere good',
    ],
  ]),
  ...within('engine/tool/acl/real-path.ts', calls, [
    [
      'a name that is too long is no fault',
      '    } catch {\n      // Dangling',
      "    } catch (fault) {\n      if ((fault as { code?: string }).code === 'ENAMETOOLONG') throw fault;\n      // Dangling",
      'paths that lead nowhere good',
    ],
  ]),
  ...within('engine/run/work/hands/use-files.ts', parts, [
    [
      'a file is masked as a whole',
      "numberedLines(mask(bytes.toString('utf8')), range)",
      "numberedLines(bytes.toString('utf8'), range)",
      'a key that stands over several lines',
    ],
  ]),
];
