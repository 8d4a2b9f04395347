import t from 'tap';
import { deafForMs } from '../../../session/tui/card.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { instant } from '../../waiting/instant.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, type TerminalScene } from './open-terminal-scene.ts';

const plans = (...steps: readonly string[]): ScriptedReply => ({
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps }] }]],
});
const readable = 'number or letter chooses';

t.test('a request typed in the terminal becomes a commit', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([
    { text: 'It adds **one** cent.\n\n- here\n' },
    submits(priceDraft),
    plans('take the cent away', 'test it'),
    ...makesFix,
  ]);
  await using scene = code.start();
  await scene.until('? for help');
  scene.type('/ask What does price do?');
  scene.press('enter');
  await scene.until('It adds one cent.');
  await scene.until('ready');
  scene.type('@pri');
  await scene.until('› src/price.js');
  scene.press('ctrl+u');
  scene.type('A price is one cent too high: make it exact.');
  scene.press('enter');
  await scene.until(readable);
  t.ok(scene.lines().includes('  objectives'), 'the contract stands in the scrollback');
  await pressUntil(scene, 'y', 'Execute plan');
  await pressUntil(scene, 'w', 'allow → deny');
  await pressUntil(scene, 'w', 'deny → allow');
  await pressUntil(scene, 'l', 'writes a note on the line');
  scene.press('down', 'enter');
  await scene.until('type the note');
  scene.type('only that cent');
  scene.press('enter');
  await scene.until('✎ only that cent');
  scene.press('escape');
  await scene.until('1 note goes along');
  await pressUntil(scene, 'e', 'Committed: ');
  await scene.until('done');
  t.match(code.sample.git('log', '-1', '--format=%s'), /Prices are exact/);
  const lines = scene.lines();
  for (const once of [
    '> A price is one cent too high: make it exact.',
    '✓ you chose: Execute plan · network deny · 1 note',
  ])
    t.equal(lines.filter((line) => line === once).length, 1, once);
  const status = scene.screen().findLast((line) => line !== '') ?? '';
  for (const told of ['gpt-6-luna', 'ctx', 'tok', '$', 'you steer'])
    t.ok(status.includes(told), `${told}: ${status}`);
  t.notOk(scene.raw().includes('sk-planted-0123456789'));
  scene.press('ctrl+c');
  await scene.until('again quits');
  scene.press('ctrl+c');
  t.strictSame((await scene.exited).exitCode, 0);
  const [resume, graph] = scene.lines().slice(-2);
  t.match(resume, /^writ code --resume [0-9a-f-]{36}$/);
  t.match(graph, /^writ graph [0-9a-f-]{36}$/);

  await using again = code.start('--resume', resume?.split(' ').at(-1) ?? '');
  await again.until('Committed: ');
  t.ok(again.lines().includes('It adds one cent.'), 'what was said is there again');
  again.type('/status');
  again.press('enter');
  await again.until('Status');
  again.press('ctrl+d');
  t.strictSame((await again.exited).exitCode, 0);
});

/** A key that is pressed once the question could be read: before that it answers nothing. */
async function pressUntil(scene: TerminalScene, key: string, seen: string): Promise<void> {
  await instant(deafForMs + 50);
  scene.type(key);
  await scene.until(seen);
}
