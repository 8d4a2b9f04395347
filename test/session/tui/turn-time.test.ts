import t from 'tap';
import type { Snapshot } from '../../../session/state/snapshot.ts';
import { secondsOf, type TurnTime, turnTime } from '../../../session/tui/view/turn-time.ts';

type Seen = Parameters<typeof turnTime>[1];

const asks = (id: string): Seen => ({
  status: 'awaiting_interaction',
  interactions: [{ id, status: 'pending' }] as unknown as Snapshot['interactions'],
});
const works: Seen = { status: 'thinking', interactions: [] };

t.test('a question waits since it was asked, and what is waited is no work', async (t) => {
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
