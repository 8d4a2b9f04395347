import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { deafForMs } from '../../../session/tui/card.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import { instant } from '../../waiting/instant.ts';
import { killingGit } from '../work/killing-git.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, type TerminalScene } from './open-terminal-scene.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';

const script: readonly ScriptedReply[] = [
  submits(priceDraft),
  { calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]] },
  ...makesFix,
];

t.test('explore', async (t) => {
  let next = 0;
  await using code = await openCodeScene(() => script[next++] ?? { text: 'over' });
  const killer = killingGit(code.sample);
  const log = join(code.sample.home, 'log');
  const env = { ...code.key, PATH: killer.path };
  await using scene = code.startIn(env);
  await scene.until('? for help');
  scene.type('A price is one cent too high: make it exact.');
  scene.press('enter');
  await scene.until('number or letter chooses');
  await instant(deafForMs + 50);
  scene.type('y');
  await scene.until('Execute plan');
  await instant(deafForMs + 50);
  appendFileSync(log, '=====\n');
  scene.type('e');
  await scene.until('Committed: ');
  await scene.until('done');
  t.comment(readFileSync(log, 'utf8').split('=====')[1]);
  t.comment(scene.lines().join('\n'));
});
