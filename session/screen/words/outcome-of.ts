import type { Snapshot } from '../../state/snapshot.ts';
import type { RunOutcome } from '../../state/work.ts';

/** What a run came to, as it is shown. */
export interface Outcome {
  readonly title: string;
  readonly words: string;
  readonly isCommit: boolean;
  readonly runId: string;
  readonly commit?: string;
}

/** The last decision that the session told; `undefined` before there is one. */
export function outcomeOf({ outcome }: Pick<Snapshot, 'outcome'>): Outcome | undefined {
  return outcome && toOutcome(outcome);
}

/** The decision that a note tells; `undefined` where it tells something else. */
export function readOutcome({
  metadata,
}: Pick<Snapshot['transcript'][number], 'metadata'>): Outcome | undefined {
  const { outcome } = metadata as { readonly outcome?: RunOutcome };
  return outcome && toOutcome(outcome);
}

const undecided: Readonly<Record<string, string>> = {
  waiting: 'Waiting for people',
  held: 'Held for review',
  none: 'Nothing committed',
};

function toOutcome({ runId, decision, why, commit }: RunOutcome): Outcome {
  return {
    title: undecided[decision] ?? `Decision.${decision.replace(/^./, (first) => first.toUpperCase())}`,
    words: why,
    isCommit: decision === 'commit',
    runId,
    ...(commit === undefined ? {} : { commit }),
  };
}

/** How anybody can see for themselves what a run came to, and check it. */
export function commandsOf({
  runId,
  isCommit,
}: Outcome): readonly (readonly [line: string, about: string])[] {
  return [
    ...(isCommit ? [[`writ verify ${runId}`, 'anybody can check the seal, offline'] as const] : []),
    [`writ show ${runId}`, 'what was checked, found and decided'],
  ];
}
