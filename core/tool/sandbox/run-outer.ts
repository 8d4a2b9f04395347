import { WritError } from '../../base/errors.ts';
import type { SandboxRequest, SandboxResult } from '../../contract/sandbox.ts';
import { spawnProcess } from '../spawn.ts';
import { endNamespace } from './namespace-end.ts';

/**
 * Runs the program that builds a sandbox and then the command in it. What the command does is a value; a sandbox that never
 * reached its command throws SANDBOX_FAILED, so that a broken host is not taken for a failed check.
 */
export async function runOuter(
  argv: readonly string[],
  env: Record<string, string>,
  request: SandboxRequest,
  passed: readonly number[] = [],
): Promise<SandboxResult> {
  const { announced, ...result } = await spawnProcess({
    argv,
    cwd: '/',
    env,
    maxOutputBytes: request.maxOutputBytes,
    timeoutMs: request.timeoutMs,
    processGroup: true,
    terminate: endNamespace,
    announces: true,
    passed,
    ...(request.stdin === undefined ? {} : { stdin: request.stdin }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
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
