import { spawnSync } from 'node:child_process';
import { systemClock } from '../../../core/base/clock.ts';
import { openTerminal } from '../../../session/tui/term/open-terminal.ts';
import { processGround } from '../../../session/tui/term/process-ground.ts';
import { themes } from '../../../session/tui/term/theme.ts';
import { whyNoTerminal } from '../../../session/tui/term/why-no-terminal.ts';
import { lineOf } from './open-painter-scene.ts';

/** A small program with a screen: says what was typed, in a line that is finished by Enter. */
const ground = processGround();
const refused = whyNoTerminal(ground);
if (refused !== undefined) {
  process.stdout.write(`refused: ${refused}\n`);
  process.exit(2);
}

process.stdout.write(`pid ${process.pid}\n`);
let typed = '';
let status = 'ready';
const draw = (): void =>
  terminal.painter.live(
    [lineOf(`> ${typed}`), lineOf(`-- ${status} ${terminal.size().columns}x${terminal.size().rows} --`)],
    {
      row: 0,
      column: 2 + typed.length,
    },
  );

const terminal = openTerminal({
  ground,
  clock: systemClock,
  theme: themes.colour,
  told: {
    keys: (keys) => {
      for (const key of keys) {
        if (key.type === 'text') typed += key.text;
        if (key.type === 'paste') {
          status = `pasted ${key.text.length} in ${key.text.split('\n').length} lines`;
        }
        if (key.type === 'key') press(`${key.ctrl ? 'ctrl+' : ''}${key.name}`);
      }
      draw();
    },
    resized: draw,
    ended: (why) => {
      process.stdout.write(`ended: ${why}\n`);
      process.exit(3);
    },
  },
});
draw();

function press(name: string): void {
  status = name;
  if (name === 'enter') {
    terminal.painter.commit([lineOf(`said ${typed}`)]);
    typed = '';
  }
  if (name === 'ctrl+char:z') terminal.suspend();
  if (name === 'ctrl+char:x') throw new Error('a fault that nobody catches');
  if (name === 'ctrl+char:r') void Promise.reject(new Error('a promise that nobody catches'));
  if (name === 'ctrl+char:g') void lend();
  if (name === 'ctrl+char:d') {
    terminal.close();
    process.stdout.write('bye\n');
    process.exit(0);
  }
}

async function lend(): Promise<void> {
  await terminal.lend(async () => {
    spawnSync(
      'sh',
      ['-c', 'stty -a | grep -o "[-]*icanon"; printf "your line: "; read line; echo "editor has $line"'],
      {
        stdio: 'inherit',
      },
    );
  });
  status = 'back';
  draw();
}
