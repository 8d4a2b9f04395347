import t from 'tap';
import { spentWords } from '../../../session/work/run-outcome.ts';
import { openSpending, type TurnScope } from '../../../session/work/turn-scope.ts';
import { newWorld } from '../state/walk.ts';

const question = { provider: 'p', model: 'm', inputTokens: 1000, costUnits: 40 };
const reply = { usage: { input: 1000, output: 10 }, costUnits: 10 };

/** A turn of a session that stops at so many dollars; what is told does not reach its state. */
function turnOf(
  limitUsd: number | undefined,
  emit: TurnScope['emit'] = async () => undefined,
): Pick<TurnScope, 'state' | 'emit'> {
  const { state } = newWorld(limitUsd === undefined ? {} : { limitUsd });
  return { state: () => state, emit };
}

t.test('model calls in progress count towards the budget with their expected cost', async (t) => {
  const meter = openSpending().meter(turnOf(0.1));
  const first = meter.begin(question);
  meter.begin(question);
  const refused = { code: 'SESSION_BUDGET_SPENT', detail: { limit_usd: 0.1, next_usd: 0.04, model: 'm' } };
  t.throws(() => meter.begin(question), refused, 'a third one beside them would be too much');
  first();
  t.doesNotThrow(() => meter.begin(question), 'one that came to nothing costs nothing');
});

t.test('a cost that could not be recorded still counts towards the budget', async (t) => {
  const turn = turnOf(0.05, async () => {
    throw new Error('the disk is full');
  });
  const meter = openSpending().meter(turn);
  meter.begin(question)({ ...reply, costUnits: 45 });
  await Promise.resolve();
  t.throws(() => meter.begin(question), { code: 'SESSION_BUDGET_SPENT', detail: { spent_usd: 0.045 } });
});

t.test('a model without a known price is refused under a budget', async (t) => {
  const { costUnits: _, ...unpriced } = question;
  const free = openSpending().meter(turnOf(undefined));
  t.doesNotThrow(() => free.begin(unpriced));
  const held = openSpending().meter(turnOf(5));
  t.throws(() => held.begin(unpriced), {
    code: 'SESSION_BUDGET_UNPRICED',
    detail: { model: 'm', limit_usd: 5 },
  });
  t.doesNotThrow(() => held.begin({ ...unpriced, costUnits: 0 }), 'a price of nothing is one');
});

t.test(
  'the calls of models are counted, also those that fail, and shown with tokens and money',
  async (t) => {
    const spending = openSpending();
    const meter = spending.meter(turnOf(0.1));
    meter.begin(question)(reply);
    meter.begin(question)();
    t.throws(() => meter.begin({ ...question, costUnits: 1000 }), { code: 'SESSION_BUDGET_SPENT' });
    t.equal(spending.calls(), 2, 'a refused question is no call');
    const none = { calls: 0, usage: { inputTokens: 0, outputTokens: 0 } };
    const usage = { inputTokens: 12_000, outputTokens: 400, costUsd: 0.03 };
    t.equal(spentWords(none, { calls: 9, usage }), '9 model calls, 12.4k tokens, $0.03');
    t.equal(spentWords({ calls: 9, usage }, { calls: 10, usage }), '1 model call, 0 tokens, $0.00');
  },
);
