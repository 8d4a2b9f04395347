import t from 'tap';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { reportDecision } from '../../../engine/decide/decide-run.ts';
import { neededApprovals } from '../../../engine/decide/people.ts';
import type { EvaluatedRun } from '../../../engine/record/evaluation-objects.ts';
import type { WritEngine } from '../../../spec/contract-rows.ts';

interface Human {
  readonly required?: boolean;
  readonly needed?: number;
}

function judged(human: Human, touchesGoverning: boolean, next: string, ...details: unknown[]): EvaluatedRun {
  return {
    input: { human: { required: false, needed: 0, ...human }, touchesGoverning },
    decision: { next },
    stages: [{ checks: [{ findings: details.map((detail) => ({ detail })) }] }],
  } as unknown as EvaluatedRun;
}

/** What the listeners of a decision are called with. */
async function announced(view: Partial<RunView>, run: EvaluatedRun): Promise<readonly unknown[]> {
  const calls: unknown[] = [];
  const engine = { hooks: { decision: { made: { call: async (made: unknown) => calls.push(made) } } } };
  await reportDecision(engine as unknown as WritEngine, { runId: 'r', ...view } as RunView, run);
  return calls;
}

t.test('counts the approvals a run needs from the spec, governing files and waiting checks', async (t) => {
  t.equal(neededApprovals(judged({}, false, 'seal')), 0);
  t.equal(neededApprovals(judged({ needed: 2 }, false, 'seal')), 2, 'the number of the spec');
  t.equal(neededApprovals(judged({ required: true }, false, 'seal')), 1);
  t.equal(neededApprovals(judged({}, true, 'seal')), 2, 'files that govern writ');
  const waiting = { waiting: true, needed: 3 };
  t.equal(neededApprovals(judged({ needed: 2 }, false, 'seal', waiting)), 3, 'a check that needs more');
  for (const other of [
    { waiting: false, needed: 3 },
    { waiting: true, needed: '3' },
    { needed: 3 },
    undefined,
  ])
    t.equal(neededApprovals(judged({ needed: 2 }, false, 'seal', other)), 2, JSON.stringify(other));
});

t.test(
  'decision listeners receive the decision and the approval or budget that a waiting run needs',
  async (t) => {
    const decision = { type: 'checkpoint', rationale: 'why' } as RunView['decision'];
    t.strictSame(
      await announced(
        { decision, state: 'waiting' } as Partial<RunView>,
        judged({ needed: 2 }, false, 'wait-for-approval'),
      ),
      [{ runId: 'r', type: 'checkpoint', rationale: 'why', waiting: { for: 'approval', needed: 2 } }],
    );
    t.strictSame(
      await announced(
        { decision, state: 'waiting' } as Partial<RunView>,
        judged({}, false, 'wait-for-budget'),
      ),
      [{ runId: 'r', type: 'checkpoint', rationale: 'why', waiting: { for: 'budget', needed: 0 } }],
    );
    const committed = { type: 'commit', rationale: 'why', commitSha: 'c' } as RunView['decision'];
    t.strictSame(
      await announced(
        { decision: committed, state: 'committed' } as unknown as Partial<RunView>,
        judged({}, false, 'seal'),
      ),
      [{ runId: 'r', type: 'commit', rationale: 'why', commitSha: 'c' }],
      'are given the commit, and nothing about waiting',
    );
    t.strictSame(await announced({}, judged({}, false, 'seal')), [], 'are not called without one');
  },
);
