import { deafForMs } from '../../../session/tui/card.ts';
import { makesFix, priceDraft, priceFix, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, type TerminalScene } from './open-terminal-scene.ts';

const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};
const more = '*** Add File: src/extra.js\n+export const extra = 1;\n*** End Patch';
const makesMore: ScriptedReply = {
  calls: [['apply_patch', { patch: priceFix.replace('*** End Patch', more) }]],
};

/** A key that is pressed once the question could be read: before that it answers nothing. */
async function pressUntil(scene: TerminalScene, key: string, seen: string): Promise<void> {
  await instant(deafForMs + 50);
  scene.type(key);
  await scene.until(seen);
}

async function say(scene: TerminalScene, text: string, seen: string): Promise<void> {
  scene.type(text);
  scene.press('enter');
  await scene.until(seen);
}

long(
  'the user reviews a held change, removes a rejected hunk and undoes the run in the terminal',
  { skip: noPty },
  async (t) => {
    const replies = [submits(priceDraft), plans, makesMore, ...makesFix.slice(1)];
    await using code = await openCodeScene(replies);
    await using scene = code.start();
    await scene.until('? for help');
    await say(scene, '/review on', 'review on:');
    await say(scene, 'A price is one cent too high: make it exact.', 'number or letter chooses');
    await pressUntil(scene, 'y', 'Execute plan');
    await pressUntil(scene, 'e', 'Take out what is rejected');
    const before = code.sample.git('rev-parse', 'main');
    scene.press('tab');
    await say(scene, '/diff', '1 src/extra.js');
    await say(scene, '/reject 1 nobody asked for it', 'rejected; the model is informed');
    t.equal(code.sample.git('rev-parse', 'main'), before, 'no branch of the person has moved');
    scene.press('tab');
    await pressUntil(scene, '1', 'hunk is rejected');
    await pressUntil(scene, '2', 'without 1 rejected hunk');
    await scene.until('done');
    t.equal(code.sample.git('diff', '--name-only', before, 'main'), 'src/price.js\ntest/price.test.js');
    await say(scene, '/undo', 'Leave it');
    t.ok(
      scene.lines().some((line) => /modify.* src\/price\.js/.test(line)),
      'what it touches is listed',
    );
    await pressUntil(scene, '1', 'takes back');
    await scene.until('done');
    t.equal(code.sample.git('diff', '--name-only', before, 'main'), '');
  },
);
