import { WritError } from '../../core/base/errors.ts';
import { readCodeLine } from '../code/code-line.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';

/** `writ code`: no command line leads here before it serves. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const line = readCodeLine(context);
  if (line.mode === 'terminal' && !context.interactive) throw new WritError('TERMINAL_REQUIRED');
  throw new WritError('UNSUPPORTED_OPERATION');
}
