import t from 'tap';
import { WritError } from '../../../../core/base/errors.ts';
import type { TurnReport } from '../../../../session/state/command.ts';
import { supervise } from '../../../../session/work/goal-turn.ts';
import type { TurnScope } from '../../../../session/work/turn-scope.ts';

/** A turn that is for a goal, or for none, and that has worked for so long. */
function turn(workedMs: number, hasGoal = true) {
  const told: TurnReport[] = [];
  const goal = { id: 'g', turn: 'turn', status: 'active' };
  const scope: Pick<TurnScope, 'signal' | 'emit' | 'note'> & { state(): unknown; worked: unknown } = {
    signal: new AbortController().signal,
    state: () => ({ turn: 'turn', ...(hasGoal ? { goal } : {}) }),
    emit: async (report) => void told.push(report),
    note: async (title, text) => void told.push({ type: 'noted', id: 'n', title, text }),
    worked: { take: () => workedMs },
  };
  return { told, scope: scope as TurnScope };
}

const works = { type: 'goal-moved', goal: 'g', change: { workedMs: 1500 } };

t.test('the work time of a step is added to its goal, even if the step fails', async (t) => {
  const done = turn(1500);
  t.strictSame(await supervise(done.scope, async () => ({ end: 'done' })), { end: 'done' });
  t.strictSame(done.told, [works]);

  const failed = turn(1500);
  const fault = new WritError('PROVIDER_FAILED', { message: 'nobody answers' });
  await t.rejects(
    supervise(failed.scope, () => Promise.reject(fault)),
    fault,
  );
  t.strictSame(failed.told, [
    { type: 'goal-moved', goal: 'g', change: { status: 'blocked', blockReason: 'provider_failed' } },
    {
      type: 'noted',
      id: 'n',
      title: 'Goal',
      text: 'blocked (provider_failed): `/goal start` goes on with it, `/goal cancel` gives it up',
    },
    works,
  ]);
});

t.test('no work time is reported if there was none or the turn has no goal', async (t) => {
  for (const { told, scope } of [turn(0), turn(1500, false)]) {
    await supervise(scope, async () => ({ end: 'done' }));
    t.strictSame(told, []);
  }
});
