import type { TurnScope } from './turn-scope.ts';

/** What a person ran himself, as a model is told it. */
export interface UntoldRuns {
  readonly text: string;
  readonly ids: readonly string[];
}

/** Commands of the person that no model was told of yet; `undefined` where there are none. */
export function untoldRuns({ state }: Pick<TurnScope, 'state'>): UntoldRuns | undefined {
  const untold = state().ran.filter(({ isTold }) => !isTold);
  if (untold.length === 0) return undefined;
  return { text: untold.map(({ text }) => text).join('\n\n'), ids: untold.map(({ id }) => id) };
}

/** It stands in the dialogue from here on, and is told no more. */
export async function tellRuns({ tell }: Pick<TurnScope, 'tell'>, { text, ids }: UntoldRuns): Promise<void> {
  await tell({ type: 'exchanged', message: { role: 'user', text } });
  await tell({ type: 'runs-told', ids });
}
