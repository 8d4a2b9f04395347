import { readVersion } from '../../api/version.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { serveMcpStdio } from '../../session/mcp/serve-mcp-stdio.ts';
import { isReading } from '../../session/options/session-options.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { askWrit } from '../mcp/ask-writ.ts';
import type { CodeLine } from './code-line.ts';

/**
 * `writ code --stdio`: one client of the Model Context Protocol over standard input and output, until it goes; exit 0.
 * Standard output carries the protocol and nothing else. There is no model and no controller: who is asked is the
 * client's own person. NOT_A_REPOSITORY.
 */
export async function serveStdio(context: CommandContext, line: CodeLine): Promise<CommandResult> {
  const { env, print, signal, stdin } = context;
  const { root: cwd } = await openRepository(line.workingDir);
  const ground = {
    cwd,
    version: readVersion(),
    ask: askWrit({ cwd, env }),
    approval: { policy: line.approvalPolicy },
    readsOnly: isReading(line.context),
    log: (text: string) => print.note(text),
  };
  await serveMcpStdio(ground, { input: stdin, write: (text) => print.raw(text), signal });
  return succeeded({}, () => {});
}
