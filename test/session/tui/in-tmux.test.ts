import t from 'tap';
import { long } from '../../rooms/long.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noTmux, openTmux } from './open-tmux.ts';

/** What the line of the session's state begins with when it was drawn for so many columns. */
const sizes = [
  [60, 20, 'ready: answered, nothing changed · '],
  [40, 10, 'ready: answered'],
  [120, 40, 'ready: answered, nothing changed'],
] as const;

for (const term of ['tmux-256color', 'screen-256color']) {
  // Both know what is asked of them by the same sequences: one is enough for the whole run of all rooms.
  const test = term === 'tmux-256color' ? t.test.bind(t) : long;
  test(`a session in tmux as ${term} redraws after each resize and keeps its scrollback`, {
    skip: noTmux,
  }, async (t) => {
    const reply = Array.from({ length: 40 }, (_, at) => `- caller ${at + 1} of price\n`).join('');
    await using code = await openCodeScene([{ text: `It adds **one** cent.\n\n${reply}` }]);
    using scene = openTmux(code.line(), term);
    await scene.until('? for help');
    scene.type('/ask What does price do?');
    await scene.until('> /ask What does price do?');
    // The key before it ends what was typed: a line end that follows text at once is a pasted one.
    scene.press('End', 'Enter');
    await scene.until('caller 40 of price');
    await scene.until(/^ready/m);
    scene.type('half written');
    await scene.until('> half written');
    for (const [columns, rows, status] of sizes) {
      scene.resize(columns, rows);
      await scene.until(new RegExp(`^> half written\\n${status}[^\\n]*$`, 'm'));
      const screen = scene.screen();
      t.ok(
        screen.every((line) => line.length <= columns),
        `${columns} columns`,
      );
      for (const once of ['> half written', 'ready: '])
        t.equal(screen.filter((line) => line.startsWith(once)).length, 1, `${once} at ${columns}×${rows}`);
    }
    const lines = scene.lines();
    for (const once of [
      '> /ask What does price do?',
      'It adds one cent.',
      '• caller 1 of price',
      '• caller 40 of price',
    ])
      t.equal(lines.filter((line) => line === once).length, 1, once);
    scene.press('M-b', 'C-k');
    await scene.until(/^> half$/m);
    scene.press('Escape');
    scene.type(' and whole');
    await scene.until(/^> half {1,2}and whole$/m);
  });
}
