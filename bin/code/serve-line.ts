import { openRepository } from '../../engine/vcs/repository.ts';
import type { SessionLog } from '../../session/log/open-log.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { openReaching } from '../command-parts/reach-provider.ts';
import type { CodeLine } from './code-line.ts';
import { mcpGround } from './mcp-ground.ts';
import { readSessionOptions } from './read-session-options.ts';
import type { WhileServed } from './serve-code.ts';
import { serveStdio } from './serve-stdio.ts';

/** Serves what a line says for as long as `whileServed` lasts. */
export async function serveLine(
  given: CommandContext,
  line: CodeLine,
  log: SessionLog,
  whileServed: WhileServed,
): Promise<CommandResult> {
  const context = withPlace(given, line);
  const repository = await openRepository(line.workingDir);
  const reaching = await openReaching(context);
  const options = await readSessionOptions(context, line, repository, reaching.variable);
  if (options.mode === 'stdio') return serveStdio(context, mcpGround(context, options, repository));
  // Whoever left by now waits for nothing more.
  context.signal.throwIfAborted();
  // A client of MCP on standard input waits for none of it.
  const { serveCode } = await import('./serve-code.ts');
  return serveCode(context, { line, log, repository, reaching, options }, whileServed);
}

/** The directory of the session is that of everything else that is looked for. */
function withPlace(context: CommandContext, { workingDir }: CodeLine): CommandContext {
  const told = new Set<string>();
  const { note } = context.print;
  const print: CommandContext['print'] = {
    ...context.print,
    // Each turn says anew where its key was found.
    note(...parts) {
      const text = JSON.stringify(parts);
      if (!told.has(text)) note(...parts);
      told.add(text);
    },
  };
  return { ...context, print, repoPath: workingDir };
}
