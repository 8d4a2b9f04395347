import { WritError } from '../../../core/base/errors.ts';
import type { Opening } from './opening.ts';

/**
 * What a judgement has to see: the contract alone; the repository and its policy; this machine, its user's keys and
 * trust; the change itself.
 */
type Sight = 'contract' | 'repository' | 'machine' | 'change';

type Part = keyof Opening;

/** One thing that can refuse a run before any work: `writ run` stops at the first, `writ plan` tells them all. */
export interface Judgement {
  readonly id: string;
  readonly sees: Sight;
  /** JSON Pointer to what of the contract it is about; '' for the whole of it, or something else. */
  readonly about: string;
  /** What earlier judgements have to have found; without it nothing is judged. */
  readonly needs: readonly Part[];
  /** Throws a catalogued refusal, or answers what it found. */
  judge(known: Partial<Opening>): Promise<Partial<Opening>>;
}

/** A judgement whose function is handed what it needs, and may look at what else is known. */
export function judgement<const N extends Part, G extends Part = never>(given: {
  readonly id: string;
  readonly sees: Sight;
  readonly about?: string;
  readonly needs: readonly N[];
  // biome-ignore lint/suspicious/noConfusingVoidType: a judgement that only refuses answers nothing.
  judge(known: Pick<Opening, N> & Partial<Opening>): Promise<Pick<Opening, G> | void>;
}): Judgement {
  // What `needs` names is there: `judgeOpening` asks nobody else.
  return { about: '', ...given, judge: async (known) => (await given.judge(known as Opening)) ?? {} };
}

/** Told of a refusal; the judgements that need nothing of it go on. */
type HearRefusal = (refused: Judgement, fault: WritError) => void;

/**
 * Asks the judgements in order, each knowing what the ones before it found. The first refusal is thrown; with `hear`
 * all are told instead, and what is no refusal (INTERNAL, RUN_INTERRUPTED) is still thrown.
 */
export async function judgeOpening(
  judgements: readonly Judgement[],
  known: Partial<Opening>,
  hear?: HearRefusal,
): Promise<Partial<Opening>> {
  let all = known;
  for (const one of judgements) {
    if (!one.needs.every((part) => Object.hasOwn(all, part))) continue;
    try {
      all = { ...all, ...(await one.judge(all)) };
    } catch (fault) {
      if (!hear || !(fault instanceof WritError) || [70, 130].includes(fault.exitCode)) throw fault;
      hear(one, fault);
    }
  }
  return all;
}
