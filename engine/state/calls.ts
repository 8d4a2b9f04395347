/* Records tool calls that leave the machine, so that a lost one is known after a kill. */
import type { CallJournal, UsedTool } from '../../agent/tool-calls/tool-entry.ts';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import { joinModelWork } from '../../readers/sensitive/model-work.ts';
import type { JournalRecord } from '../../store/parse-journal.ts';
import { modelWorkShape } from '../../store/record/model-work.ts';
import { fields, oneOf, sha256Text, type TypeOf, text, time, wholeNumber } from '../../store/shape.ts';
import { addSpent, nothingSpent, resumedType, type Spent, spentShape } from './spent.ts';

/** The calls of a run that may have an effect outside: none that was lost is made again unknown to people. */
export interface CallLedger {
  /** Those of attempts that were stopped, in order; none of them is made again in the same words. */
  lost(): readonly LostCall[];
  /** Lets those be made again: a person has looked. */
  allow(): Promise<void>;
  of(attempt: string): AttemptCalls;
  /** Records a call of a model. */
  called(call: ModelWork): void;
  /** Every call of a model in this run, and those that drafted it. */
  models(): readonly ModelWork[];
}

/** The same of one attempt. */
export interface AttemptCalls extends CallJournal {
  /** Its own, of earlier processes. */
  lost(): readonly LostCall[];
  /** Model usage of turns with lost replies. */
  readonly lostSpent: Spent;
  /**
   * The lost call of the run with the same tool, action and arguments; `undefined` if there is none, or a person
   * allowed repeating it.
   */
  held(asked: SameWords): LostCall | undefined;
}

/** Where it is written: a run's journal. */
interface CallLog {
  readonly records: readonly JournalRecord[];
  append(type: string, data: unknown): Promise<unknown>;
  sync?(): Promise<void>;
}

/** Opens it over a journal, with whatever earlier processes lost. JOURNAL_CORRUPT. */
export function openCallLedger(log: CallLog, drafted: readonly ModelWork[] = []): CallLedger {
  const { calls, held: heldBefore, begun, spent } = lostWork(log.records);
  const models = [...drafted, ...modelCalls(log.records)];
  let barred = [...heldBefore];
  const held = (asked: SameWords): LostCall | undefined =>
    barred.find((call) => wordsOf(call) === wordsOf(asked));
  const counts = new Map(begun);
  return {
    lost: () => calls,
    async allow() {
      if (barred.length === 0) return;
      await log.append(callTypes.allowed, {});
      await log.sync?.();
      barred = [];
    },
    called(call) {
      models.push(call);
      // A journal write error is reported when the attempt ends.
      log.append(callTypes.model, call).catch(() => undefined);
    },
    models: () => joinModelWork(models),
    of(attempt) {
      return {
        lost: () => calls.filter((call) => call.attempt === attempt),
        lostSpent: spent.get(attempt) ?? nothingSpent,
        held,
        refusal(asked) {
          const call = held(asked);
          return call && heldCall(call);
        },
        async begin(asked) {
          const call = (counts.get(attempt) ?? 0) + 1;
          counts.set(attempt, call);
          await log.append(callTypes.begun, { attempt, call, ...asked });
          await log.sync?.();
          return async (end) => {
            await log.append(callTypes.ended, { attempt, call, ...end });
          };
        },
        spend(sofar) {
          // A journal write error is reported when the attempt ends.
          log.append(callTypes.spent, { attempt, spent: sofar }).catch(() => undefined);
        },
      };
    },
  };
}

/**
 * Records of a journal about what an attempt did before it ended: a call that was about to leave the machine, its end,
 * what its turns came to so far, a call of a model; then that a person lets calls be made again.
 */
export const callTypes = {
  begun: 'call-begun',
  ended: 'call-ended',
  spent: 'attempt-spent',
  model: 'model-called',
  allowed: 'calls-allowed',
} as const;

const asked = {
  attempt: text,
  /** Within its attempt, from 1, in every process. */
  call: wholeNumber,
  tool: text,
  action: text,
  argumentsDigest: sha256Text,
  startedAt: time,
};
const begunShape = fields(asked, { path: text, command: text, query: text });
const endedShape = fields(
  {
    attempt: text,
    call: wholeNumber,
    outcome: oneOf('done', 'denied', 'failed'),
    durationMs: wholeNumber,
  },
  { exitCode: wholeNumber },
);
const spentSoFar = fields({ attempt: text, spent: spentShape });

/** A call that left the machine or was about to, with masked arguments. */
export type OutsideCall = TypeOf<typeof begunShape>;
type CallEnd = Omit<TypeOf<typeof endedShape>, 'attempt' | 'call'>;

/** A call of an attempt that was interrupted: its result is lost. Without `end`, it is unknown how far it got. */
export interface LostCall extends OutsideCall {
  readonly end?: CallEnd;
}

/** What attempts did that an earlier process began and did not end. */
interface LostWork {
  /** In order; each may have had an effect outside. */
  readonly calls: readonly LostCall[];
  /** Those of them that no person has let be made again since. */
  readonly held: readonly LostCall[];
  /** What each attempt has begun so far, lost or not. */
  readonly begun: ReadonlyMap<string, number>;
  /** Model usage of turns with lost replies, by attempt. */
  readonly spent: ReadonlyMap<string, Spent>;
}

/**
 * Reads it out of the records of a journal. A call is lost with the process that made it; not where its attempt
 * ended in that process, which has a record of it. Pure. JOURNAL_CORRUPT.
 */
