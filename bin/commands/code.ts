import { WritError } from '../../core/base/errors.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';

/** `writ code`: no command line leads here before it serves. */
export async function run(_: CommandContext): Promise<CommandResult> {
  throw new WritError('UNSUPPORTED_OPERATION');
}
