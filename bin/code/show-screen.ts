import { systemClock } from '../../core/base/clock.ts';
import { span } from '../../session/screen/line.ts';
import type { SessionDoor } from '../../session/screen/session-door.ts';
import { visible } from '../../session/screen/visible.ts';
import { slashCommands } from '../../session/state/slash/slash-commands.ts';
import { openScreen, type Screen, type ScreenEnd } from '../../session/tui/open-screen.ts';
import { greetingLines } from '../../session/tui/print/greeting-lines.ts';
import { screenShape } from '../../session/tui/print/screen-shape.ts';
import type { Ground } from '../../session/tui/term/ground.ts';
import { openTerminal } from '../../session/tui/term/open-terminal.ts';
import { pickTheme, themes } from '../../session/tui/term/theme.ts';
import type { CommandContext } from '../command-parts/command.ts';
import type { Aside } from './aside.ts';
import type { CodeLine } from './code-line.ts';
import type { DraftKeeper } from './keep-draft.ts';
import { typedPath } from './typed-path.ts';

/** What a screen is opened with, before there is a session. */
export interface ShownSession {
  /** Shows what is known already until its session is there. */
  readonly door: SessionDoor;
  readonly line: Pick<CodeLine, 'workingDir'>;
  readonly ground: Ground;
  /** What else is said while the screen stands. */
  readonly aside: Aside;
}

/** A screen that stands in the terminal of this process. */
export interface ShownScreen {
  /** The session is there, and served there; `keeper` keeps what is typed and not sent. */
  opened(at: { readonly baseUrl: string }, keeper: DraftKeeper): void;
  readonly unsent: Screen['unsent'];
  /** Resolves when its user leaves, or the signal says so; the terminal is as it was found then. */
  readonly ended: Promise<ScreenEnd>;
  /** The terminal is as it was found. Any number of times. */
  close(): void;
}

/** Draws a screen, and takes keys from then on. */
export function showScreen(
  { env, cwd, options, colour, signal, leaveInterrupts, stores }: CommandContext,
  { door, line, ground, aside }: ShownSession,
): ShownScreen {
  let keeper: DraftKeeper | undefined;
  const over = Promise.withResolvers<ScreenEnd>();
  const isPlain = options.flag('plain');
  let around: Promise<(prefix: string) => Promise<readonly string[]>> | undefined;
  const terminal = openTerminal({
    ground,
    clock: systemClock,
    theme: themes[pickTheme(env, { colour, plain: isPlain })],
    isPlain,
    told: {
      keys: (keys) => screen.press(keys),
      isAsking: () => screen.isAsking(),
      resized: (size) => screen.resized(size),
      ended: () => leave({}),
    },
  });
  const screen = openScreen({
    door,
    painter: terminal.painter,
    size: terminal.size(),
    shape: screenShape,
    isPlain,
    clock: systemClock,
    commands: slashCommands,
    async paths(prefix) {
      around ??= import('./paths-around.ts').then(({ pathsAround }) => pathsAround(line.workingDir));
      return (await around)(prefix);
    },
    edit: (text) =>
      terminal.lend(async () => {
        const { editOutside } = await import('./edit-outside.ts');
        const takeBack = leaveInterrupts?.();
        return editOutside(text, { cwd, env }).finally(takeBack);
      }),
    async write(path, text) {
      const { writeOutput } = await import('../command-parts/write-output.ts');
      return writeOutput(cwd, typedPath(path, env.HOME), text);
    },
    async isRun(word) {
      const { isRun } = await import('../../engine/store/record/is-run.ts');
      const { openRepository } = await import('../../engine/vcs/repository.ts');
      return isRun(stores, await openRepository(line.workingDir), systemClock, word);
    },
    suspend: () => terminal.suspend(),
    keep: (of) => keeper?.keep(of),
  });
  const stopListening = aside.listen((text) => screen.say([[span('· ', 'dim'), span(visible(text), 'dim')]]));
  const interrupted = (): void => leave({});
  const close = (): void => {
    signal.removeEventListener('abort', interrupted);
    stopListening();
    screen.close();
    terminal.close();
  };
  const leave = (how: ScreenEnd): void => {
    close();
    over.resolve(how);
  };
  signal.addEventListener('abort', interrupted, { once: true });
  void screen.ended.then(leave);
  if (signal.aborted) interrupted();
  return {
    opened({ baseUrl }, opened) {
      keeper = opened;
      screen.opened(greetingLines(door.snapshot(), baseUrl), opened.draft);
      void import('../../session/screen/highlight/open-highlighter.ts').then(({ loadHighlighting }) =>
        loadHighlighting(),
      );
    },
    unsent: () => screen.unsent(),
    ended: over.promise,
    close,
  };
}
