import { resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { openLog } from '../../session/log/open-log.ts';
import { whyNoTerminal } from '../../session/tui/term/why-no-terminal.ts';
import { withAside } from '../code/aside.ts';
import { type CodeLine, readCodeLine } from '../code/code-line.ts';
import { mcpGround } from '../code/mcp-ground.ts';
import { readSessionOptions } from '../code/read-session-options.ts';
import type { CodeParts } from '../code/serve-code.ts';
import { serveStdio } from '../code/serve-stdio.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { openReaching } from '../command-parts/reach-provider.ts';

/**
 * `writ code`: serves a session until SIGINT or SIGTERM, then exits 0. With `--json` one line says where, once it is
 * served.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const line = readCodeLine(context);
  if (line.mode === 'terminal') requireTerminal(context);
  // Whatever is said by the way must not write over a screen: the log, notes, complaints.
  const { context: told, aside } = withAside(context);
  const log = openLog({
    env: context.env,
    toPath: (given) => resolve(context.cwd, given),
    clock: systemClock,
    stderr: (text) => told.print.complain(text),
  });
  try {
    return await serve(withPlace(told, line), line, { log, aside });
  } finally {
    log.close();
  }
}

/** A screen needs a terminal to read from and to draw on; for a program one line says where the session is. */
function requireTerminal({ interactive, hasScreen, json, env }: CommandContext): void {
  const isTerminal = { input: interactive, output: json || hasScreen };
  const why = whyNoTerminal({ env: json ? { ...env, TERM: env.TERM ?? 'none' } : env, isTerminal });
  if (why !== undefined) throw new WritError('TERMINAL_REQUIRED', { message: why, detail: { why } });
}

async function serve(
  context: CommandContext,
  line: CodeLine,
  around: Pick<CodeParts, 'log' | 'aside'>,
): Promise<CommandResult> {
  const repository = await openRepository(line.workingDir);
  const reaching = await openReaching(context);
  const options = await readSessionOptions(context, line, repository, reaching.variable);
  if (options.mode === 'stdio') return serveStdio(context, mcpGround(context, options, repository));
  // A client of MCP on standard input waits for none of it.
  const { serveCode } = await import('../code/serve-code.ts');
  const served = await serveCode(context, { ...around, line, repository, reaching, options });
  // Its user went on with another thread: the same command line, but for that.
  return served.resume === undefined
    ? served.result
    : serve(context, { ...line, resume: served.resume }, around);
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
