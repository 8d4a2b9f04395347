import type { HandAnswer, HandUse } from '../../../../core/contract/hands.ts';
import { filesBelow } from '../../../tool/workspace-file.ts';
import { openNetwork } from '../../judge/check-network.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { maxOutputBytes, runSandboxed, textOf } from './execute-in-workspace.ts';
import type { HandPlace } from './hand-place.ts';
import type { JudgedUse } from './judge-use.ts';

const timeoutMs = 120_000;
const maxFiles = 100_000;
const maxPattern = 4096;

/**
 * Searches the files that the rules let a model see: each is named to `grep`, so that what they hide is not even
 * opened. The expression is a model's, so it is matched in the sandbox, where it cannot hold up anything else.
 */
export async function searchWorkspace(
  run: OpenRun,
  place: HandPlace,
  { pattern }: Extract<HandUse, { readonly kind: 'search' }>,
  { real, shows = () => true }: Pick<JudgedUse, 'real' | 'shows'>,
): Promise<HandAnswer> {
  if (pattern.includes('\0') || pattern.length > maxPattern) {
    const text = `failed: expected an expression of at most ${maxPattern} characters, without NUL`;
    return { outcome: 'failed', text };
  }
  const { files, more } = await filesBelow(place.workspace, real, { keep: shows, most: maxFiles });
  const way = await openNetwork(run, { sandbox: run.ground.sandbox }, {});
  try {
    const result = await runSandboxed(run, place, {
      argv: ['xargs', '-0', '-r', 'grep', '-nsHIE', '-e', pattern, '--'],
      stdin: Buffer.from(files.join('\0')),
      network: way.network,
      timeoutMs,
      maxOutputBytes,
    });
    const { exitCode, stderr, timedOut } = result;
    // `xargs` makes 123 of a `grep` that found nothing, which is an answer, and of one that failed, which says why.
    const isDone = exitCode === 0 || (exitCode === 123 && stderr.totalBytes === 0);
    const notes = [
      ...(more ? [`[searched the first ${maxFiles} files only: name a directory]`] : []),
      ...(timedOut ? [`[ended after ${timeoutMs / 1000} s]`] : []),
    ];
    const text = [textOf(result), ...notes].filter((part) => part !== '').join('\n');
    return { outcome: isDone ? 'done' : 'failed', text };
  } finally {
    await way.close();
  }
}
