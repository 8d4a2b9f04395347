import { systemClock } from '../../core/base/clock.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import { loadHighlighting } from '../../session/screen/highlight/open-highlighter.ts';
import type { Line } from '../../session/screen/line.ts';
import { span } from '../../session/screen/line.ts';
import type { SessionDoor } from '../../session/screen/session-door.ts';
import { visible } from '../../session/screen/visible.ts';
import { slashCommands } from '../../session/state/slash/slash-commands.ts';
import { openScreen, type ScreenEnd } from '../../session/tui/open-screen.ts';
import { screenShape } from '../../session/tui/print/screen-shape.ts';
import type { Ground } from '../../session/tui/term/ground.ts';
import { openTerminal } from '../../session/tui/term/open-terminal.ts';
import { pickTheme, themes } from '../../session/tui/term/theme.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { writeOutput } from '../command-parts/write-output.ts';
import type { Aside } from './aside.ts';
import { editOutside } from './edit-outside.ts';
import { trackedPaths } from './tracked-paths.ts';

export interface ShownSession {
  readonly door: SessionDoor;
  readonly repository: Repository;
  /** Where the session is served. */
  readonly baseUrl: string;
  readonly ground: Ground;
  /** What else is said while the screen stands. */
  readonly aside: Aside;
}

/** Shows a session in the terminal of this process until its user leaves, or the signal says so. */
export async function showScreen(
  { env, cwd, options, colour, signal }: CommandContext,
  { door, repository, baseUrl, ground, aside }: ShownSession,
): Promise<ScreenEnd> {
  const over = Promise.withResolvers<ScreenEnd>();
  const isPlain = options.flag('plain');
  const terminal = openTerminal({
    ground,
    clock: systemClock,
    theme: themes[pickTheme(env, { colour, plain: isPlain })],
    told: {
      keys: (keys) => screen.press(keys),
      resized: (size) => screen.resized(size),
      ended: () => over.resolve({}),
    },
  });
  const screen = openScreen({
    door,
    painter: terminal.painter,
    size: terminal.size(),
    shape: screenShape,
    clock: systemClock,
    commands: slashCommands,
    greeting: greeting(door, baseUrl),
    paths: (prefix) => trackedPaths(repository, prefix),
    edit: (text) => terminal.lend(() => editOutside(text, { cwd, env })),
    write: async (path, text) => writeOutput(cwd, path, text),
    suspend: () => terminal.suspend(),
  });
  const stopListening = aside.listen((text) => screen.say([[span('· ', 'dim'), span(visible(text), 'dim')]]));
  void loadHighlighting();
  void screen.ended.then(over.resolve);
  const interrupted = (): void => over.resolve({});
  signal.addEventListener('abort', interrupted, { once: true });
  if (signal.aborted) interrupted();
  try {
    return await over.promise;
  } finally {
    signal.removeEventListener('abort', interrupted);
    stopListening();
    screen.close();
    terminal.close();
  }
}

/** What is worth to know before the first word. */
function greeting(door: SessionDoor, baseUrl: string): readonly Line[] {
  const { workingDir, provider, threadId } = door.snapshot();
  const model = provider.model ?? provider.provider;
  return [
    [span('writ code', 'heading'), span(`  ${visible(workingDir)} · ${visible(model)}`)],
    [span(`thread ${threadId} · also on ${baseUrl}`, 'dim')],
  ];
}
