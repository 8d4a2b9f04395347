import { join } from 'node:path';
import t from 'tap';
import { noPty, openTerminalScene, type TerminalScene } from './open-terminal-scene.ts';

const root = join(import.meta.dirname, '../../..');
const program = join(import.meta.dirname, 'terminal-program.ts');
const command = `'${process.execPath}' '${program}'`;
/** What the terminal is set to when the program has gone: read by a shell that sets nothing itself. */
const probe =
  'echo "code $?"; stty -a | grep -oE -- "-?(icanon|echo|isig|icrnl|opost)\\b" | tr "\\n" " "; echo; echo probed';
const cooked = /isig icanon echo /;

const openShell = (script: string, size: { columns?: number; rows?: number } = {}): TerminalScene =>
  openTerminalScene({ program: 'sh', args: ['-c', script], cwd: root, ...size });
const openProgram = (): TerminalScene => openShell(`echo before; ${command}; ${probe}`);
const screenOf = (scene: TerminalScene): string => scene.screen().join('\n');

const pidOf = (scene: TerminalScene): number => Number(/pid (\d+)/.exec(screenOf(scene))?.[1]);

t.test('a terminal is drawn in, and left as it was found', { skip: noPty }, async (t) => {
  await using scene = openProgram();
  await scene.until('-- ready 80x24 --');
  scene.type('hé漢');
  await scene.until('> hé漢');
  scene.press('enter');
  await scene.until('said hé漢');
  t.same(scene.screen().slice(2, 5), ['said hé漢', '>', '-- enter 80x24 --']);
  t.same(scene.cursor(), { row: 3, column: 2 });
  scene.press('ctrl+d');
  await scene.until('probed');
  t.match(screenOf(scene), /^before\npid \d+\nsaid hé漢\nbye\ncode 0\n/);
  t.match(screenOf(scene), cooked);
  t.match(scene.raw(), /\x1b\[\?2004h.*\x1b\[\?2004l/s);
});

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
  t.test(`a terminal is left as it was found by ${signal}`, { skip: noPty }, async (t) => {
    await using scene = openProgram();
    await scene.until('-- ready');
    process.kill(pidOf(scene), signal);
    await scene.until('probed');
    t.match(screenOf(scene), new RegExp(`ended: ${signal}\ncode 3\n`));
    t.match(screenOf(scene), cooked);
    t.notMatch(screenOf(scene), /ready/, 'the live region is gone');
  });
}

for (const [what, key] of [
  ['a fault', 'ctrl+x'],
  ['a promise', 'ctrl+r'],
] as const) {
  t.test(`a terminal is left as it was found by ${what} that nobody catches`, { skip: noPty }, async (t) => {
    await using scene = openProgram();
    await scene.until('-- ready');
    scene.press(key);
    await scene.until('probed');
    t.match(screenOf(scene), /that nobody catches/);
    t.match(screenOf(scene), /code [17]\n/);
    t.match(screenOf(scene), cooked);
  });
}

t.test('the probe sees a terminal that was left raw', { skip: noPty }, async (t) => {
  await using scene = openProgram();
  await scene.until('-- ready');
  process.kill(pidOf(scene), 'SIGKILL');
  await scene.until('probed');
  t.match(screenOf(scene), /-isig -icanon -echo/);
});

t.test(
  'a terminal that is suspended is the shell’s, and ours again afterwards',
  { skip: noPty },
  async (t) => {
    await using scene = openTerminalScene({
      program: 'sh',
      args: ['-i'],
      cwd: root,
      env: { PS1: 'shell> ', ENV: '' },
    });
    await scene.until('shell>');
    scene.type(`${command}\r`);
    await scene.until('-- ready');
    scene.type('kept');
    await scene.until('> kept');
    scene.press('ctrl+z');
    await scene.until(/Stopped[\s\S]*shell>\s*$/);
    t.notMatch(screenOf(scene), /-- /, 'the live region is gone');
    scene.type(`${probe}\r`);
    await scene.until(/^probed/m);
    t.match(screenOf(scene), cooked);
    scene.resize(70, 20);
    scene.type('fg\r');
    await scene.until('-- ctrl+char:z 70x20 --');
    scene.type('!');
    await scene.until('> kept!');
    t.equal(screenOf(scene).match(/> kept/g)?.length, 1);
    scene.press('ctrl+d');
    await scene.until(/bye/);
  },
);

t.test('a terminal is lent, and drawn in again below what was done there', { skip: noPty }, async (t) => {
  await using scene = openProgram();
  await scene.until('-- ready');
  scene.press('ctrl+g');
  await scene.until('your line:');
  t.notMatch(screenOf(scene), /-- ready/);
  scene.type('of text\r');
  await scene.until('-- back');
  t.match(screenOf(scene), /^icanon\nyour line: of text\neditor has of text\n>\n-- back/m);
  scene.type('x');
  await scene.until('> x');
});

t.test('a paste of 1 MB through a terminal is one', { skip: noPty }, async (t) => {
  await using scene = openProgram();
  await scene.until('-- ready');
  const line = 'a line that was pasted\n';
  scene.paste(line.repeat(45_000));
  await scene.until(`pasted ${45_000 * line.length} in 45001 lines`);
  scene.type('then');
  await scene.until('> then');
  t.ok(scene.bytes() < 4000, `${scene.bytes()} octets`);
});

t.test('a terminal of another size is drawn anew', { skip: noPty }, async (t) => {
  await using scene = openProgram();
  await scene.until('-- ready');
  scene.type('said');
  scene.press('enter');
  await scene.until('said said');
  for (const [columns, rows] of [
    [40, 10],
    [120, 40],
    [60, 12],
  ] as const) {
    scene.resize(columns, rows);
    await scene.until(`${columns}x${rows} --`);
  }
  t.same(scene.lines().slice(2), ['said said', '>', '-- enter 60x12 --']);
});

t.test('without a terminal it is said why there is no screen', { skip: noPty }, async (t) => {
  await using scene = openShell(`TERM=dumb ${command}; ${command} </dev/null; ${command} | cat; echo done`);
  await scene.until('done');
  t.match(screenOf(scene), /refused: the terminal cannot move its cursor \(TERM is `dumb`\)/);
  t.match(screenOf(scene), /refused: standard input is no terminal/);
  t.match(screenOf(scene), /refused: standard output is no terminal/);
});

t.test('a hang-up ends it, also without a shell', { skip: noPty }, async (t) => {
  await using scene = openTerminalScene({ program: process.execPath, args: [program], cwd: root });
  await scene.until('-- ready');
  scene.signal('SIGHUP');
  t.equal((await scene.exited).exitCode, 3);
});
