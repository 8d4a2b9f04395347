import type { JudgedSpec } from '../../api/intent/read-spec.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { Issue } from '../../core/contract/issue.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import { hasGitAbove } from '../../engine/vcs/has-git-above.ts';
import type { CommandContext } from './command.ts';

/** Says of valid contracts what a run of them would be refused for; dispose it. */
export interface Preview extends AsyncDisposable {
  of(spec: Extract<JudgedSpec, { ok: true }>): Promise<readonly Issue[]>;
}

/**
 * Outside of a repository a contract is looked at by itself, and nothing of an engine is loaded. Inside of one, or with
 * `--repo`, an engine is opened for the first contract.
 */
export function openPreview(context: CommandContext): Preview {
  const { repoPath, cwd } = context;
  let engine: WritEngine | undefined;
  return {
    async of({ issues, ...read }) {
      const admitted = { ...read, warnings: issues, mandatory: [] };
      if (repoPath === undefined && !hasGitAbove(cwd)) {
        const { contractIssues } = await import('../../engine/run/open/contract-issues.ts');
        return contractIssues(admitted);
      }
      const { openEngine } = await import('./open-engine.ts');
      const { previewContract } = await import('../../engine/run/preview-contract.ts');
      engine ??= await openEngine(context);
      const request = {
        repositoryPath: repoPath ?? cwd,
        specBytes: read.bytes,
        sandbox: 'auto',
        clock: systemClock,
      };
      return previewContract(engine, request, admitted);
    },
    [Symbol.asyncDispose]: async () => engine?.close(),
  };
}
