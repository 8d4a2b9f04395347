/* Follows the notices of a run. */
import { namePaths } from '../../core/base/printable.ts';
import type { AroundOutcome } from '../../workspace/git/set-aside.ts';

const maxShown = 5;

/**
 * Notices about index and working-tree files after the branch moved: files that were not updated, and why stashed
 * local changes were not merged back. The ref that keeps those changes has a separate notice.
 */
export function followNotices(follow: AroundOutcome): readonly string[] {
  const left = follow.state === 'followed' ? (follow.left ?? []) : [];
  return [
    follow.state === 'failed'
      ? `the branch was moved, but index and files could not follow (${follow.reason}): \`git status\` shows the paths that differ, \`git restore --staged --worktree PATH\` brings one along`
      : '',
    left.length === 0
      ? ''
      : `the branch was moved, but ${namePaths(left, maxShown)} changed meanwhile and did not follow: \`git diff HEAD\` shows how the working tree differs from the sealed change there`,
    follow.kept === undefined || follow.state === 'failed'
      ? ''
      : `local changes that the run set aside were not merged back: ${follow.kept.why}`,
  ].filter((notice) => notice !== '');
}
