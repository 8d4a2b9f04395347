import { uuidV7 } from '../../core/base/ids.ts';
import type { ModelMeter } from '../../engine/state/open-model.ts';
import type { World } from '../channel/open-channel.ts';
import type { Report, Told } from '../state/command.ts';
import type { TurnEnd } from '../state/fact.ts';
import type { SessionState } from '../state/state.ts';
import type { Answered } from './answered.ts';
import type { Spending } from './spending.ts';
import type { WorkSetting } from './work-setting.ts';
import type { WorkTime } from './work-time.ts';

/** How one step of a turn ended: the turn with it, or it waits for an answer. */
export type StepEnd = { readonly end: TurnEnd; readonly reason?: string } | 'waits';

/** One step of a turn, and what it is done with. */
export interface TurnScope {
  readonly setting: WorkSetting;
  readonly signal: AbortSignal;
  readonly state: () => SessionState;
  /** Tells the session; on disk when it resolves. */
  readonly tell: (report: Told) => Promise<void>;
  /** Tells what nobody waits for, with what is told next or after a moment. */
  readonly mention: (report: Told) => void;
  /** Asks, and waits for the answer; rejects with the reason of the signal. */
  readonly ask: (
    question: Omit<Extract<Report, { readonly type: 'ask' }>, 'turn' | 'type'>,
  ) => Promise<Answered>;
  readonly newId: () => string;
  /** What the sandbox kept a command of this text from, in this session. */
  readonly heldBack: (command: string) => string | undefined;
  /** Counts what is asked of models, for one plan or for none. */
  readonly meter: (plan?: string) => ModelMeter;
  /** Calls of models that the session has begun, over all turns of this process. */
  readonly calls: () => number;
  /** How long it has worked. */
  readonly worked: WorkTime;
  /** The same with something more that stops it. */
  readonly within: (signal: AbortSignal) => TurnScope;
  /** Ends the turn as cancelled. */
  readonly stop: () => void;
}

/** Answers on their way to whoever waits for them, by the subject of the question. */
export interface Waiters {
  /** False where nobody waits for it here. */
  answer(subject: string, answered: Answered): boolean;
  readonly wait: (subject: string, signal: AbortSignal) => Promise<Answered>;
}

export function openWaiters(): Waiters {
  const waiting = new Map<string, (answered: Answered) => void>();
  return {
    answer(subject, answered) {
      const resolve = waiting.get(subject);
      waiting.delete(subject);
      resolve?.(answered);
      return resolve !== undefined;
    },
    wait: (subject, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const stop = (): void => {
          waiting.delete(subject);
          reject(signal.reason);
        };
        signal.addEventListener('abort', stop, { once: true });
        waiting.set(subject, (answered) => {
          signal.removeEventListener('abort', stop);
          resolve(answered);
        });
      }),
  };
}

/** What a turn has of the process that it runs in. */
export interface ScopeParts extends Pick<TurnScope, 'signal' | 'stop' | 'heldBack' | 'worked' | 'within'> {
  readonly spending: Spending;
}

/** The scope of one turn. */
export function openScope(
  turn: string,
  setting: WorkSetting,
  { state, send, mention }: World,
  waiters: Waiters,
  { spending, ...parts }: ScopeParts,
): TurnScope {
  const { signal, worked } = parts;
  const tell: TurnScope['tell'] = async (report) => void (await send({ ...report, turn } as Report));
  return {
    ...parts,
    setting,
    state,
    tell,
    mention: (report) => mention({ ...report, turn } as Report),
    async ask(question) {
      // Whoever is quick answers before the question was told to be on disk.
      const answered = waiters.wait(question.subject, signal);
      answered.catch(() => undefined);
      await tell({ type: 'ask', ...question });
      return worked.waiting(answered);
    },
    meter: (plan) => spending.meter({ state, tell }, plan),
    calls: spending.calls,
    newId: () => uuidV7(setting.clock.now()),
  };
}
