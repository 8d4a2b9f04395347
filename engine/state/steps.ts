import type { JournalRecord } from '../../store/parse-journal.ts';

/** Where steps are recorded: a run's journal, or memory. */
export interface StepLog {
  readonly records: readonly JournalRecord[];
  append(type: string, data: unknown): Promise<unknown>;
}

/**
 * Named steps of a run, each of which happens once, however often the run is resumed
 * (`docs/decisions/0004-durable-runs.md`).
 */
export interface Steps {
  /**
   * Returns the step's answer from this or an earlier process. `act` must be idempotent: it runs again if an earlier
   * process stopped before recording its answer. The answer must be JSON or `undefined`. A rejection is not recorded,
   * nor is an answer that is not final: the next process then runs the step again.
   */
  once<T>(key: string, act: () => Promise<T> | T, isFinal?: (answer: T) => boolean): Promise<T>;
  /** The answer of a step that ended; `undefined` where it did not. */
  ended(key: string): { readonly answer: unknown } | undefined;
  /** True where an earlier process began the step and was stopped before its end. */
  interrupted(key: string): boolean;
  /** The same steps under `<prefix>/`. */
  under(prefix: string): Steps;
  /** Records a journal entry that is not a step, for readers of the journal. */
  note(type: string, data: unknown): Promise<void>;
}

/** Steps over a log, with whatever it already holds. */
export function stepsOver(log: StepLog): Steps {
  const ended = new Map<string, unknown>();
  const begun = new Set<string>();
  for (const { type, data } of log.records) {
    const { step, answer } = (data ?? {}) as { readonly step?: string; readonly answer?: unknown };
    if (step === undefined) continue;
    if (type === 'step-begun') begun.add(step);
    if (type === 'step-ended') ended.set(step, answer);
  }
  const running = new Map<string, Promise<unknown>>();
  const at = (prefix: string): Steps => ({
    once<T>(name: string, act: () => Promise<T> | T, isFinal = (_answer: T) => true): Promise<T> {
      const step = `${prefix}${name}`;
      const known = running.get(step);
      if (known) return known as Promise<T>;
      if (ended.has(step)) return Promise.resolve(ended.get(step) as T);
      const doing = (async () => {
        await log.append('step-begun', { step });
        const answer = await act();
        if (!isFinal(answer)) return answer;
        await log.append('step-ended', { step, ...(answer === undefined ? {} : { answer }) });
        ended.set(step, answer);
        return answer;
      })();
      running.set(step, doing);
      return doing.finally(() => running.delete(step));
    },
    ended: (name) => (ended.has(`${prefix}${name}`) ? { answer: ended.get(`${prefix}${name}`) } : undefined),
    interrupted: (name) => begun.has(`${prefix}${name}`) && !ended.has(`${prefix}${name}`),
    under: (name) => at(`${prefix}${name}/`),
    note: async (type, data) => {
      await log.append(type, data);
    },
  });
  return at('');
}

/** Steps that live as long as the process: for tests, measurements and embedders that want no journal. */
export function stepsInMemory(): Steps {
  return stepsOver({ records: [], append: async () => undefined });
}
