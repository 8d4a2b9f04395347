import type { GitDirectory } from '../../workspace/git/git.ts';
import { askRemote, type Remote, remoteFailed } from './network-git.ts';
import { parseRefLines, type StoredRef } from './stored-ref.ts';

/**
 * Our refs at a remote; empty for an empty remote. Throws REMOTE_FAILED if it does not answer. Names that git would
 * refuse are omitted.
 */
export async function listRemoteRefs(
  place: GitDirectory,
  remote: Remote,
  signal: AbortSignal,
): Promise<readonly StoredRef[]> {
  const answer = await askRemote(
    place,
    [
      'ls-remote',
      '--quiet',
      '--refs',
      '--upload-pack=git-upload-pack',
      '--end-of-options',
      remote.address,
      'refs/ai/*',
      'refs/x-*',
    ],
    { signal, maxBytes: 256 * 1024 * 1024 },
  );
  if (answer.code !== 0) throw remoteFailed(remote, answer);
  return parseRefLines(answer.stdout.toString('utf8'), '\t');
}
