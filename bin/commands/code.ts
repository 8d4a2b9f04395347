import { resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { openLog } from '../../session/open-log.ts';
import { whyNoTerminal } from '../../session/tui/term/process-ground.ts';
import { readCodeLine } from '../code/code-line.ts';
import { withAside } from '../code/code-on-screen.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';

/**
 * `writ code`: serves a session until SIGINT or SIGTERM, then exits 0. With `--json` one line says where, once it is
 * served. A screen is drawn before what opens a session is loaded.
 */
export async function codeCommand(context: CommandContext): Promise<CommandResult> {
  const line = readCodeLine(context);
  if (line.listsThreads) {
    const { listResumable } = await import('../code/list-resumable.ts');
    return listResumable(context, line);
  }
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
    if (line.mode === 'terminal' && !context.json) {
      const { codeOnScreen } = await import('../code/code-on-screen.ts');
      return await codeOnScreen(told, line, { log, aside });
    }
    const { codeServed } = await import('../code/serve-line.ts');
    return await codeServed(told, line, log);
  } finally {
    log.close();
  }
}

/** A screen needs a terminal to read from and to draw on; for a program one line says where the session is. */
function requireTerminal({ interactive, hasScreen, json, env, options }: CommandContext): void {
  const isTerminal = { input: interactive, output: json || hasScreen };
  const isPlain = json || options.flag('plain');
  const why = whyNoTerminal({ env, isTerminal }, isPlain);
  if (why !== undefined) throw new WritError('TERMINAL_REQUIRED', { message: why, detail: { why } });
}
