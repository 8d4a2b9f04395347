import t from 'tap';
import { beginGoal } from '../../../bin/code/serve-code.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { priceDraft, submits } from '../../agent/planner/drafts.ts';
import { scriptSession } from '../../session/work/scripted-session.ts';
import { until } from '../../waiting/until.ts';

const objective = 'make prices exact';

t.test('`beginGoal` resumes a blocked goal and leaves an active one unchanged', async (t) => {
  const verified = [{ criterion: 'criterion-1', checks: ['unit'] }];
  const draft = submits({ ...priceDraft, verified });
  await using scene = await scriptSession([draft, draft]);
  const { channel } = scene.session;
  const goal = () => channel.state.goal;
  await beginGoal(scene.session, objective);
  const { id } = await scene.asked('intent_review_choice');
  await beginGoal(scene.session, objective);
  t.match(pendingOf(channel.state), [{ id }], 'it waits for its answer as before');
  await t.rejects(beginGoal(scene.session, 'something else'), { code: 'GOAL_ALREADY_ACTIVE' });
  await scene.answer(id, { selectedOption: 'cancel' });
  const begun = goal();
  t.match(begun, { status: 'blocked', blockReason: 'declined', objective });
  await t.rejects(beginGoal(scene.session, 'something else'), { code: 'GOAL_ALREADY_ACTIVE' });
  await beginGoal(scene.session, objective);
  t.match(goal(), { id: begun?.id, status: 'active' }, 'the same goal');
  await until(() => pendingOf(channel.state).length > 0);
});
