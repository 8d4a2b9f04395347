import type { McpGround } from '../../session/mcp/mcp-ground.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/**
 * `writ code --stdio`: one client of the Model Context Protocol over standard input and output, until it goes; exit 0.
 * Standard output carries the protocol and nothing else. There is no model and no controller: who is asked is the
 * client's own person.
 */
export async function serveStdio(
  { print, signal, stdin }: Pick<CommandContext, 'print' | 'signal' | 'stdin'>,
  ground: McpGround,
): Promise<CommandResult> {
  const { serveMcpStdio } = await import('../../session/mcp/serve-mcp-stdio.ts');
  await serveMcpStdio(ground, { input: stdin, write: (text) => print.raw(text), signal });
  return succeeded({}, () => {});
}
