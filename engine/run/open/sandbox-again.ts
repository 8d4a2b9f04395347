import type { WritEngine } from '../../spec/writ-engine.ts';
import type { Journal } from '../../store/journal.ts';
import { pickSandbox } from '../../tool/pick-sandbox.ts';
import { viewJournal } from '../record/journal-view.ts';
import type { StartedRun } from '../record/started-run.ts';

/**
 * The back end that a run goes on in where nobody names one: the one of its last judging, else the one that it was
 * started with. `auto` where that does not work here, and where the journal is not this user's own: a claim from
 * elsewhere takes no sandbox away.
 */
export async function sandboxAgain(
  engine: Pick<WritEngine, 'slots'>,
  own: Pick<Journal, 'records'> | undefined,
  started: Pick<StartedRun, 'sandbox'>,
): Promise<string> {
  if (!own) return 'auto';
  const { sandbox = started.sandbox } = viewJournal(own.records);
  return pickSandbox(sandbox, engine.slots.sandbox).then(
    ({ name }) => name,
    () => 'auto',
  );
}
