/* Runs one check under the tracer. */
import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import type { EffectiveCheck } from '../../../core/interfaces/intentspec.gen.ts';
import type { Attempt } from '../../state/open-run.ts';
import type { WorkspaceSide } from '../open-workspace.ts';
import { type CheckTask, runCheckOf } from '../run-check.ts';
import { type ReadTrace, underTracer } from './under-tracer.ts';

/** The footprint of a traced run of a check, with the paths that it carries over; or why it does not count. */
type TracedCheck = Pick<CheckOutcome, 'carried'> & ReadTrace;

/**
 * Runs a check under the tracer. The trace counts only if the run reached what it is for: at least one test of a suite,
 * or the expected exit code of a command.
 */
export async function traceCheck(
  attempt: Attempt,
  side: WorkspaceSide,
  task: CheckTask,
): Promise<TracedCheck> {
  const { sandbox, repository } = attempt.environment;
  const { workspace } = sandbox.pathsInside({ workspace: '', reports: '' });
  const { ran, read } = await underTracer(attempt.services, workspace, repository.root, (traced, signal) =>
    runCheckOf({ ...attempt, services: { ...attempt.services, signal } }, side, { ...task, traced }),
  );
  const carried = ran.carried ? { carried: ran.carried } : {};
  const { exitCodes } = attempt.environment.scanners.byCheck.get(task.check.id)?.config ?? {};
  const reason = 'reason' in read ? read.reason : notReached(task.check, ran, exitCodes);
  if (reason !== undefined) return { reason, ...carried };
  return { ...read, ...carried };
}

/**
 * Returns why a run of a check at the policy commit gives no information about verification inputs, or `undefined` if
 * it does.
 */
export function notReached(
  { kind, expectedExitCode }: Pick<EffectiveCheck, 'kind' | 'expectedExitCode'>,
  { result, tests, findings }: Pick<CheckOutcome, 'result' | 'tests' | 'findings'>,
  exitCodes: readonly number[] = [expectedExitCode],
): string | undefined {
  if (result === undefined) return findings[0]?.message ?? 'its command did not run';
  if (result.timedOut) return 'it reached its timeout';
  if (result.exceeded) return `it held too much of the machine's ${result.exceeded.what}`;
  if (kind === 'testSuite')
    return tests !== undefined && tests.passed + tests.failed > 0 ? undefined : 'no test ran';
  if (result.exitCode !== undefined && exitCodes.includes(result.exitCode)) return undefined;
  const ended = result.exitCode === undefined ? `signal ${result.signal}` : `exit code ${result.exitCode}`;
  return `its command ended with ${ended}, expected ${expectedExitCode}`;
}
