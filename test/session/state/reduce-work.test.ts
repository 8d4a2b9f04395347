import t from 'tap';
import type { ModelMessage } from '../../../core/interfaces/model.ts';
import { maxDialogue, withMessage } from '../../../session/state/dialogue.ts';
import {
  paidPlan,
  planEntry,
  stepped,
  stoppedTask,
  withReview,
} from '../../../session/state/reduce-plans.ts';
import { withOne } from '../../../session/state/reduce-transcript.ts';
import { kept } from '../../../session/state/state.ts';
import type { HunkReview, SessionPlan } from '../../../session/state/work.ts';

const plan: SessionPlan = {
  id: 'p',
  status: 'running',
  steps: [
    { id: 's1', step: 'First', status: 'pending', task: 't1' },
    { id: 's2', step: 'Second', status: 'pending', task: 't1' },
    { id: 's3', step: 'Third', status: 'pending', task: 't2' },
  ],
  updatedAtMs: 1,
};

t.test('a list keeps its last members, and one of a known id where it stands', async (t) => {
  const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ id, of: 1 })) as [
    { id: string; of: number },
    never,
    never,
  ];
  t.strictSame(withOne([a, b], c, 2), [b, c]);
  t.strictSame(withOne([a, b], { id: 'a', of: 2 }, 2), [{ id: 'a', of: 2 }, b]);
});

t.test('the last word on a hunk replaces the one before', async (t) => {
  const word = (hunk: string, verdict: 'keep' | 'reject', patchset = 'p'): HunkReview =>
    ({ patchset, path: 'x', hunk, verdict }) as HunkReview;
  const said = [word('h', 'keep'), word('i', 'keep'), word('h', 'keep', 'q')].reduce(
    (all, review, at) => withReview(all, { id: `${at}`, review }),
    [] as Parameters<typeof withReview>[0],
  );
  const after = withReview(said, { id: 'new', review: word('h', 'reject') });
  t.match(after, [{ id: '1' }, { id: '2' }, { id: 'new', verdict: 'reject', hunk: 'h', patchset: 'p' }]);
  t.equal(after.length, 3);
  const many = Array.from({ length: kept.reviews }, (_, n) => ({ ...word(`${n}`, 'keep'), id: `${n}` }));
  t.strictSame(
    [many.length, withReview(many, { id: 'new', review: word('h', 'reject') })[0]?.id],
    [kept.reviews, '1'],
  );
});

t.test('a plan reads as its title, summary and numbered steps', async (t) => {
  t.match(planEntry({ ...plan, title: 'T', summary: 'S' }), {
    kind: 'plan_summary',
    title: 'T',
    content: 'S\n1. First\n2. Second\n3. Third',
  });
  const bare = planEntry(plan);
  t.equal(bare.content, '1. First\n2. Second\n3. Third');
  t.notOk('title' in bare);
});

t.test('one step, or each, goes on; a task that ran is to be done again', async (t) => {
  const states = (step?: string) =>
    stepped(plan, { ...(step === undefined ? {} : { step }), status: 'completed' }, 9).steps.map(
      ({ status }) => status,
    );
  t.strictSame(states('s2'), ['pending', 'completed', 'pending']);
  t.strictSame(states(), ['completed', 'completed', 'completed']);
  const task = { id: 't', status: 'running' } as Parameters<typeof stoppedTask>[0];
  t.match(stoppedTask(task, 9), { status: 'pending', details: 'was stopped', updatedAtMs: 9 });
  const ended = { ...task, status: 'completed' } as typeof task;
  t.equal(stoppedTask(ended, 9), ended);
});

t.test('what a question came to is added at the first line of its task', async (t) => {
  const used = (task: string | undefined, costUsd?: number, of = 'p') =>
    ({
      type: 'used',
      plan: of,
      ...(task === undefined ? {} : { task }),
      inputTokens: 3,
      outputTokens: 4,
      ...(costUsd === undefined ? {} : { costUsd }),
    }) as Parameters<typeof paidPlan>[1];
  const once = paidPlan(plan, used('t1', 0.1));
  t.strictSame(once.actuals, [{ line: 's1', tokens: 7, costUsd: 0.1 }]);
  const twice = paidPlan(paidPlan(once, used('t2', 0.5)), used('t1', 0.2));
  t.strictSame(twice.actuals, [
    { line: 's3', tokens: 7, costUsd: 0.5 },
    { line: 's1', tokens: 14, costUsd: 0.3 },
  ]);
  t.strictSame(paidPlan(once, used('t1')).actuals, [{ line: 's1', tokens: 14 }], 'a price is missing');
  t.strictSame(paidPlan(paidPlan(plan, used('t1')), used('t1', 1)).actuals, [{ line: 's1', tokens: 14 }]);
  for (const other of [used('t1', 1, 'q'), used('t3', 1), used(undefined, 1)])
    t.equal(paidPlan(plan, other), plan);
  const untold = { ...plan, steps: [{ id: 's', step: 'S', status: 'pending' as const }] };
  t.equal(paidPlan(untold, used(undefined, 1)), untold, 'a question of no task is no step of one');
});

t.test('a dialogue that grows too long begins at a question of the person', async (t) => {
  const user = (text: string): ModelMessage => ({ role: 'user', text });
  const calls = [{ id: 'c', name: 'n', arguments: '1'.repeat(50) }];
  const reply: ModelMessage = { role: 'assistant', text: 'x'.repeat(50), calls };
  const results: ModelMessage = {
    role: 'tool',
    results: [{ callId: 'c', name: 'n', text: 'y'.repeat(maxDialogue - 200), isError: false }],
  };
  const fits = [user('a'.repeat(50)), reply, results];
  t.strictSame(
    withMessage(fits, user('b'.repeat(50))),
    [...fits, user('b'.repeat(50))],
    'as long as it may be',
  );
  t.strictSame(withMessage(fits, user('b'.repeat(51))), [user('b'.repeat(51))]);
  t.strictSame(withMessage([user('q'), reply, results], user('r'.repeat(150))), [user('r'.repeat(150))]);
  t.strictSame(withMessage([results, user('q'), reply], user('r'.repeat(300))), [
    user('q'),
    reply,
    user('r'.repeat(300)),
  ]);
  t.strictSame(withMessage(fits, results), [...fits, results], 'a turn is not cut while it runs');
  const long = user('z'.repeat(maxDialogue + 1));
  t.strictSame(withMessage([user('q')], long), [long], 'the question itself is never cut');
});
