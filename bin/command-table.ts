import type { CommandSpec } from './command.ts';
import { contractCommands } from './command-table/contract-commands.ts';
import { otherCommands } from './command-table/other-commands.ts';
import { pluginCommands } from './command-table/plugin-commands.ts';
import { runCommands } from './command-table/run-commands.ts';

/** Every command, in the order of the help text. Data only: nothing of a command loads before it is asked for. */
export const commands: readonly CommandSpec[] = [
  ...contractCommands,
  ...runCommands,
  ...pluginCommands,
  ...otherCommands,
];
