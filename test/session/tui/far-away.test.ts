import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, openTerminalScene, type TerminalScene } from './open-terminal-scene.ts';
import { slowLine } from './slow-line.ts';

const far = { delayMs: 200, sizes: [1, 2, 1, 3, 1, 5], gapMs: 3 } as const;

/** What stands in the composer, as one line. */
function typed(scene: TerminalScene): string {
  return scene.screen().findLast((line) => line.startsWith('> ')) ?? '';
}

long(
  'keys sent over a slow line are read correctly wherever the line splits them',
  { skip: noPty },
  async (t) => {
    await using code = await openCodeScene([{ text: 'It adds **one** cent.' }]);
    await using scene = openTerminalScene({ ...code.line(), line: slowLine(far) });
    await scene.until('? for help');
    // Letters of many octets, moves, Alt with letters, all in one burst.
    scene.type('one zwö 表 three');
    scene.press('left', 'left', 'home', 'right', 'alt+f', 'delete', 'end', 'ctrl+w');
    scene.type('fünf');
    await scene.until('> onezwö 表 fünf');
    scene.press('home', 'ctrl+k');
    await scene.until(/^> .*\? for help$/m);
    scene.press('up');
    t.notOk(typed(scene).includes('['), 'no sequence was taken for text');
    scene.type('/ask What does price do?');
    scene.press('enter');
    await scene.until('It adds one cent.');
    await scene.until('ready');
    t.equal(scene.lines().filter((line) => line === '> /ask What does price do?').length, 1);
    scene.press('ctrl+d');
    t.strictSame((await scene.exited).exitCode, 0);
  },
);

long('a paste of 1 MB over a slow line arrives whole', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([]);
  const kept = join(code.sample.root, '..', 'pasted');
  const editor = join(code.sample.root, '..', 'keep');
  writeFileSync(editor, `#!/bin/sh\ncp "$1" '${kept}.part' && mv '${kept}.part' '${kept}'\n`, {
    mode: 0o755,
  });
  const line = code.line();
  await using scene = openTerminalScene({
    ...line,
    env: { ...line.env, EDITOR: editor },
    line: slowLine({ delayMs: 200, sizes: [4093, 1021, 7] }),
  });
  await scene.until('? for help');
  const text = Array.from({ length: 16_384 }, (_, at) =>
    `line ${at} of a long text, with ümlauts and 表`.padEnd(62, '.'),
  ).join('\n');
  t.ok(Buffer.byteLength(text) > 1024 * 1024);
  scene.paste(text);
  await scene.until('[pasted 16,384 lines]');
  scene.press('ctrl+g');
  await until(
    () => existsSync(kept),
    'the editor',
    () => scene.bytes(),
  );
  t.ok(readFileSync(kept, 'utf8') === text, 'not an octet is lost or changed');
  await scene.until('[pasted 16,384 lines]');
  scene.type(' and that is all');
  await scene.until('and that is all');
});

long('a storm of resizes loses no typed text and leaves no stale lines', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([{ text: 'It adds **one** cent.' }]);
  await using scene = openTerminalScene({ ...code.line(), line: slowLine({ delayMs: 20 }) });
  await scene.until('? for help');
  scene.type('/ask What does price do?');
  scene.press('enter');
  await scene.until('It adds one cent.');
  await scene.until('ready');
  const words = 'what is typed meanwhile stays';
  for (const [at, letter] of [...words].entries()) {
    scene.type(letter);
    scene.resize(20 + ((at * 37) % 130), 6 + ((at * 13) % 40));
  }
  scene.resize(90, 24);
  await scene.until(`> ${words}`);
  await scene.until((screen) => screen.trimEnd().split('\n').at(-1)?.startsWith('ready') === true);
  const screen = scene.screen();
  t.equal(screen.filter((line) => line.startsWith(`> ${words}`)).length, 1);
  t.equal(screen.filter((line) => line.startsWith('ready')).length, 1, screen.join('\n'));
});
