import { long } from '../../rooms/long.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, type TerminalScene } from './open-terminal-scene.ts';

/** The terminal takes keys as it did before, and shows its cursor. */
const asFound = /\x1b\[\?25h.*\x1b\[\?2004l/s;

long('messages typed while a session opens are sent in order once it is open', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([{ text: 'It adds one cent.\n' }, { text: 'Because.\n' }]);
  const gate = code.gate();
  await using scene = code.startIn(gate.env, '--context', 'research');
  await scene.until('starting…');
  t.match(scene.screen().join('\n'), /starting….* gpt-6-luna .*net deny/, 'with what is known');
  scene.type('/ask What does price do?');
  scene.press('enter');
  scene.type('Why?');
  scene.press('enter');
  scene.type('and a draft');
  await scene.until('> and a draft');
  t.notOk(scene.lines().some((line) => line.includes('thread ')));
  gate.open();
  await scene.until('Because.');
  const lines = scene.lines();
  const places = ['writ code', '> /ask What does price do?', 'It adds one cent.', '> Why?', 'Because.'].map(
    (words) => lines.findIndex((line) => line.startsWith(words)),
  );
  t.ok(!places.includes(-1), `${places}`);
  t.same(
    places.toSorted((a, b) => a - b),
    places,
    'in the order in which it was sent',
  );
  await scene.until('> and a draft');
  scene.press('ctrl+c', 'ctrl+c', 'ctrl+c');
  t.equal((await scene.exited).exitCode, 0);
});

long('a message queued while a session opens can be edited before it is sent', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([{ text: 'It adds one cent.\n' }]);
  const gate = code.gate();
  await using scene = code.startIn(gate.env, '--context', 'research');
  await scene.until('starting…');
  scene.type('What does price do?');
  scene.press('enter');
  await scene.until('waits: What does price do?');
  scene.press('escape');
  await scene.until('> What does price do?');
  scene.press('enter');
  await scene.until('waits: What');
  gate.open();
  await scene.until('It adds one cent.');
  t.equal(scene.lines().filter((line) => line === '> What does price do?').length, 1);
  scene.press('ctrl+d');
  t.equal((await scene.exited).exitCode, 0);
});

long('leaving while a session opens restores the terminal', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([]);
  for (const leave of [
    (scene: TerminalScene) => scene.press('ctrl+c', 'ctrl+c'),
    (scene: TerminalScene) => scene.press('ctrl+d'),
    (scene: TerminalScene) => scene.signal('SIGTERM'),
  ]) {
    const gate = code.gate();
    await using scene = code.startIn(gate.env);
    await scene.until('starting…');
    leave(scene);
    await scene.until((screen) => !screen.includes('starting…'));
    gate.open();
    t.equal((await scene.exited).exitCode, 0);
    t.match(scene.raw(), asFound);
    t.notMatch(scene.lines().join('\n'), /writ: [A-Z_]+:/);
  }
});

long(
  'a session that cannot open prints the reason and the unsent text and restores the terminal',
  { skip: noPty },
  async (t) => {
    await using code = await openCodeScene([]);
    const gate = code.gate();
    const rows: readonly (readonly [words: readonly string[], exit: number, why: RegExp])[] = [
      [['--agent', 'nobody'], 129, /AGENT_UNKNOWN/],
      [['--resume', '0198c1e2-0000-7000-8000-000000000000'], 1, /THREAD_NOT_FOUND/],
    ];
    for (const [words, exit, why] of rows) {
      await using scene = code.startIn(gate.env, ...words);
      await scene.until('starting…');
      scene.type('what I typed');
      await scene.until('> what I typed');
      gate.open();
      t.equal((await scene.exited).exitCode, exit);
      t.match(scene.raw(), asFound);
      const lines = scene.lines();
      t.match(lines.join('\n'), why);
      t.ok(lines.includes('not sent: what I typed'), 'nothing typed is lost');
      t.notOk(lines.some((line) => line.includes('starting…')));
      gate.shut();
    }
    await using refused = code.startIn(gate.env, '--control', 'write', '--host', '0.0.0.0');
    t.equal((await refused.exited).exitCode, 129);
    t.notMatch(
      refused.raw(),
      /starting|\x1b\[\?2004h/,
      'what the line itself says is told before anything is drawn',
    );
  },
);
