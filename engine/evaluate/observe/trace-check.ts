import { mkdtemp, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setInterval } from 'node:timers';
import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import type { EffectiveCheck } from '../../../core/interfaces/intentspec.gen.ts';
import { createFootprintReader, type Footprint } from '../../../readers/trace/read-trace.ts';
import { removeTree } from '../../../workspace/git/remove-tree.ts';
import type { Attempt } from '../../state/open-run.ts';
import type { WorkspaceSide } from '../open-workspace.ts';
import { askCheck, type CheckTask } from '../run-check.ts';
import { placeImportHook } from './python-imports.ts';

/** Ten times what the largest suite of docs/decisions/0022-footprints.md wrote, and more. */
const maxTraceBytes = 256 * 1024 * 1024;
const watchEveryMs = 100;

/** The footprint of a traced run of a check, with the paths that it carries over; or why it does not count. */
type TracedCheck = Pick<CheckOutcome, 'carried'> &
  ({ readonly footprint: Footprint } | { readonly reason: string });

/**
 * Runs a check under the tracer. The trace is bounded and deleted afterwards. It counts only if the run reached what it
 * is for: at least one test of a suite, or the expected exit code of a command.
 */
export async function traceCheck(
  attempt: Attempt,
  side: WorkspaceSide,
  task: CheckTask,
): Promise<TracedCheck> {
  const place = await mkdtemp(join(attempt.means.privateRoot, 'trace-'));
  const traceTo = join(place, 'calls');
  const tooLarge = new AbortController();
  const watch = setInterval(async () => {
    if ((await sizeOf(traceTo)) > maxTraceBytes) tooLarge.abort();
  }, watchEveryMs);
  try {
    const signal = AbortSignal.any([attempt.means.signal, tooLarge.signal]);
    const bounded: Attempt = { ...attempt, means: { ...attempt.means, signal } };
    const { workspace } = attempt.ground.sandbox.pathsInside({ workspace: '', reports: '' });
    const traced = { traceTo, ...(await placeImportHook(place, workspace)) };
    const outcome = await askCheck(bounded, side, { ...task, traced });
    const carried = outcome.carried ? { carried: outcome.carried } : {};
    const read = await readTrace(traceTo, workspace);
    const { exitCodes } = attempt.ground.scanners.byCheck.get(task.check.id)?.config ?? {};
    const reason = ('reason' in read ? read.reason : undefined) ?? notReached(task.check, outcome, exitCodes);
    if (reason !== undefined) return { reason, ...carried };
    return 'footprint' in read ? { ...read, ...carried } : { reason: 'there is no trace', ...carried };
  } finally {
    clearInterval(watch);
    await removeTree(place).catch(() => undefined);
  }
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

/** Reads a trace line by line, as far as its bounds go. */
export async function readTrace(
  path: string,
  cwd: string,
  limits: { readonly maxBytes?: number; readonly maxPaths?: number } = {},
): Promise<{ readonly footprint: Footprint } | { readonly reason: string }> {
  const { maxBytes = maxTraceBytes, maxPaths } = limits;
  const size = await sizeOf(path);
  if (size > maxBytes) return { reason: `its trace is larger than ${maxBytes} bytes` };
  if (size === 0) return { reason: 'there is no trace' };
  const reader = createFootprintReader(cwd, maxPaths);
  const file = await open(path);
  try {
    for await (const line of file.readLines({ encoding: 'latin1' }))
      if (!reader.read(line)) return { reason: 'it uses more paths than a footprint holds' };
  } finally {
    await file.close();
  }
  return { footprint: reader.footprint() };
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
