import type { GitSetting } from '../../workspace/git/git.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';

/**
 * On top of what every git call of writ has switched off: what a person's settings would change in the form of an
 * answer, or let git look into submodules for, where their own settings name programs.
 */
const plainSettings: readonly GitSetting[] = [
  ['color.ui', 'false'],
  ['color.branch', 'false'],
  ['color.diff', 'false'],
  ['color.status', 'false'],
  ['column.ui', 'never'],
  ['status.submoduleSummary', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.submodule', 'short'],
  ['log.showSignature', 'false'],
  ['log.mailmap', 'false'],
  ['log.follow', 'false'],
  ['merge.autoStash', 'false'],
  ['commit.status', 'false'],
  ['commit.verbose', 'false'],
  ['checkout.workers', '1'],
  ['branch.autoSetupMerge', 'false'],
];

/** The repository that a session works in, as `run_writ_vcs` asks it. Refuses as `openRepository` does. */
export async function openSessionRepository(path: string): Promise<Repository> {
  const repository = await openRepository(path);
  return { ...repository, settings: [...repository.settings, ...plainSettings] };
}
