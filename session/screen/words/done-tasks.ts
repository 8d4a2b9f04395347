import type { Snapshot } from '../../state/snapshot.ts';

/** A Task that is done, and the run that it is of. */
export interface DoneTask {
  readonly run: string;
  readonly task: string;
}

/** As a session names its Tasks. */
const ofRun = /^([0-9a-f]{8}-[0-9a-f-]{27})\/(task-\d{1,4})$/;

/** The Task that this is; `undefined` where it is not done. Whether it can be taken back is the session's to say. */
export function toDoneTask({ id, status }: Snapshot['tasks'][number]): DoneTask | undefined {
  const [, run = '', task = ''] = ofRun.exec(id) ?? [];
  return run === '' || status !== 'completed' ? undefined : { run, task };
}

/** The message that asks to take it back. */
export function undoMessage({ run, task }: DoneTask): string {
  return `/undo ${run} ${task}`;
}
