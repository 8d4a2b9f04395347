import { type StageRecord, stageNames } from '../contract/stage.ts';
import type { JournalRecord } from '../store/parse-journal.ts';
import type { FollowOutcome } from '../vcs/swap-target.ts';
import { waitingType } from './wall-clock.ts';

/** What this machine's journal knows of a run beyond its refs. */
export interface JournalView {
  readonly isFinished: boolean;
  readonly isWaiting: boolean;
  /** The branch was moved, or found to have been moved by somebody else. */
  readonly swapped: boolean;
  /** Why index and files did not follow the branch. */
  readonly notFollowed?: string;
  readonly sealedBy: { readonly keyId?: string; readonly logOrigin?: string; readonly logIndex?: number };
  /** Stages that have settled so far, of the last candidate that was judged. */
  readonly stages: readonly StageRecord[];
}

/** Reads the steps that matter to people out of a journal. */
export function viewJournal(records: readonly JournalRecord[]): JournalView {
  const ended = new Map<string, unknown>();
  for (const { type, data } of records) {
    const { step, answer } = (data ?? {}) as { readonly step?: string; readonly answer?: unknown };
    if (type === 'step-ended' && step !== undefined) ended.set(step, answer);
  }
  const last = <T>(name: string): T | undefined => {
    const key = [...ended.keys()].findLast((step) => step === name || step.endsWith(`/${name}`));
    return key === undefined ? undefined : (ended.get(key) as T);
  };
  const follow = last<FollowOutcome>('follow');
  const attested = last<JournalView['sealedBy']>('attested');
  return {
    isFinished: records.some(({ type }) => type === 'run-finished'),
    isWaiting: records.findLast(({ type }) => type !== 'run-left')?.type === waitingType,
    swapped: [...ended.keys()].some((step) => step.endsWith('seal/swap')),
    ...(follow?.state === 'failed' ? { notFollowed: follow.reason } : {}),
    sealedBy: {
      ...(attested?.keyId === undefined ? {} : { keyId: attested.keyId }),
      ...(attested?.logOrigin === undefined ? {} : { logOrigin: attested.logOrigin }),
      ...(attested?.logIndex === undefined ? {} : { logIndex: attested.logIndex }),
    },
    stages: stageNames.flatMap((name) => last<StageRecord>(`${name}/settled`) ?? []),
  };
}
