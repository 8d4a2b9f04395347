import { escapeJson } from '../../api/escape-json.ts';
import type { McpGround } from '../../session/mcp/mcp-ground.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/**
 * `writ code --stdio`: one client of the Model Context Protocol over standard input and output, until it sends or reads
 * no more; exit 0. Standard output carries the protocol and nothing else, a line a message also to whoever splits lines
 * at U+2028. There is no model and no controller: who is asked is the client's own person.
 */
export async function serveStdio(
  { print, signal, stdin }: Pick<CommandContext, 'print' | 'signal' | 'stdin'>,
  ground: McpGround,
): Promise<CommandResult> {
  const { serveMcpStdio } = await import('../../session/mcp/serve-mcp-stdio.ts');
  const unread = new AbortController();
  const write = (line: string): void => {
    print.raw(escapeJson(line));
    void print.taken().then((isRead) => isRead || unread.abort());
  };
  await serveMcpStdio(ground, { input: stdin, write, signal: AbortSignal.any([signal, unread.signal]) });
  return succeeded({}, () => {});
}
