import type { Seen } from '../seen.ts';

/** What the last run of the session came to. */
export interface Outcome {
  readonly title: string;
  readonly words: string;
  readonly isCommit: boolean;
  readonly runId?: string;
  readonly commit?: string;
}

/** Reads the last decision that the session told; `undefined` before there is one. */
export function outcomeOf({ transcript }: Pick<Seen, 'transcript'>): Outcome | undefined {
  const told = transcript.findLast(
    ({ kind, title = '' }) => kind === 'info_note' && /^(?:Decision\.|Waiting for people$)/.test(title),
  );
  if (told === undefined) return undefined;
  const { title = '', content = '' } = told;
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
