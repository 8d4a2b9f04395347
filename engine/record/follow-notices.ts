import { namePaths } from '../../core/base/printable.ts';
import type { AroundOutcome } from '../../workspace/git/set-aside.ts';

const maxShown = 5;

/**
 * What the user has to know about index and files behind the move of the branch: where they did not follow, and why
 * stored local changes were not merged back. The ref that holds these has a notice of its own.
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
