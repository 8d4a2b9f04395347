/* Every command. */
import type { CommandSpec } from './command-parts/command.ts';
import { codeCommands, sessionCommands } from './command-table/code-commands.ts';
import { contractCommands } from './command-table/contract-commands.ts';
import { guideCommands } from './command-table/guide-commands.ts';
import {
  attestCommands,
  ledgerCommands,
  serviceCommands,
  vaultCommands,
} from './command-table/ledger-commands.ts';
import { otherCommands } from './command-table/other-commands.ts';
import { pluginCommands } from './command-table/plugin-commands.ts';
import { runCommands } from './command-table/run-commands.ts';

/** Every command, in help order. Data only: a command's code is loaded on use. */
export const commands: readonly CommandSpec[] = [
  ...contractCommands,
  ...runCommands,
  ...attestCommands,
  ...ledgerCommands,
  ...pluginCommands,
  ...vaultCommands,
  ...codeCommands,
  ...serviceCommands,
  ...sessionCommands,
  ...otherCommands,
  ...guideCommands,
];
