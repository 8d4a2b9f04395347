import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import type { SessionDoor } from '../../../session/screen/session-door.ts';
import { slashCommands } from '../../../session/state/slash-words.ts';
import type { Draft } from '../../../session/tui/composer/composer.ts';
import { openScreen } from '../../../session/tui/open-screen.ts';
import { keyOf } from '../../../session/tui/term/painter.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { openMachineDoor } from './machine-door.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty } from './open-terminal-scene.ts';

long('typed text survives a kill and is restored on resume', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([]);
  const keptIn = (): string =>
    globSync(join(code.sample.root, '.git/writ/threads/*/typed/draft.json'))[0] ?? '';
  let thread = '';
  {
    await using scene = code.start();
    await scene.until('ready');
    scene.type('cleared words');
    scene.press('ctrl+c');
    await scene.until('Up brings it back');
    scene.type('half a message');
    await scene.until('> half a message');
    await until(
      () => existsSync(keptIn()) && readFileSync(keptIn(), 'utf8').includes('half a message'),
      'kept',
    );
    thread = basename(join(keptIn(), '../..'));
    scene.signal('SIGKILL');
    await scene.exited;
  }
  {
    await using scene = code.start('--resume', thread);
    await scene.until('> half a message');
    await scene.until('was not sent');
    scene.press('ctrl+c');
    scene.press('up', 'up');
    await scene.until('> cleared words');
    scene.press('down', 'ctrl+c', 'ctrl+c', 'ctrl+c');
    t.equal((await scene.exited).exitCode, 0);
  }
  await using scene = code.start('--resume', thread);
  await scene.until('ready');
  t.notMatch(scene.screen().join('\n'), /> half/, 'what was cleared is not written again');
  scene.press('up');
  await scene.until('> half a message');
  scene.press('ctrl+c', 'ctrl+d');
  t.equal((await scene.exited).exitCode, 0);
});

/** A screen that draws nothing; what it keeps. */
function openQuietScreen(door: SessionDoor, kept: Draft[]) {
  const clock: Clock = { ...systemClock, sleep: () => new Promise(() => {}) };
  return openScreen({
    door,
    painter: { commit() {}, live() {}, resized() {}, pause() {}, resume() {}, close() {} },
    size: { columns: 80, rows: 24 },
    clock,
    commands: slashCommands,
    greeting: [],
    paths: async () => [],
    edit: async (text) => text,
    write: async (path) => path,
    suspend() {},
    keep: (of) => kept.push(of()),
  });
}

t.test('text typed as an answer is kept in the draft', async (t) => {
  const machine = openMachineDoor(() => 0);
  const kept: Draft[] = [];
  const screen = openQuietScreen(machine.door, kept);
  screen.press([{ type: 'text', text: 'a message' }]);
  await machine.door.submit('/ask it, please');
  machine.report((turn) => ({
    turn,
    type: 'ask',
    subject: 's',
    kind: 'request_user_input',
    metadata: { questions: [{ id: 'k', prompt: 'Why?', kind: 'text' }] },
  }));
  screen.press([]);
  screen.press([keyOf('tab'), { type: 'text', text: 'half an answer' }]);
  t.match(kept.at(-1), { unsent: ['a message'], typed: ['half an answer'] });
  t.same(screen.unsent(), ['a message', 'half an answer']);
  screen.close();
});

t.test('text typed while a secret question is open is not kept', async (t) => {
  const machine = openMachineDoor(() => 0);
  const kept: Draft[] = [];
  const screen = openQuietScreen(machine.door, kept);
  screen.press([{ type: 'text', text: 'seen' }]);
  t.same(kept.at(-1)?.unsent, ['seen']);
  screen.press([keyOf('char:c', { ctrl: true })]);
  await machine.door.submit('/ask it, please');
  machine.report((turn) => ({
    turn,
    type: 'ask',
    subject: 's',
    kind: 'request_user_input',
    metadata: { questions: [{ id: 'k', prompt: 'Key?', kind: 'text', secret: true }] },
  }));
  screen.press([]);
  const count = kept.length;
  screen.press([{ type: 'text', text: 'hunter2' }, keyOf('tab'), { type: 'text', text: 'hunter3' }]);
  screen.press([keyOf('escape'), { type: 'text', text: 'hunter4' }]);
  t.equal(kept.length, count);
  t.notMatch(JSON.stringify(kept), /hunter/);
  screen.close();
});
