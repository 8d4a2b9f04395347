import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { long } from '../../rooms/long.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty } from './open-terminal-scene.ts';

long('a shell command of the user streams its output and can be stopped', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([]);
  await using scene = code.start();
  await scene.until('? for help');
  const say = (text: string): void => {
    scene.type(text);
    scene.press('enter');
  };
  say('!ls; echo x > made');
  await scene.until(/✓ \$ ls; echo x > made[\s\S]*ready/);
  const lines = scene.lines();
  const note = '  [in the copy that it ran on: "made" added; your files are as they were]';
  for (const line of ['> !ls; echo x > made', '  src', note]) t.ok(lines.includes(line), line);
  t.notOk(existsSync(join(code.sample.root, 'made')));

  say("!printf '\\033]0;t\\007\\033[31mred'; exit 4");
  await scene.until('exit code 4');
  t.ok(scene.lines().includes('  \\e]0;t\\u{7}red'), 'nothing that it prints is obeyed');

  say('!echo now; sleep 600');
  await scene.until(/▸ \$ echo now.*\n {2}now\n/);
  say('/status');
  await scene.until('Status');
  say('!echo later');
  await scene.until('waits: !echo later');
  scene.press('escape');
  await scene.until(/\? \$ echo now; sleep 600: stopped before its end unknown/);
  await scene.until('!echo later');
  scene.press('ctrl+u');

  say('!git status');
  await scene.until(/is not to be had[\s\S]*ready/);
  say('/context review');
  await scene.until('context review');
  say('!touch x');
  await scene.until('for review only reads');
  await scene.until('> !touch x');
});

long(
  'a shell command of a killed terminal becomes unknown, is not run again and leaves no copy',
  { skip: noPty },
  async (t) => {
    await using code = await openCodeScene([]);
    const threads = join(code.sample.root, '.git', 'writ', 'threads');
    const copies = () => readdirSync(threads).filter((name) => existsSync(join(threads, name, 'shell')));
    let thread = '';
    {
      await using scene = code.start();
      await scene.until('? for help');
      scene.type('!echo last; sleep 600');
      scene.press('enter');
      await scene.until(/echo last.*\n {2}last\n/);
      const [running = ''] = copies();
      thread = running;
      t.match(thread, /^[0-9a-f-]{36}$/);
      scene.signal('SIGKILL');
      await scene.exited;
    }
    await using again = code.start('--resume', thread);
    await again.until(/\? \$ echo last; sleep 600: writ was stopped before its end unknown/);
    await again.until('writ was stopped in the middle of this turn');
    t.strictSame(copies(), []);
    again.type('!echo alive');
    again.press('enter');
    await again.until(/ {2}alive\n/);
    t.notOk(again.lines().includes('  last'), 'it was not run again');
  },
);
