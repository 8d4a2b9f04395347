import { type StageRecord, stageNames } from '../../../core/contract/stage.ts';
import type { JournalRecord } from '../../store/parse-journal.ts';
import type { AroundOutcome } from '../../vcs/set-aside.ts';
import { waitingType } from '../state/wall-clock.ts';

/** What this machine's journal knows of a run beyond its refs. */
export interface JournalView {
  readonly isFinished: boolean;
  readonly isWaiting: boolean;
  /** The branch was moved, or found to have been moved by somebody else. */
  readonly swapped: boolean;
  /** What became of index and files behind the branch. */
  readonly follow?: AroundOutcome;
  readonly sealedBy: { readonly keyId?: string; readonly logOrigin?: string; readonly logIndex?: number };
  /** The back end that the last judging of checks was begun in; absent before any. */
  readonly sandbox?: string;
  /** Stages that have settled so far, of the last candidate that was judged. */
  readonly stages: readonly StageRecord[];
}

/** Ends of the steps that are looked at. */
const viewed = ['/follow', '/attested', 'seal/swap', ...stageNames.map((name) => `/${name}/settled`)];

const judgedIn = /^[^/]+\/epoch-\d+\/sandbox$/;

/** Reads the steps that matter to people out of a journal. */
export function viewJournal(records: readonly JournalRecord[]): JournalView {
  const answers = new Map<string, unknown>();
  let sandbox: string | undefined;
  for (const { type, data } of records) {
    if (type !== 'step-ended') continue;
    const { step = '', answer } = (data ?? {}) as { readonly step?: string; readonly answer?: unknown };
    if (judgedIn.test(step)) sandbox = String(answer);
    const name = viewed.find((one) => step.endsWith(one));
    if (name !== undefined) answers.set(name, answer);
  }
  const follow = answers.get('/follow') as AroundOutcome | undefined;
  const attested = answers.get('/attested') as JournalView['sealedBy'] | undefined;
  return {
    isFinished: records.some(({ type }) => type === 'run-finished'),
    isWaiting: records.findLast(({ type }) => type !== 'run-left')?.type === waitingType,
    swapped: answers.has('seal/swap'),
    ...(follow === undefined ? {} : { follow }),
    sealedBy: {
      ...(attested?.keyId === undefined ? {} : { keyId: attested.keyId }),
      ...(attested?.logOrigin === undefined ? {} : { logOrigin: attested.logOrigin }),
      ...(attested?.logIndex === undefined ? {} : { logIndex: attested.logIndex }),
    },
    ...(sandbox === undefined ? {} : { sandbox }),
    stages: stageNames.flatMap((name) => (answers.get(`/${name}/settled`) as StageRecord | undefined) ?? []),
  };
}
