import { setImmediate } from 'node:timers/promises';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import type { SessionLog } from '../../session/log/open-log.ts';
import { visibleLines } from '../../session/screen/visible.ts';
import { openLateDoor } from '../../session/tui/late-door.ts';
import { processGround } from '../../session/tui/term/process-ground.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import type { Aside } from './aside.ts';
import type { CodeLine } from './code-line.ts';
import { showScreen } from './show-screen.ts';
import { startingSnapshot } from './starting-snapshot.ts';

export interface AroundScreen {
  readonly log: SessionLog;
  /** Where what is said by the way goes while a screen stands. */
  readonly aside: Aside;
}

/**
 * `writ code` on a terminal: draws the screen, opens the session behind it, and serves until its user leaves. Whoever
 * goes on with another thread gets the same command line, but for that.
 */
export async function codeOnScreen(
  context: CommandContext,
  line: CodeLine,
  around: AroundScreen,
): Promise<CommandResult> {
  const { result, resume } = await oneThread(context, line, around);
  return resume === undefined ? result : codeOnScreen(context, { ...line, resume }, around);
}

async function oneThread(
  context: CommandContext,
  line: CodeLine,
  { log, aside }: AroundScreen,
): Promise<{ readonly result: CommandResult; readonly resume?: string }> {
  const late = openLateDoor(startingSnapshot(line, toRfc3339(systemClock.now())));
  const shown = showScreen(context, { door: late.door, line, aside, ground: processGround() });
  const left = new AbortController();
  let isServed = false;
  void shown.ended.then(() => {
    if (!isServed) left.abort();
  });
  const signal = AbortSignal.any([context.signal, left.signal]);
  try {
    // What stands there already is answered before the long loading begins.
    await setImmediate();
    const { serveLine } = await import('./serve-line.ts');
    const result = await serveLine(
      { ...context, signal },
      line,
      log,
      async ({ served, repository, mask }) => {
        isServed = true;
        if (signal.aborted) return tellUnsent(context, shown.unsent());
        const { openDraftKeeper } = await import('./keep-draft.ts');
        const keeper = await openDraftKeeper(repository, served.threadId, {
          clock: systemClock,
          mask,
          report: (fault) => context.print.note(`what you type is not kept: ${messageOf(fault)}`),
        });
        await late.open(served.door);
        shown.opened(served, keeper);
        await shown.ended;
        await keeper.close();
        if (shown.unsent().length > 0) context.print.note('what was not sent is kept with the thread');
      },
    );
    return { result, ...(await shown.ended) };
  } catch (fault) {
    shown.close();
    if (!isServed) tellUnsent(context, shown.unsent());
    if (isServed || !signal.aborted || !isInterruption(fault)) throw fault;
    // Its user left before it was there.
    return { result: succeeded({}, () => {}), ...(await shown.ended) };
  } finally {
    shown.close();
  }
}

/** Of a session that could not be opened: whoever typed into it meanwhile can copy that. */
function tellUnsent({ print }: CommandContext, unsent: readonly string[]): void {
  for (const text of unsent) for (const line of visibleLines(text)) print.note(`not sent: ${line}`);
}

/** What work that is called off rejects with. */
function isInterruption(fault: unknown): boolean {
  return isWritError(fault)
    ? fault.code === 'RUN_INTERRUPTED'
    : fault instanceof Error && fault.name === 'AbortError';
}
