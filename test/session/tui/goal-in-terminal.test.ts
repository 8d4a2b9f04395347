import { deafForMs } from '../../../session/tui/card.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import { long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { openCodeScene } from './open-code-scene.ts';
import { noPty, type TerminalScene } from './open-terminal-scene.ts';

const objective = 'A price is one cent too high: make it exact.';
const heldDraft = { ...priceDraft, verified: [{ criterion: 'criterion-1', checks: ['unit'] }] };
const whichPlan = 'go on until the goal is achieved or the budget used up?';

long(
  'a goal that was killed during its run continues that run after a resume',
  { skip: noPty },
  async (t) => {
    await using code = await openCodeScene([
      submits(heldDraft),
      { calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]] },
      // It never ends by itself.
      { calls: [['shell', { command: 'node --test --watch' }]] },
      ...makesFix,
    ]);
    await using scene = code.start('--goal', objective);
    await press(scene, 'y', whichPlan);
    t.match(scene.lines().join('\n'), 'executing grants the goal 2M tokens, $5.00, 1h 00m');
    await press(scene, 'e', 'node --test --watch');
    const [thread] = /(?<=thread )[0-9a-f-]{36}/.exec(scene.lines().join('\n')) ?? [];
    scene.signal('SIGKILL');
    await scene.exited;

    const resume = ['--resume', thread ?? ''];
    await using other = code.start(...resume, '--goal', 'Something else altogether');
    t.match(await other.exited, { exitCode: 128 });
    t.match(other.lines().join('\n'), 'GOAL_ALREADY_ACTIVE', 'one goal at a time');

    await using again = code.start(...resume, '--goal', objective);
    await again.until(whichPlan);
    t.match(again.lines().join('\n'), 'writ was stopped in the middle of this turn: `/goal start` goes on');
    t.notMatch(again.screen().join('\n'), '▸ task', 'nothing is at work before a person says so');
    again.signal('SIGKILL');
    await again.exited;

    await using asked = code.start(...resume, '--goal', objective);
    await press(asked, 'e', 'Committed: ', whichPlan);
    await asked.until('done');
    t.match(code.sample.git('log', '-1', '--format=%s'), /Prices are exact/);
    t.equal(
      code.sample.git('for-each-ref', '--format=x', 'refs/ai/runs/'),
      'x',
      'it is the run that was killed',
    );
    asked.type('/goal status');
    asked.press('enter');
    await asked.until('achieved: A price is');
    t.match(
      asked.lines().join('\n'),
      /1 run evaluated; used [1-9]\d* of 2,000,\d{3} tokens, \$0\.00 of \$5\.00/,
    );
    asked.press('ctrl+d');
    t.match(await asked.exited, { exitCode: 0 });
  },
);

/** A key that is pressed once its question could be read: before that it answers nothing. */
async function press(scene: TerminalScene, key: string, seen: string, before = 'chooses'): Promise<void> {
  await scene.until(before);
  await instant(deafForMs + 50);
  scene.type(key);
  await scene.until(seen);
}
