import type { JournalRecord } from '../../store/parse-journal.ts';
import {
  type CallEnd,
  callTypes,
  type LostCall,
  lostWork,
  type OutsideCall,
  type SameWords,
  wordsOf,
} from './lost-calls.ts';
import { nothingSpent, type Spent } from './spent.ts';

/** What is written down of a call before it leaves the machine. */
type AskedCall = Omit<OutsideCall, 'attempt' | 'call'>;

/** The calls of a run that may have an effect outside: none that was lost is made again unknown to people. */
export interface CallLedger {
  /** Those of attempts that were stopped, in order; none of them is made again in the same words. */
  lost(): readonly LostCall[];
  /** Lets those be made again: a person has looked. */
  allow(): Promise<void>;
  of(attempt: string): AttemptCalls;
}

/** The same of one attempt. */
export interface AttemptCalls {
  /** Its own, of earlier processes. */
  lost(): readonly LostCall[];
  /** What turns of it came to whose replies are lost. */
  readonly lostSpent: Spent;
  /** The lost call of the run that asks for the same; `undefined` where none does, or a person has let it be made. */
  held(asked: SameWords): LostCall | undefined;
  /** On disk when it resolves; whoever calls it acts after that, and tells the end. EVIDENCE_WRITE_FAILED. */
  begin(asked: AskedCall): Promise<(end: CallEnd) => Promise<void>>;
  /** Writes down what its turns came to so far, in its own time. */
  spend(spent: Spent): void;
}

/** Where it is written: a run's journal. */
interface CallLog {
  readonly records: readonly JournalRecord[];
  append(type: string, data: unknown): Promise<unknown>;
}

/** Opens it over a journal, with whatever earlier processes lost. JOURNAL_CORRUPT. */
export function openCallLedger(log: CallLog): CallLedger {
  const { calls, held, begun, spent } = lostWork(log.records);
  let barred = [...held];
  const counts = new Map(begun);
  return {
    lost: () => calls,
    async allow() {
      if (barred.length === 0) return;
      await log.append(callTypes.allowed, {});
      barred = [];
    },
    of(attempt) {
      return {
        lost: () => calls.filter((call) => call.attempt === attempt),
        lostSpent: spent.get(attempt) ?? nothingSpent,
        held: (asked) => barred.find((call) => wordsOf(call) === wordsOf(asked)),
        async begin(asked) {
          const call = (counts.get(attempt) ?? 0) + 1;
          counts.set(attempt, call);
          await log.append(callTypes.begun, { attempt, call, ...asked });
          return async (end) => {
            await log.append(callTypes.ended, { attempt, call, ...end });
          };
        },
        spend(sofar) {
          // A journal that cannot be written is told where the attempt ends.
          log.append(callTypes.spent, { attempt, spent: sofar }).catch(() => undefined);
        },
      };
    },
  };
}
