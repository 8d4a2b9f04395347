import { type Guard, within } from './guard.ts';

const rules = 'test/coder/rules-of-tools.test.ts';
const acl = 'test/engine/tool/acl.test.ts';

/** What the tools of a worker show, write and say, by the rules of the contract. */
export const guards: readonly Guard[] = [
  ...within('engine/run/work/hands/execute-in-workspace.ts', rules, [
    [
      'what a command had of the network is kept',
      'if (network !== undefined) told(network);',
      '',
      'what a command had of the network',
    ],
  ]),
  ...within('engine/run/work/work-attempt.ts', 'test/engine/run/run-edges.test.ts', [
    [
      'an answer to being stopped is none',
      'run.means.signal.throwIfAborted();\n    return result;',
      'return result;',
      'what a worker answers to being stopped',
    ],
  ]),
  ...within('engine/tool/workspace-file.ts', rules, [
    [
      'a search reads no file that is hidden from it',
      '|| !keep(place)) continue;',
      ') continue;',
      'what an allow rule hides',
    ],
    [
      'a listing names none',
      'if (!keep(posix.join(path, entry.name))) continue;',
      '',
      'what an allow rule hides',
    ],
  ]),
  ...within('engine/tool/acl/guard-tool.ts', rules, [
    [
      'what may not be read is not searched either',
      'if (speaksOfReading && tool !== fs)',
      'if (tool === fs)',
      'what a deny rule for reading hides',
    ],
    [
      'hosts that a tool cannot reach open it nothing',
      'if (networkHosts && !reachesHosts)',
      'if (networkHosts === null)',
      'keys that a tool cannot keep',
    ],
  ]),
  ...within('engine/tool/acl/guard-tool.ts', acl, [
    [
      'the strictest deny rule bounds a result',
      'Math.min(most, ...denying.map(({ constraints }) => resultCap(constraints)))',
      'most',
      'tools that read and write files',
    ],
  ]),
  ...within('engine/run/work/hands/judge-use.ts', rules, [
    [
      'a directory that may not be read is not searched',
      'if (shows === undefined || shows(real)) return undefined;',
      'if (shows !== null) return undefined;',
      'what a deny rule for reading hides',
    ],
  ]),
  ...within('engine/run/work/tools/open-tools.ts', rules, [
    ['results are cut', 'cutText(mask(text), maxResultBytes)', 'mask(text)', 'results are cut'],
  ]),
  ...within('engine/run/work/tools/cut-text.ts', rules, [
    [
      'no character is cut',
      'while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;',
      '',
      'results are cut',
    ],
  ]),
  ...within('engine/run/work/hands/watch-writes.ts', rules, [
    [
      'what is out of scope is told',
      "changed.filter(({ path }) => scopeVerdict(scope, path) !== 'in')",
      'changed.slice(changed.length)',
      'what a command wrote out of place',
    ],
    [
      'what lies beyond the write roots is told',
      'changed.filter(({ path }) => !writeRoots.every((roots) => isUnder(roots, path)))',
      'changed.slice(changed.length + writeRoots.length)',
      'what a command leaves outside its write roots',
    ],
  ]),
  ...within('engine/run/work/work-attempt.ts', rules, [
    [
      'what stays beyond the write roots is refused',
      'if (strayed !== undefined) {',
      "if (strayed === '') {",
      'what a command leaves outside its write roots',
    ],
  ]),
  ...within('engine/tool/limited-shell.ts', rules, [
    [
      'no file of a command grows beyond the bound',
      'if (maxWriteBytes === undefined)',
      'if (maxWriteBytes !== null)',
      'no file that a command writes grows',
    ],
  ]),
];
