import { canonicalDigest } from '../../../core/base/canonical.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { sealedWords } from '../../../workspace/git/commit-log.ts';
import type { Repository } from '../../../workspace/git/repository.ts';

/**
 * Whether a commit is what the record of a run says of it: sealed by that run, under this contract, on that base. A
 * record may have come from a remote, whose word would decide what taking it back makes of the files, and which checks
 * judge that. INTENTSPEC_MALFORMED.
 */
export async function isSealedBy(
  repository: Repository,
  { runId, baseCommit, decision }: Pick<RunView, 'runId' | 'baseCommit' | 'decision'>,
  specBytes: Uint8Array,
): Promise<boolean> {
  const { value } = parseStrictJson(specBytes, { code: 'INTENTSPEC_MALFORMED' });
  const sealed = await sealedWords(repository, decision?.commitSha ?? '');
  return (
    sealed.runId === runId &&
    sealed.specDigest === canonicalDigest(value) &&
    sealed.parents.join() === (baseCommit ?? '')
  );
}
