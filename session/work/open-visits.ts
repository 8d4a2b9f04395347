import { isWritError } from '../../core/base/errors.ts';
import type { SessionChannel, World } from '../channel/open-channel.ts';
import type { Want } from '../state/command.ts';
import { isBusy, type SessionState } from '../state/state.ts';
import { openWaiters, type TurnScope } from './turn-scope.ts';

/** Questions of clients that have no turn of their own: they are asked in one that is for nothing else. */
export interface Visits {
  /** Whether an answer was to a visitor's question; one that nobody waits for any more ends its turn. */
  take(want: Want, world: World): Promise<boolean>;
  /**
   * Does what asks, in a turn of its own. `nobody`: no one controls the session, or it is busy. `refused`: the turn was
   * cancelled, or whoever controlled the session has gone.
   */
  visit<T>(
    channel: SessionChannel,
    act: (ask: TurnScope['ask']) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | 'nobody' | 'refused'>;
}

const visitSubject = 'visit ';

export function openVisits(): Visits {
  const waiters = openWaiters();
  return {
    async take(want, { state, send }) {
      if (want.type !== 'answer' || !want.subject.startsWith(visitSubject)) return false;
      const { subject, option, given, by } = want;
      const { turn } = state();
      if (!waiters.answer(subject, { option, given, by }) && turn !== undefined)
        await send({ type: 'end', turn, end: 'cancelled' });
      return true;
    },
    async visit(channel, act, signal) {
      signal.throwIfAborted();
      if (isBusy(channel.state) || !hasController(channel.state)) return 'nobody';
      const turn = await beginVisit(channel);
      if (turn === undefined) return 'nobody';
      const gone = new AbortController();
      const unsubscribe = channel.subscribe((state) => {
        if (state.turn !== turn || !hasController(state)) gone.abort();
      });
      const ended = AbortSignal.any([signal, gone.signal, channel.closed]);
      try {
        return await act(async (question) => {
          const subject = `${visitSubject}${question.subject}`;
          const answered = waiters.wait(subject, ended);
          answered.catch(() => undefined);
          await channel.send({ type: 'ask', turn, ...question, subject });
          return answered;
        });
      } catch (fault) {
        signal.throwIfAborted();
        if (gone.signal.aborted) return 'refused';
        throw fault;
      } finally {
        unsubscribe();
        if (channel.state.turn === turn && !channel.closed.aborted)
          await channel.send({ type: 'end', turn, end: 'done' });
      }
    },
  };
}

/** `undefined` where somebody else was quicker. */
async function beginVisit(channel: SessionChannel): Promise<string | undefined> {
  try {
    return (await channel.send({ type: 'visit' })).turn;
  } catch (fault) {
    if (isWritError(fault, 'CONTROLLER_CONFLICT')) return undefined;
    throw fault;
  }
}

/** Somebody is there who can answer. */
function hasController({ lease, ground }: SessionState): boolean {
  return lease !== undefined || ground.local !== 'none';
}
