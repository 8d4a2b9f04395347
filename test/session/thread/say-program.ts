/** Says things in a thread until it is killed; prints what was acknowledged. Arguments: directory, key directory. */
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { uuidV7 } from '../../../core/base/ids.ts';
import { keepAudit } from '../../../session/audit/keep-audit.ts';
import { openAudit } from '../../../session/audit/open-audit.ts';
import { openChannel } from '../../../session/channel/open-channel.ts';
import { afterKill } from '../../../session/state/after-kill.ts';
import { openedState, reduce } from '../../../session/state/reduce.ts';
import { openThread } from '../../../session/thread/open-thread.ts';
import { ground } from '../state/walk.ts';

const [directory = '', home = ''] = process.argv.slice(2);
const witness = userJournalWitness({ HOME: home });
const thread = await openThread(directory, 't', { clock: systemClock, witness });
// In small files, so that a kill also meets the beginning of one.
const audit = await openAudit(directory, 't', {
  clock: systemClock,
  witness,
  maxFileBytes: 3000,
  keptFiles: 3,
});
if (audit.problems.length > 0) throw new Error(JSON.stringify(audit.problems));
const nowMs = systemClock.now();
const opened = { type: 'opened', ground: ground(), atMs: nowMs } as const;
if (thread.facts.length === 0) await thread.append([opened]);
const read = thread.facts.reduce(reduce, openedState(opened));
const left = afterKill(read).map((fact) => ({ ...fact, atMs: nowMs }));
if (left.length > 0) await thread.append(left);
const channel = openChannel({
  state: left.reduce(reduce, read),
  thread,
  audit: keepAudit(audit, systemClock),
  clock: systemClock,
  newId: () => uuidV7(systemClock.now()),
  async perform(want, { send }) {
    if (want.type === 'turn') await send({ turn: want.turn, type: 'end', end: 'done' });
  },
});
const heard = channel.state.transcript
  .map(({ content }) => content)
  .filter((text) => /^\d+$/.test(text ?? ''));
process.stdout.write(`heard ${channel.state.earlier + heard.length} ${heard.at(-1) ?? 0}\n`);
for (let n = Number(heard.at(-1) ?? 0) + 1; ; n += 1) {
  while (channel.state.turn !== undefined) await channel.send({ type: 'tick' });
  await channel.send({ type: 'submit', text: `${n}`, proof: { from: 'local' } });
  process.stdout.write(`said ${n}\n`);
}
