import type { HandAnswer, HandUse } from '../../../../core/contract/hands.ts';
import { openNetwork } from '../../judge/check-network.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { maxMemoryBytes } from '../../state/max-memory-bytes.ts';
import { handEnvironment } from './hand-environment.ts';
import type { HandPlace } from './hand-place.ts';
import type { JudgedUse } from './judge-use.ts';

/** What a model reads of a command's output at most; both ends are kept. */
const maxOutputBytes = 64 * 1024;
const defaultTimeoutSeconds = 120;
const maxTimeoutSeconds = 1800;

/** Runs shell text, or a search, in the sandbox, on the workspace itself. */
export async function executeInWorkspace(
  run: OpenRun,
  place: HandPlace,
  use: Extract<HandUse, { readonly kind: 'execute' | 'search' }>,
  { acl = {}, real }: JudgedUse,
): Promise<HandAnswer> {
  const { sandbox, config } = run.ground;
  const argv =
    use.kind === 'execute'
      ? ['sh', '-c', use.command]
      : ['grep', '-rnIE', '--exclude-dir=.git', '-e', use.pattern, '--', real];
  const wanted =
    use.kind === 'execute' ? (use.timeoutSeconds ?? defaultTimeoutSeconds) : defaultTimeoutSeconds;
  const timeoutSeconds = Math.min(Math.max(1, wanted), maxTimeoutSeconds);
  const way =
    use.kind === 'execute'
      ? await openNetwork(run, { sandbox }, acl)
      : await openNetwork(run, { sandbox }, {});
  try {
    const result = await sandbox.run({
      argv,
      workspace: place.workspace,
      reports: place.reports,
      binds: [],
      env: handEnvironment(run, place),
      network: way.network,
      timeoutMs: timeoutSeconds * 1000,
      maxOutputBytes: Math.min(acl.maxOutputBytes ?? maxOutputBytes, maxOutputBytes),
      maxMemoryBytes: maxMemoryBytes(config),
      signal: run.means.signal,
    });
    run.means.signal.throwIfAborted();
    const { exitCode, combined, timedOut, exceeded } = result;
    const notes = [
      ...(combined.truncated ? [`[cut: ${combined.totalBytes} bytes in all]`] : []),
      ...(timedOut ? [`[ended after ${timeoutSeconds} s]`] : []),
      ...(exceeded ? [`[ended: ${exceeded.what} beyond ${exceeded.limit}]`] : []),
    ];
    const text = [combined.bytes.toString('utf8'), ...notes].filter((part) => part !== '').join('\n');
    // Nothing found is an answer.
    const isDone = exitCode === 0 || (use.kind === 'search' && exitCode === 1);
    return {
      outcome: isDone ? 'done' : 'failed',
      text,
      ...(exitCode === undefined ? {} : { exitCode }),
    };
  } finally {
    await way.close();
  }
}
