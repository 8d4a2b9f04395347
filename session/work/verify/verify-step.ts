import { openRepository } from '../../../workspace/git/repository.ts';
import { runsOfThread } from '../../thread/session-threads.ts';
import { findRunOf } from '../review/find-run-of.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import { verifyOffline } from './verify-offline.ts';

/**
 * Verifies what was sealed, by the verifier and the anchors of `writ verify`, offline; it changes nothing. What was
 * found is a tool call with all checks, and a note with the verdict. Nothing verified is a failure.
 */
export async function verifyStep(scope: TurnScope, wanted: string): Promise<StepEnd> {
  const { tell, newId, setting } = scope;
  const target = wanted === '' ? await lastSealed(scope) : wanted;
  if (target === undefined) {
    await tellVerdict(scope, 'this thread has sealed no commit: nothing was verified', false);
    return { end: 'done' };
  }
  const call = { type: 'tool', id: newId(), toolName: 'verify' } as const;
  await tell({ ...call, status: 'running', summary: `offline ${target}` });
  const found = await verifyOffline(scope, target);
  const { refusal, output } = found;
  await tell({
    ...call,
    status: refusal === undefined ? 'completed' : 'failed',
    summary: `offline ${target}`,
    output: setting.approval.mask(output),
  });
  await tellVerdict(
    scope,
    // The title says which of the two it is.
    refusal === undefined ? target : `${target}: ${refusal}`,
    refusal === undefined,
  );
  return { end: 'done' };
}

/** The run of the thread that committed last. */
async function lastSealed(scope: TurnScope): Promise<string | undefined> {
  const repository = await openRepository(scope.setting.repositoryPath);
  const runs = await runsOfThread(repository, scope.state().ground.threadId);
  for (const runId of runs.toReversed())
    if ((await findRunOf(scope, runId))?.view.decision?.type === 'commit') return runId;
  return undefined;
}

function tellVerdict({ tell, newId }: TurnScope, text: string, isVerified: boolean): Promise<void> {
  return tell({ type: 'noted', id: newId(), title: isVerified ? 'Verified' : 'Not verified', text });
}
