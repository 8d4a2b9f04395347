import type { SandboxResult } from '../../../core/interfaces/sandbox.ts';
import type { CheckNetwork } from '../../../core/interfaces/scanner.ts';
import type { HandAnswer, HandUse } from '../../../core/interfaces/worker.ts';
import { limitedShell } from '../../../workspace/process/find-program.ts';
import { isVersionControl } from '../../../workspace/process/version-control.ts';
import { openNetwork } from '../../evaluate/check-network.ts';
import { maxMemoryBytes } from '../../state/machine.ts';
import type { OpenRun } from '../../state/open-run.ts';
import type { Leaving } from '../tools/open-tools.ts';
import { handEnvironment } from './hand-environment.ts';
import type { HandPlace } from './hand-place.ts';
import { heldBack, type JudgedUse } from './judge-use.ts';

/** What a model reads of a command's output at most; both ends are kept. */
export const maxOutputBytes = 64 * 1024;
const defaultTimeoutSeconds = 120;
const maxTimeoutSeconds = 1800;

/**
 * Runs shell text in the sandbox, in the workspace itself. `told` receives its network use; network access waits for
 * `leaving`.
 */
export async function executeInWorkspace(
  run: OpenRun,
  place: HandPlace,
  { command, timeoutSeconds: wanted = defaultTimeoutSeconds }: Extract<HandUse, { readonly kind: 'execute' }>,
  { acl = {} }: Pick<JudgedUse, 'acl'>,
  { leaving, told }: { readonly leaving: Leaving; readonly told: (network: CheckNetwork) => void },
): Promise<HandAnswer> {
  const timeoutSeconds = Math.min(Math.max(1, wanted), maxTimeoutSeconds);
  const way = await openNetwork(run, { sandbox: run.ground.sandbox }, acl, leaving);
  let network: CheckNetwork | undefined;
  const result = await runSandboxed(run, place, {
    argv: limitedShell(command, acl.maxWriteBytes),
    network: way.network,
    timeoutMs: timeoutSeconds * 1000,
    maxOutputBytes: Math.min(acl.maxOutputBytes ?? maxOutputBytes, maxOutputBytes),
  }).finally(async () => {
    network = await way.close();
    if (network !== undefined) told(network);
  });
  const { exitCode, timedOut } = result;
  const notes = timedOut ? [`[ended after ${timeoutSeconds} s]`] : [];
  const text = textOf(result);
  const held = run.ground.sandbox.unconfined || exitCode === 0 ? undefined : heldBack(text, network);
  return {
    outcome: exitCode === 0 ? 'done' : 'failed',
    text: [text, ...notes].filter((part) => part !== '').join('\n'),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(held === undefined ? {} : { heldBack: held }),
  };
}

type Asked = Parameters<OpenRun['ground']['sandbox']['run']>[0];

/** Runs words in the sandbox of the run, with what every command of a worker has. */
export async function runSandboxed(
  run: OpenRun,
  place: HandPlace,
  asked: Pick<Asked, 'argv' | 'network' | 'timeoutMs' | 'maxOutputBytes' | 'stdin'>,
): Promise<SandboxResult> {
  const { sandbox, config } = run.ground;
  const result = await sandbox.run({
    ...asked,
    workspace: place.workspace,
    reports: place.reports,
    binds: [],
    withheld: { isWithheld: isVersionControl, stubs: await place.stubs(), stub: 'git' },
    env: handEnvironment(run, place),
    maxMemoryBytes: maxMemoryBytes(config),
    signal: run.means.signal,
  });
  run.means.signal.throwIfAborted();
  return result;
}

/** What was printed, and what is missing of it. */
export function textOf({ combined, exceeded }: SandboxResult): string {
  const notes = [
    ...(combined.truncated ? [`[cut: ${combined.totalBytes} bytes in all]`] : []),
    ...(exceeded ? [`[ended: ${exceeded.what} beyond ${exceeded.limit}]`] : []),
  ];
  return [combined.bytes.toString('utf8'), ...notes].filter((part) => part !== '').join('\n');
}
