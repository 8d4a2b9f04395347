import type { RunView } from '../../../core/interfaces/run-view.ts';
import { patchOfRun } from '../../review/patch-of-run.ts';
import { toChanges } from '../../review/to-changes.ts';
import { tellOutcome } from '../tell-outcome.ts';
import type { TurnScope } from '../turn-scope.ts';

/** Tells what a run made of a patch that existed, and what it came to; answers with the run. */
export async function tellMade(scope: TurnScope, view: RunView): Promise<RunView> {
  const { setting, tell } = scope;
  const { patch, decision, waiting, runId } = view;
  if (patch !== undefined && patch.files.length > 0)
    await tell({
      type: 'patched',
      patchset: {
        id: patch.digest,
        status: decision?.type === 'commit' ? 'accepted' : waiting === undefined ? 'rejected' : 'proposed',
        changes: toChanges(patch.files, await patchOfRun(setting.engine, setting, runId)),
      },
      isWhole: true,
    });
  await tellOutcome(scope, view);
  return view;
}
