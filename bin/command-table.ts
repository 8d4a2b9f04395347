import type { CommandSpec } from './command-parts/command.ts';
import { attestCommands } from './command-table/attest-commands.ts';
import { codeCommands } from './command-table/code-commands.ts';
import { contractCommands } from './command-table/contract-commands.ts';
import { ledgerCommands } from './command-table/ledger-commands.ts';
import { otherCommands } from './command-table/other-commands.ts';
import { pluginCommands } from './command-table/plugin-commands.ts';
import { runCommands } from './command-table/run-commands.ts';
import { serviceCommands } from './command-table/service-commands.ts';
import { sessionCommands } from './command-table/session-commands.ts';
import { vaultCommands } from './command-table/vault-commands.ts';

/** Every command, in the order of the help text. Data only: nothing of a command loads before it is asked for. */
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
];
