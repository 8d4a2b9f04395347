import t from 'tap';
import { textOf } from '../../../session/screen/line.ts';
import { secondsOf, type TurnTime, turnTime } from '../../../session/screen/status-line.ts';
import type { Snapshot } from '../../../session/state/snapshot.ts';
import { turnCost } from '../../../session/tui/view/open-drawer.ts';

type Seen = Parameters<typeof turnTime>[1];

const asks = (id: string): Seen => ({
  status: 'awaiting_interaction',
  interactions: [{ id, status: 'pending' }] as unknown as Snapshot['interactions'],
});
const works: Seen = { status: 'thinking', interactions: [] };

t.test('`turnCost` reports the work time, tokens and cost of a finished turn once', async (t) => {
  const turn = { inputTokens: 6000, outputTokens: 800, costUsd: 0.034 };
  const usage = { ...turn, turn } as NonNullable<Snapshot['usage']>;
  const time: TurnTime = { asked: 'a', sinceMs: 100_000, workedMs: 65_000 };
  const [line] = turnCost(time, undefined, { usage }, 500_000);
  t.equal(textOf(line ?? []), '· worked 1m 05s · 6.8k tokens · $0.03', 'and no second that it has waited');
  t.strictSame(turnCost(time, time, { usage }, 0), [], 'it goes on');
  t.strictSame(turnCost(undefined, undefined, { usage }, 0), [], 'there was none');
  t.strictSame(turnCost(time, undefined, {}, 0), [], 'nobody was asked');
});

t.test('the time a question waits does not count as work time', async (t) => {
  let time: TurnTime | undefined;
  const told = (seen: Seen, second: number): number | undefined => {
    time = turnTime(time, seen, 1000 * second);
    return time && secondsOf(time, 1000 * second);
  };
  t.equal(told(works, 0), 0);
  t.equal(told(works, 20), 20);
  t.equal(told(asks('a'), 20), 0, 'the turn has worked for 20 s, the question waits for none');
  t.equal(told(asks('a'), 500), 480);
  t.equal(told(asks('b'), 500), 0, 'another question begins anew');
  t.equal(told(works, 526), 20, 'and the work goes on where it was');
  t.equal(told(works, 530), 24);
  t.equal(told({ status: 'idle', interactions: [] }, 531), undefined);
  t.equal(told(works, 600), 0, 'another turn');
});
