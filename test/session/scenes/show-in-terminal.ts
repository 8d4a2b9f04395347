import { openLocalDoor } from '../../../session/client/local-door.ts';
import { loadHighlighting } from '../../../session/screen/highlighter.ts';
import { slashCommands } from '../../../session/state/slash-words.ts';
import { deafForMs } from '../../../session/tui/card.ts';
import { greetingLines } from '../../../session/tui/open-printer.ts';
import { openScreen } from '../../../session/tui/open-screen.ts';
import { openPainter } from '../../../session/tui/term/open-painter.ts';
import { type Key, type KeyName, keyOf, type Size } from '../../../session/tui/term/painter.ts';
import { type ThemeName, themes } from '../../../session/tui/term/row.ts';
import { type Emulator, openEmulator } from '../tui/open-emulator.ts';
import type { ToldSession } from '../web/serve-page.ts';
import type { SceneName } from './scenes.ts';

export interface ShownAt {
  readonly size: Size;
  readonly theme: ThemeName;
  readonly scene: SceneName;
  /** In the place of what is pressed in that scene. */
  readonly pressed?: readonly string[];
}

/** What is pressed before somebody looks: `<enter>` and the like are keys, the rest is typed. */
const usuallyPressed: Partial<Record<SceneName, readonly string[]>> = {
  plan: ['l', '<down>', '<enter>', 'as a table of cases', '<enter>', '<escape>'],
  question: ['1', 'Notes are trimmed.', '<enter>', 'npm_0123456789'],
  held: ['<tab>', '/reject 2 say why, not where', '<enter>'],
  review: ['/diff', '<enter>', '/keep 1', '<enter>', '/reject 2 say why, not where', '<enter>'],
};

/** The screen of `writ code` in an emulator, as it stands when all that was told is drawn. */
export async function showInTerminal(
  session: ToldSession,
  { size, theme, scene, pressed = usuallyPressed[scene] ?? [] }: ShownAt,
): Promise<Emulator> {
  await loadHighlighting();
  const emulator = openEmulator(size.columns, size.rows);
  const painter = openPainter({
    write: (text) => void emulator.write(text),
    size,
    theme: themes[theme],
    reflows: true,
  });
  const door = openLocalDoor(session, {
    diagnostics: async () => ({
      sandbox: { backend: 'bubblewrap', enforced: [], selfApproval: 'not_tried' },
    }),
    threads: async () => ({ items: [] }),
  });
  const screen = openScreen({
    door,
    painter,
    size,
    clock: { ...session.clock, sleep: () => new Promise(() => {}) },
    commands: slashCommands,
    greeting: greetingLines(session.channel.state.ground, 'http://127.0.0.1:3000'),
    paths: async () => [],
    edit: async (text) => text,
    write: async (path) => path,
    suspend: () => {},
  });
  await settle();
  session.pass(12_000 + deafForMs);
  for (const text of pressed) {
    screen.press([toKey(text)]);
    await settle();
  }
  screen.resized(size);
  await settle();
  await emulator.write('');
  return emulator;
}

function toKey(text: string): Key {
  const [, name] = /^<(.+)>$/.exec(text) ?? [];
  return name === undefined ? { type: 'text', text } : keyOf(name as KeyName);
}

/** What was asked of the session is done within a few turns of the loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
