import { type Guard, within } from './guard.ts';

const obstacles = 'test/engine/plugin-trust/process/obstacles.test.ts';
const told = 'a plugin and people are told by a code and in words why there was no connection';

/** What came between a plugin and its hosts is told, and whom it reached stands in the record. */
export const guards: readonly Guard[] = [
  ...within('engine/plugin-trust/process/plugin-process.ts', obstacles, [
    ['obstacles for the plugin', '    say({ obstacle });\n', '', told],
  ]),
  ...within('engine/plugin-trust/process/open-call.ts', obstacles, [
    ['obstacles for people', 'withObstacles(message, obstacles())', 'message', told],
  ]),
  ...within('engine/plugin-trust/process/plugin-network.ts', obstacles, [
    ['the network of an ended process', '      for (const use of uses) ended.add(use);\n', '', told],
  ]),
  ...within('engine/run/decide/decide-run.ts', 'test/engine/plugin-trust/parts/provider-runs.test.ts', [
    [
      'networks of plugins in the provenance',
      '      ...pluginNetworks,\n',
      '',
      'a plugin’s model does the work, is asked at its own host alone',
    ],
  ]),
];
