import type { Clock } from '../../core/base/clock.ts';
import { openLocalDoor } from '../../session/client/local-door.ts';
import type { OpenSession } from '../../session/open-session.ts';
import { letterOf } from '../../session/screen/question/option-letters.ts';
import type { SessionDoor } from '../../session/screen/session-door.ts';
import { slashCommands } from '../../session/state/slash/slash-commands.ts';
import { openScreen } from '../../session/tui/open-screen.ts';
import { screenShape } from '../../session/tui/print/screen-shape.ts';
import type { Ground } from '../../session/tui/term/ground.ts';
import { keyOf } from '../../session/tui/term/key.ts';
import { openPainter } from '../../session/tui/term/open-painter.ts';
import { reflows } from '../../session/tui/term/reflows.ts';
import { pickTheme, themes } from '../../session/tui/term/theme.ts';
import type { SeatedPerson } from './session-run.ts';

/** Milliseconds: of a letter, of reading what is asked, behind the end. */
const pace = { letter: 35, read: 1800, last: 1500 } as const;

export interface WatchedTerminal {
  readonly ground: Pick<Ground, 'write' | 'size'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly wantsColour: boolean;
  readonly signal: AbortSignal;
}

/** Somebody who types at a screen, at a speed that others can read along. */
export function watchedPerson({ ground, env, clock, wantsColour, signal }: WatchedTerminal) {
  return (session: OpenSession): SeatedPerson => {
    const size = ground.size();
    const painter = openPainter({
      write: (text) => ground.write(text),
      size,
      theme: themes[pickTheme(env, { colour: wantsColour, plain: false })],
      reflows: reflows(env),
    });
    const door = openLocalDoor(session, {
      diagnostics: async () => ({}),
      threads: async () => ({ items: [] }),
    });
    const screen = openScreen({
      door,
      painter,
      size,
      shape: screenShape,
      clock,
      commands: slashCommands,
      greeting: [],
      paths: async () => [],
      edit: async (text) => text,
      write: async (path) => path,
      suspend: () => {},
    });
    return {
      async say(text) {
        for (const letter of text) {
          screen.press([{ type: 'text', text: letter }]);
          await clock.sleep(pace.letter, signal);
        }
        await clock.sleep(pace.read / 3, signal);
        const heard = heardBy(door);
        screen.press([keyOf('enter')]);
        await heard;
      },
      async answer({ kind }, option) {
        await clock.sleep(pace.read, signal);
        const letter = letterOf(option);
        if (letter === undefined) throw new Error(`no key answers ${option} of ${kind}`);
        screen.press([{ type: 'text', text: letter }]);
      },
      async [Symbol.asyncDispose]() {
        // Whoever has seen enough waits for nothing, and what ended the demonstration is told by whoever began it.
        await clock.sleep(pace.last, signal).catch(() => {});
        screen.close();
      },
    };
  };
}

/** Resolves when a turn has begun: what was said was taken. */
function heardBy(door: SessionDoor): Promise<void> {
  return new Promise((resolve) => {
    const stop = door.follow(() => {
      if (door.snapshot().status === 'idle') return;
      stop();
      resolve();
    });
  });
}
