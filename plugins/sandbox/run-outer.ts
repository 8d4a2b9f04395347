import { writeFileSync } from 'node:fs';
import { WritError } from '../../core/base/errors.ts';
import type { SandboxRequest, SandboxResult } from '../../core/contract/sandbox.ts';
import { endNamespace, firstOf } from './namespace-end.ts';
import { processesIn } from './process-tree.ts';
import { memoryDirectories, profile } from './profile.ts';
import { spawnWatched } from './spawn-watched.ts';
import { tracerWords } from './tracer.ts';

/**
 * Runs the program that builds a sandbox and then the command in it. What the command does is a value; a sandbox that
 * never reached its command throws SANDBOX_FAILED, so that a broken host is not taken for a failed check.
 */
export async function runOuter(
  argv: readonly string[],
  env: Record<string, string>,
  request: SandboxRequest,
  passed: readonly number[] = [],
): Promise<SandboxResult> {
  const { traceTo } = request;
  const isTraced = traceTo !== undefined;
  const outer = {
    argv: isTraced ? [...tracerWords(traceTo), ...argv] : argv,
    cwd: '/',
    env,
    maxOutputBytes: request.maxOutputBytes,
    timeoutMs: request.timeoutMs,
    processGroup: true,
    terminate: (started: number) => endNamespace(started, isTraced),
    announces: true,
    passed,
    ...(request.stdin === undefined ? {} : { stdin: request.stdin }),
    ...(request.talk === undefined ? {} : { talk: request.talk }),
    ...(request.heard === undefined ? {} : { heard: request.heard }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
  const { announced, ...result } = await spawnWatched(request, outer, (started) => {
    const first = firstOf(started, isTraced);
    if (first === undefined) return undefined;
    preferForKilling(first);
    // Its own /proc lists its pid namespace and nothing else, whatever became of whose parent.
    const proc = `/proc/${first}/root/proc`;
    return {
      first,
      processes: () => processesIn(proc).map((pid) => `${proc}/${pid}`),
      net: `/proc/${first}/net`,
      directories: memoryDirectories(0).map(({ path }) => `/proc/${first}/root${path}`),
    };
  });
  if (!announced && !result.timedOut && !result.aborted) {
    const said = result.stderr.bytes.toString('utf8').trim().slice(0, 500);
    throw new WritError('SANDBOX_FAILED', {
      message: `the sandbox could not be set up: ${said}`,
      detail: { exitCode: result.exitCode, said },
    });
  }
  return result;
}

/** Before the command: process 1 waits for our answer. Its read-only /proc leaves it no way to undo this. */
function preferForKilling(first: number): void {
  try {
    writeFileSync(`/proc/${first}/oom_score_adj`, String(profile.outOfMemoryScore));
  } catch {
    // The probe tells of a kernel without it.
  }
}
