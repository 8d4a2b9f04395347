import { resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { openLog } from '../../session/open-log.ts';
import { whyNoTerminal } from '../../session/tui/term/process-ground.ts';
import { type CodeLine, readCodeLine, withAside } from '../code/code-line.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/**
 * `writ code`: serves a session until SIGINT or SIGTERM, then exits 0. With `--json`, prints one line with the
 * address once the session is served. The screen is drawn before the session's modules load.
 */
export async function codeCommand(context: CommandContext): Promise<CommandResult> {
  const asked = readCodeLine(context);
  const line = asked.listsThreads || asked.continues ? await withThread(context, asked) : asked;
  if ('exitCode' in line) return line;
  if (line.mode === 'terminal') requireTerminal(context);
  // Log, notes and warnings must not overwrite the screen.
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

/** The line with the thread that `--continue` or a person chooses; where no one can choose, the list of threads. */
async function withThread(context: CommandContext, line: CodeLine): Promise<CodeLine | CommandResult> {
  const { chooseThread, lastThread, listResumable } = await import('./threads.ts');
  if (line.continues) return { ...line, resume: await lastThread(line) };
  const mayChoose = context.interactive && context.hasScreen && !context.json && line.mode === 'terminal';
  if (!mayChoose) return listResumable(context, line);
  const resume = await chooseThread(context, line);
  return resume === undefined ? succeeded({}, () => {}) : { ...line, resume };
}

/**
 * Requires a terminal for input and output if a screen is used. Programs get one line with the session's address
 * instead.
 */
function requireTerminal({ interactive, hasScreen, json, env, options }: CommandContext): void {
  const isTerminal = { input: interactive, output: json || hasScreen };
  const isPlain = json || options.flag('plain');
  const why = whyNoTerminal({ env, isTerminal }, isPlain);
  if (why !== undefined) throw new WritError('TERMINAL_REQUIRED', { message: why, detail: { why } });
}
