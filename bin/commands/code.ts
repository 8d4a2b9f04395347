import { resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { openLog, type SessionLog } from '../../session/log/open-log.ts';
import { type CodeLine, readCodeLine } from '../code/code-line.ts';
import { mcpGround } from '../code/mcp-ground.ts';
import { readSessionOptions } from '../code/read-session-options.ts';
import { serveStdio } from '../code/serve-stdio.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { openReaching } from '../command-parts/reach-provider.ts';

/**
 * `writ code`: serves a session until SIGINT or SIGTERM, then exits 0. With `--json` one line says where, once it is
 * served.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const line = readCodeLine(context);
  if (line.mode === 'terminal' && !context.interactive) throw new WritError('TERMINAL_REQUIRED');
  const log = openLog({
    env: context.env,
    toPath: (given) => resolve(context.cwd, given),
    clock: systemClock,
    stderr: (text) => context.print.complain(text),
  });
  try {
    return await serve(withPlace(context, line), line, log);
  } finally {
    log.close();
  }
}

async function serve(context: CommandContext, line: CodeLine, log: SessionLog): Promise<CommandResult> {
  const repository = await openRepository(line.workingDir);
  const reaching = await openReaching(context);
  const options = await readSessionOptions(context, line, repository, reaching.variable);
  if (options.mode === 'stdio') return serveStdio(context, mcpGround(context, options, repository));
  // A client of MCP on standard input waits for none of it.
  const { serveCode } = await import('../code/serve-code.ts');
  return serveCode(context, { line, log, repository, reaching, options });
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
