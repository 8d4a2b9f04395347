import type { ValidatedSpec } from '../../api/intent/read-spec.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import { hasGitAbove } from '../../workspace/git/has-git-above.ts';
import type { CommandContext } from './command.ts';

/**
 * Returns the reasons a run of a valid spec would be refused. Outside a repository only the spec is checked. Inside
 * one, or with `--repo`, the repository and its policy are checked too. Opens no engine.
 */
export async function previewOf(
  { repoPath, cwd }: CommandContext,
  { issues, ...read }: Extract<ValidatedSpec, { ok: true }>,
): Promise<readonly Issue[]> {
  const admitted = { ...read, warnings: issues, mandatory: [] };
  if (repoPath === undefined && !hasGitAbove(cwd)) {
    const { contractIssues } = await import('../../engine/open/opening.ts');
    return contractIssues(admitted);
  }
  const { previewContract } = await import('../../engine/open/repository-checks.ts');
  const { builtInsFor: askedBuiltIns } = await import('../../plugins/preset/preview-plugins.ts');
  const request = {
    repositoryPath: repoPath ?? cwd,
    specBytes: read.bytes,
    sandbox: 'auto',
    clock: systemClock,
  };
  return previewContract(askedBuiltIns, request, admitted);
}
