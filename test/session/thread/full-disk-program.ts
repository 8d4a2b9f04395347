/** Says something small, something large and something small in a thread; prints what came of each. Arguments: directory, home. */
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { isWritError } from '../../../core/base/errors.ts';
import { uuidV7 } from '../../../core/base/ids.ts';
import { openChannel } from '../../../session/open-channel.ts';
import { openedState } from '../../../session/state/reduce.ts';
import { openThread } from '../../../session/thread/open-thread.ts';
import { ground } from '../state/walk.ts';

const [directory = '', home = ''] = process.argv.slice(2);
const witness = userJournalWitness({ HOME: home });
await using thread = await openThread(directory, 't', { clock: systemClock, witness });
const opened = { type: 'opened', ground: ground(), atMs: systemClock.now() } as const;
await thread.append([opened]);
let performed = 0;
await using channel = openChannel({
  state: openedState(opened),
  thread,
  clock: systemClock,
  newId: () => uuidV7(systemClock.now()),
  async perform(_want, { state, send }) {
    performed += 1;
    const { turn } = state();
    if (turn !== undefined) await send({ turn, type: 'end', end: 'done' });
  },
});
const told: string[] = [];
// Three octets a sign: as many as one request may have are more than the disk has room for.
for (const size of [10, 8000, 20]) {
  const before = channel.state;
  try {
    await channel.send({ type: 'submit', text: '字'.repeat(size), proof: { from: 'local' } });
    told.push('stored');
  } catch (fault) {
    const code = isWritError(fault) ? `${fault.code} ${fault.detail.errno}` : String(fault);
    told.push(`${code}, ${channel.state === before ? 'nothing changed' : 'changed'}`);
  }
  while (channel.state.turn !== undefined) await new Promise((resolve) => setImmediate(resolve));
}
process.stdout.write(JSON.stringify({ told, performed }));
