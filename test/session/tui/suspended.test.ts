import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { long } from '../../rooms/long.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, openTerminalScene, type SceneOptions } from './open-terminal-scene.ts';

const bash = '/bin/bash';
const skip = noPty !== false ? noPty : existsSync(bash) ? false : `no ${bash} on this machine`;

/**
 * Whether the process is stopped. On a busy machine the shell can ask again before the system stopped the editor, whose
 * blocked `read` then takes the first character that is typed for the shell.
 */
function isStopped(pid: number): boolean {
  return !existsSync('/proc/self/stat') || /^\d+ \(.*\) T/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

/** A shell with jobs, and what is typed there to start the program. */
function openShell({ program, args, env, ...line }: Omit<SceneOptions, 'line'>) {
  const scene = openTerminalScene({
    ...line,
    program: bash,
    args: ['--norc', '--noprofile', '-i'],
    env: { ...env, PS1: 'shell> ', HISTFILE: '/dev/null' },
  });
  return { scene, started: [program, ...args].map((word) => `'${word}'`).join(' ') };
}

long('Ctrl+Z suspends a session, and `fg` restores its screen and terminal settings', { skip }, async (t) => {
  await using code = await openCodeScene([{ text: 'It adds **one** cent.' }]);
  const { scene, started } = openShell(code.line());
  await using _ = scene;
  const say = (words: string): void => scene.type(`${words}\r`);
  await scene.until('shell>');
  say('stty -g > ../before');
  say(started);
  await scene.until('? for help');
  scene.type('half written');
  await scene.until('> half written');

  for (const round of [1, 2]) {
    scene.press('ctrl+z');
    await scene.until(/Stopped/);
    await scene.until((screen) => screen.trimEnd().endsWith('shell>'));
    t.notMatch(scene.screen().join('\n'), /^ready/m, 'the live region is gone');
    say(`stty -g > ../stopped && cmp ../before ../stopped && echo as it was ${round}`);
    await scene.until(new RegExp(`^as it was ${round}$`, 'm'));
    say('clear; fg');
    await scene.until(/^> half written$/m);
    await scene.until(/^ready/m);
  }
  // Another size meanwhile: the shell is told, the session is not.
  scene.press('ctrl+z');
  await scene.until((screen) => screen.trimEnd().endsWith('shell>'));
  scene.resize(60, 20);
  say('fg');
  await scene.until(/^> half written$/m);
  scene.press('ctrl+u');
  scene.type('/ask What does price do?');
  scene.press('enter');
  await scene.until('It adds one cent.');
  await scene.until(/^ready/m);
  t.ok(scene.screen().every((row) => row.length <= 60));
  t.equal(scene.screen().filter((row) => row.startsWith('ready')).length, 1);
  scene.press('ctrl+d');
  await scene.until((screen) => screen.trimEnd().endsWith('shell>'));
  say('echo "ended with $?"; stty -g > ../after && cmp ../before ../after && echo as it was found');
  await scene.until('as it was found');
  t.match(scene.screen().join('\n'), /^ended with 0$/m);
});

t.test('suspending the external editor suspends the session with it', { skip }, async (t) => {
  await using code = await openCodeScene([]);
  const editor = join(code.sample.home, 'editor');
  writeFileSync(editor, '#!/bin/sh\necho "editing as $$."\nread line\necho "$line" > "$1"\n');
  chmodSync(editor, 0o755);
  const line = code.line();
  const { scene, started } = openShell({ ...line, env: { ...line.env, EDITOR: editor } });
  await using _ = scene;
  await scene.until('shell>');
  scene.type(`${started}\r`);
  await scene.until('? for help');
  scene.press('ctrl+g');
  await scene.until(/editing as \d+\./);
  const pid = Number(/editing as (\d+)\./.exec(scene.screen().join('\n'))?.[1]);
  scene.press('ctrl+z');
  await scene.until((screen) => screen.trimEnd().endsWith('shell>'));
  await scene.until(() => isStopped(pid));
  t.match(scene.screen().join('\n'), /Stopped/);
  scene.type('fg\r');
  await scene.until(/^shell> fg$/m);
  scene.type('written there\r');
  await scene.until(/^> written there$/m);
  await scene.until(/^ready/m);
});
