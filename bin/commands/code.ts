import { WritError } from '../../core/base/errors.ts';
import { readCodeLine } from '../code/code-line.ts';
import { serveStdio } from '../code/serve-stdio.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';

/** `writ code`: with `--stdio` it serves MCP; screen and page are not served yet. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const line = readCodeLine(context);
  if (line.mode === 'stdio') return serveStdio(context, line);
  if (line.mode === 'terminal' && !context.interactive) throw new WritError('TERMINAL_REQUIRED');
  throw new WritError('UNSUPPORTED_OPERATION');
}
