import type { Snapshot } from '../../state/snapshot.ts';

type Entry = Snapshot['transcript'][number];

/** What a run came to. */
export interface Outcome {
  readonly title: string;
  readonly words: string;
  readonly isCommit: boolean;
  readonly runId?: string;
  readonly commit?: string;
}

/** The last decision that the session told; `undefined` before there is one. */
export function outcomeOf({ transcript }: { readonly transcript: readonly Entry[] }): Outcome | undefined {
  const told = transcript.findLast((entry) => readOutcome(entry) !== undefined);
  return told && readOutcome(told);
}

/** Reads a decision out of the note that tells it; `undefined` where it tells something else. */
export function readOutcome({ kind, title = '', content = '' }: Entry): Outcome | undefined {
  if (kind !== 'info_note' || !/^(?:Decision\.|Waiting for people$)/.test(title)) return undefined;
  const [, runId, commit] = /^run ([0-9a-f-]{36})\b(?::? ([0-9a-f]{40,64})\b)?/.exec(content) ?? [];
  return {
    title,
    words: content
      .replace(/;(?: `writ [^`]*`,?)+$/, '')
      .replace(/^run [0-9a-f-]{36}:?(?: [0-9a-f]{40,64})? ?/, ''),
    isCommit: title === 'Decision.Commit',
    ...(runId === undefined ? {} : { runId }),
    ...(commit === undefined ? {} : { commit }),
  };
}

/** How anybody can see for themselves what a run came to, and check it. */
export function commandsOf({
  runId,
  isCommit,
}: Outcome): readonly (readonly [line: string, about: string])[] {
  if (runId === undefined) return [];
  return [
    ...(isCommit ? [[`writ verify ${runId}`, 'anybody can check the seal, offline'] as const] : []),
    [`writ show ${runId}`, 'what was checked, found and decided'],
  ];
}
