/** Verifies what a thread has sealed. */
import { verificationRefusal, warningsOf } from '../../api/verify/verification-data.ts';
import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import { verifyTargets } from '../../api/verify/verify-targets.ts';
import { isWritError } from '../../core/base/errors.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { runsOfThread } from '../thread/read-thread.ts';
import { findRunOf } from './run-outcome.ts';
import type { StepEnd, TurnScope } from './turn-scope.ts';

const maxOutput = 16_384;

/** Verifies a target by the verifier and the anchors of `writ verify`, offline; `refusal`: it is not verified. */
export async function verifyOffline(
  { setting, signal }: Pick<TurnScope, 'setting' | 'signal'>,
  target: string,
): Promise<{ readonly refusal?: string; readonly output: string }> {
  const { engine, repositoryPath, env } = setting;
  const place = { cwd: repositoryPath, repoPath: repositoryPath, stores: engine.slots.store, env, signal };
  let found: readonly VerifiedTarget[];
  try {
    found = await verifyTargets(place, [target]);
  } catch (fault) {
    signal.throwIfAborted();
    if (!isWritError(fault)) throw fault;
    return { refusal: `${fault.code}: ${fault.message}`, output: '' };
  }
  signal.throwIfAborted();
  const refused = verificationRefusal(found);
  return {
    ...(refused === undefined ? {} : { refusal: `${refused.code}: ${refused.message}` }),
    output: found.map(reportText).join('\n').slice(0, maxOutput),
  };
}

/** What was found of one target: the verdict, then each check in a line; evidence that holds is counted. */
function reportText(found: VerifiedTarget): string {
  const { target, commit, runId, report } = found;
  const { checks } = report;
  const evidence = checks.filter(({ id, status }) => id.startsWith('evidence:') && status === 'passed');
  const shown = checks.filter((check) => !evidence.includes(check));
  return [
    `${report.verified ? 'verified' : 'not verified'}  ${target}  ${report.ran} of ${report.expected} checks ran`,
    ...(commit === undefined ? [] : [`commit ${commit}`]),
    ...(runId === undefined ? [] : [`run ${runId}`]),
    ...shown.map(({ id, status, code, detail = {} }) =>
      [
        status,
        id,
        ...(code === undefined || code === status ? [] : [code]),
        ...Object.entries(detail).map(([name, value]) => `${name} ${[value].flat().join(', ')}`),
      ].join('  '),
    ),
    ...(evidence.length === 0 ? [] : [`passed  ${evidence.length} evidence digests`]),
    ...warningsOf(found).map(({ message }) => `warning: ${message}`),
  ].join('\n');
}

/**
 * Verifies sealed evidence offline, with the verifier and the anchors of `writ verify`. It changes nothing. The
 * result is a tool call with all checks, and a note with the verdict. If nothing was verified, the turn fails.
 */
export async function verifyStep(scope: TurnScope, wanted: string): Promise<StepEnd> {
  const { emit, note, newId, setting } = scope;
  const target = wanted === '' ? await lastSealed(scope) : wanted;
  if (target === undefined) {
    await note('Not verified', 'this thread has sealed no commit: nothing was verified');
    return { end: 'done' };
  }
  const call = { type: 'tool', id: newId(), toolName: 'verify' } as const;
  await emit({ ...call, status: 'running', summary: `offline ${target}` });
  const found = await verifyOffline(scope, target);
  const { refusal, output } = found;
  await emit({
    ...call,
    status: refusal === undefined ? 'completed' : 'failed',
    summary: `offline ${target}`,
    output: setting.approval.mask(output),
  });
  if (refusal === undefined) await note('Verified', target);
  else await note('Not verified', `${target}: ${refusal}`);
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
