import { type Guard, within } from './guard.ts';

const uses = 'test/coder/tool-invocations.test.ts';
const parts = 'test/coder/read-parts.test.ts';
const calls = 'test/coder/hostile-calls.test.ts';
const broken = 'test/coder/broken-tool.test.ts';
const web = 'test/coder/web-search.test.ts';
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
  ...within('engine/run/work/tools/open-tools.ts', broken, [
    [
      'a tool that breaks is told',
      'throw isWritError(cause) ? cause :',
      'throw isWritError(cause) || cause !== null ? cause :',
      'an attempt with a broken tool',
    ],
    [
      'what breaks has been used',
      "await settle({ outcome: 'failed', text:",
      "void ({ outcome: 'failed', text:",
      'a tool that breaks is told',
    ],
    [
      'words of a fault are masked',
      'mask(messageOf(cause))',
      'messageOf(cause)',
      'a tool that breaks is told',
    ],
  ]),
  ...within('engine/run/work/tools/open-tools.ts', web, [
    ['every door is kept', '      setting.keep?.(use);', '      used.at(-1);', 'with a key the search API'],
  ]),
  ...within('engine/run/work/work-attempt.ts', broken, [
    [
      'an attempt with a broken tool has failed',
      'brokenRecord(tools, worked) ?? (await',
      '(await',
      'an attempt with a broken tool',
    ],
    [
      'what needs a broken tool is not asked again',
      'if (broken() !== undefined) return {',
      'if (broken() === null) return {',
      'an attempt with a broken tool',
    ],
  ]),
  ...within('engine/run/work/work-attempt.ts', 'test/engine/run/work/worker-breaks.test.ts', [
    [
      'a worker that broke is not asked again where it left its files',
      "    throw new WritError('WORKER_FAILED', {\n      message: `the worker",
      "    return await worker.work(order);\n    throw new WritError('WORKER_FAILED', {\n      message: `the worker",
      'a worker that breaks stops its run once',
    ],
  ]),
  ...within('engine/run/work/worker-reason.ts', broken, [
    [
      'a reason is kept masked',
      'redactTexts(record.reason, policyOf(run))',
      'record.reason',
      'a decision says why a worker',
    ],
    [
      'a reason is bounded',
      'const isCut = line.length > maxWorkerReason',
      'const isCut = line === maxWorkerReason.toString()',
      'a decision says why a worker',
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
