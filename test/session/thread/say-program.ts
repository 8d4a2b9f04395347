/**
 * Says things in a thread, has a tool run for each and asks now and then, until it is killed: by itself, at the write
 * that it is told. Prints what was acknowledged. Arguments: directory, home, file of effects, number of the write,
 * `before`, `half` or `after`.
 */
import { appendFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { uuidV7 } from '../../../core/base/ids.ts';
import { keepAudit, openAudit } from '../../../session/audit/keep-audit.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { Happened } from '../../../session/state/fact.ts';
import { openedState, reduce } from '../../../session/state/reduce.ts';
import { afterKill, restoredState } from '../../../session/state/restored-state.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { openThread } from '../../../session/thread/open-thread.ts';
import { ground } from '../state/walk.ts';

const [directory = '', home = '', effects = '', nth = '0', how = ''] = process.argv.slice(2);
await dieAtWrite(Number(nth), how);

const print = (line: string): void => void process.stdout.write(`${line}\n`);
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
const { facts } = thread;
const atMs = systemClock.now();
const opened = { type: 'opened', ground: ground(), atMs } as const;
const read = facts.length === 0 ? openedState(opened) : restoredState(facts);
const added: readonly Happened[] =
  facts.length === 0
    ? [opened]
    : [
        { type: 'resumed', ground: ground(), atMs },
        ...afterKill(read, { nowMs: atMs, newId: () => 'again' }).map((fact) => ({ ...fact, atMs })),
      ];
await thread.append(added);
let turns = 0;
const channel = openChannel({
  state: added.reduce(reduce, read),
  thread,
  audit: keepAudit(audit, systemClock),
  clock: systemClock,
  newId: () => uuidV7(systemClock.now()),
  async perform(want, { state, send, mention }) {
    const { turn } = state();
    if (turn === undefined) return;
    if (want.type === 'turn') {
      const tool = { turn, type: 'tool', id: `tool-${turn}`, toolName: 'append' } as const;
      // A call that only looks is told with the one that acts, and known before it.
      for (const status of ['running', 'completed'] as const)
        mention({ turn, type: 'tool', id: `look-${turn}`, toolName: 'workspace.fs', status });
      await send({ ...tool, status: 'running' });
      appendFileSync(effects, `${tool.id}\n`);
      await send({ ...tool, status: 'completed' });
      turns += 1;
      const asks = turns % 3 === 0;
      if (asks)
        return void (await send({
          turn,
          type: 'ask',
          subject: 's',
          kind: 'intent_review_choice',
          metadata: {},
        }));
    }
    await send({ turn, type: 'end', end: 'done' });
  },
});
const heard = Number(channel.state.transcript.findLast(({ kind }) => kind === 'user_message')?.content ?? 0);
print(`heard ${heard}`);
for (let n = heard + 1; ; ) {
  const [asked] = pendingOf(channel.state);
  if (asked !== undefined) {
    print(`asked ${asked.id}`);
    const given = { selectedOption: 'confirm' };
    await channel.send({ type: 'respond', id: asked.id, given, proof: { from: 'local' } });
    print(`answered ${asked.id}`);
  } else if (channel.state.turn !== undefined) await new Promise((resolve) => setImmediate(resolve));
  else {
    await channel.send({ type: 'submit', text: `${n}`.padStart(3, '0'), proof: { from: 'local' } });
    print(`said ${n}`);
    n += 1;
  }
}

/** Kills this process before, in the middle of or after the n-th time that a file that it holds is written or synced. */
async function dieAtWrite(n: number, when: string): Promise<void> {
  await using any = await open('/dev/null');
  const files: object = Object.getPrototypeOf(any);
  let left = n;
  for (const name of ['write', 'datasync', 'truncate']) {
    const real: (...given: unknown[]) => Promise<unknown> = Reflect.get(files, name);
    Reflect.set(files, name, async function (this: object, ...given: unknown[]) {
      left -= 1;
      if (left !== 0) return real.apply(this, given);
      const [bytes, at = 0] = given;
      if (when === 'half' && bytes instanceof Uint8Array && given.length < 3)
        await real.call(this, bytes, at, Math.ceil((bytes.length - Number(at)) / 2));
      else if (when === 'after') await real.apply(this, given);
      process.kill(process.pid, 'SIGKILL');
      return undefined;
    });
  }
}