export function lostWork(records: readonly JournalRecord[]): LostWork {
  const open = new Map<string, Map<number, LostCall>>();
  const spending = new Map<string, Spent>();
  const begun = new Map<string, number>();
  const spent = new Map<string, Spent>();
  const calls: LostCall[] = [];
  let held: LostCall[] = [];
  for (const record of records) {
    const { type } = record;
    if (type === callTypes.begun) {
      const call = read(record, begunShape);
      begun.set(call.attempt, Math.max(begun.get(call.attempt) ?? 0, call.call));
      open.set(call.attempt, (open.get(call.attempt) ?? new Map()).set(call.call, call));
    } else if (type === callTypes.ended) {
      const { attempt, call, ...end } = read(record, endedShape);
      const known = open.get(attempt)?.get(call);
      if (known) open.get(attempt)?.set(call, { ...known, end });
    } else if (type === callTypes.spent) {
      const { attempt, spent: sofar } = read(record, spentSoFar);
      spending.set(attempt, sofar);
    } else if (type === callTypes.allowed) held = [];
    else if (type === resumedType) {
      const lost = [...open.values()].flatMap((one) => [...one.values()]);
      calls.push(...lost);
      held = [...held, ...lost];
      open.clear();
      for (const [attempt, sofar] of spending)
        spent.set(attempt, addSpent(spent.get(attempt) ?? nothingSpent, sofar));
      spending.clear();
    } else if (type === 'step-ended') {
      const attempt = attemptThatEnded(record);
      if (attempt === undefined) continue;
      open.delete(attempt);
      spending.delete(attempt);
    }
  }
  return { calls, held, begun, spent };
}

/**
 * Returns every distinct call that unverified records list as begun; their reported ends are not believed. Pure.
 * JOURNAL_CORRUPT.
 */
export function claimedCalls(records: readonly JournalRecord[]): readonly OutsideCall[] {
  const begun = records.filter(({ type }) => type === callTypes.begun).map((one) => read(one, begunShape));
  return [...new Map(begun.map((call) => [wordsOf(call), call])).values()];
}

/** Calls of models that the records hold, whatever became of their attempts. Pure. JOURNAL_CORRUPT. */
export function modelCalls(records: readonly JournalRecord[]): readonly ModelWork[] {
  return records.filter(({ type }) => type === callTypes.model).map((one) => read(one, modelWorkShape));
}

/** What makes two calls the same. */
function wordsOf({ tool, action, argumentsDigest }: SameWords): string {
  return JSON.stringify([tool, action, argumentsDigest]);
}

type SameWords = Pick<OutsideCall, 'tool' | 'action' | 'argumentsDigest'>;

/** Lost work of a run that no process works on: every open call is lost. */
export function lostIfStopped(records: readonly JournalRecord[]): LostWork {
  return lostWork([...records, { seq: 0, at: '', type: resumedType, data: {}, prev: '' }]);
}

/** The step of an attempt that its worker does. */
export const workedStep = 'worked';

function attemptThatEnded({ data }: JournalRecord): string | undefined {
  const { step = '' } = (data ?? {}) as { readonly step?: string };
  return step.endsWith(`/${workedStep}`) ? step.slice(0, -workedStep.length - 1) : undefined;
}

function read<T>(
  { seq, type, data }: JournalRecord,
  shape: { readonly check: (value: unknown, path: string, problems: string[]) => void; readonly type?: T },
): T {
  const problems: string[] = [];
  shape.check(data, '', problems);
  if (problems.length === 0) return data as T;
  throw new WritError('JOURNAL_CORRUPT', {
    message: `record ${seq} (\`${type}\`) of the journal is not valid: ${problems[0]}`,
    detail: { seq, type, problems },
  });
}

const maxWords = 300;

/** Describes a lost call and what is known of its end, in one line for people and models. Pure. */
export function reportLostCall({ tool, action, command, query, path, startedAt, end }: LostCall): string {
  const what = (command ?? query ?? path ?? '').slice(0, maxWords).toWellFormed();
  const how =
    end === undefined
      ? 'how far it got is unknown'
      : `it ${end.outcome === 'done' ? 'was done' : 'failed'}${end.exitCode === undefined ? '' : ` with exit code ${end.exitCode}`}`;
  return `\`${tool}\` (${action}) ${quoted(what)}, ${startedAt}: ${how}`;
}

const maxTold = 20;

/** Notices about all lost calls; empty if there are none. Pure. */
export function lostCallNotices(calls: readonly LostCall[]): readonly string[] {
  if (calls.length === 0) return [];
  const [one, them] = calls.length === 1 ? ['call', 'it'] : ['calls', 'them'];
  const lines = calls.slice(0, maxTold).map((call) => `${call.attempt}: ${reportLostCall(call)}`);
  const more = calls.length > maxTold ? [`and ${calls.length - maxTold} more`] : [];
  return [
    `${calls.length} ${one} of a model had left this machine when the attempt that made ${them} was interrupted, and may have had an effect outside`,
    ...lines,
    ...more,
  ];
}

/** Why a call is not made again. */
function heldCall(call: LostCall): Finding {
  return {
    rule: 'lost-call',
    severity: 'error',
    message: `an attempt that was interrupted had made this very call, which left the machine, and it may have had its effect: ${reportLostCall(call)}. It is not made again; find out what came of it in another way, or end the task and say so`,
    detail: { attempt: call.attempt, call: call.call },
  };
}

/** Converts a lost call to the form of its attempt's record. */
export function lostUse({ attempt: _, call: __, end, ...asked }: LostCall): UsedTool {
  return { ...asked, ...(end ?? { outcome: 'unknown', durationMs: 0 }) };
}
