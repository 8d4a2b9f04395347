import type { SessionState } from './state.ts';

/** The run that the turn works on and that has come to nothing yet: stopped now, it is kept and can be gone on with. */
export function stoppedRun({ run, outcome }: Pick<SessionState, 'run' | 'outcome'>): string | undefined {
  return outcome?.runId === run ? undefined : run;
}

/** How it is gone on with, for whoever stopped it; empty where there is none. */
export function stoppedWords(state: Pick<SessionState, 'run' | 'outcome'>): string {
  const run = stoppedRun(state);
  return run === undefined ? '' : `its run is kept: \`writ resume ${run}\` goes on with it`;
}
