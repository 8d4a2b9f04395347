/** `/fork`: a new thread with the beginning of another one. */
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type JournalWitness, processWitness } from '../../store/journal-witness.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import type { Fact, Happened } from '../state/fact.ts';
import { reduce } from '../state/reduce.ts';
import { afterKill, restoredState } from '../state/restored-state.ts';
import { shortEntry } from '../state/rewind.ts';
import { pendingOf } from '../state/state.ts';
import type { StepEnd, TurnScope } from '../work/turn-scope.ts';
import { copyAttached } from './attachments.ts';
import { openThread, threadDirectory } from './open-thread.ts';
import { readThread } from './read-thread.ts';

/** Title of the note that separates the beginning of a fork from what is its own. */
export const forkedTitle = 'Began as a fork';

/** Facts of one record of the new journal. */
const mostInRecord = 500;

/** Makes the new thread, and says how it is opened. This thread goes on as it is. */
export async function forkStep(scope: TurnScope, before: string): Promise<StepEnd> {
  const { setting, state, emit, newId } = scope;
  const { threadId } = state().ground;
  const id = newId();
  await forkThread(await openRepository(setting.repositoryPath), {
    threadId,
    before,
    id,
    newId,
    clock: setting.clock,
    witness: setting.run.witness ?? processWitness,
  });
  await emit({
    type: 'noted',
    id: newId(),
    title: 'Forked',
    text: `\`writ code --resume ${id}\` goes on with the new thread; this one stays as it is`,
    fork: { way: 'to', thread: id, entry: before },
  });
  return { end: 'done' };
}

interface Fork {
  readonly threadId: string;
  /** The message that the new thread does not have, nor anything after it. */
  readonly before: string;
  readonly id: string;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly witness: JournalWitness;
}

/** THREAD_NOT_FOUND, THREAD_UNPROVEN, EVIDENCE_WRITE_FAILED. */
async function forkThread(
  repository: Repository,
  { threadId, before, id, newId, clock, witness }: Fork,
): Promise<void> {
  const from = threadDirectory(repository, threadId);
  const { proven } = await readThread(from, threadId, witness);
  if (proven === undefined) throw new WritError('THREAD_UNPROVEN', { detail: { thread_id: threadId } });
  const end = proven.facts.findIndex((fact) => fact.type === 'said' && fact.id === before);
  const facts = proven.facts
    .slice(0, end)
    .map((fact) => ('ground' in fact ? { ...fact, ground: { ...fact.ground, threadId: id } } : fact));
  const nowMs = clock.now();
  const state = restoredState(facts);
  if (state.held !== undefined)
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: 'a change was held there: only one thread can review it',
    });
  // Questions that waited at that point are answered in the other thread only.
  const withdrawn = pendingOf(state).map(
    ({ id }): Happened => ({ type: 'withdrawn', id, why: 'turn-ended', atMs: nowMs }),
  );
  const ended: readonly Fact[] = [
    ...withdrawn,
    ...afterKill(withdrawn.reduce(reduce, state), { nowMs, newId }),
    {
      type: 'noted',
      id: newId(),
      title: forkedTitle,
      text: `the beginning is that of thread ${threadId}, up to before entry ${shortEntry(before)}`,
      fork: { way: 'from', thread: threadId, entry: before },
    },
  ];
  const directory = threadDirectory(repository, id);
  await using opened = await openThread(directory, id, { clock, witness });
  const attachments = facts.flatMap((fact) => (fact.type === 'said' ? (fact.attachments ?? []) : []));
  await copyAttached(from, directory, attachments);
  const all = [...facts, ...ended.map((fact) => ({ ...fact, atMs: nowMs }))];
  for (let at = 0; at < all.length; at += mostInRecord) await opened.append(all.slice(at, at + mostInRecord));
}
