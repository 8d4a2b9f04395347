import type { VcsReach, VcsReading } from '../../engine/work/vcs/parse-vcs.ts';
import { isRefName } from '../../workspace/git/ref-name.ts';

const steps = /(?:~\d{0,4}|\^[12]?){0,8}$/;
const withRanges: ReadonlySet<VcsReading> = new Set(['log', 'diff']);

/**
 * A commit by name: `HEAD`, an id, a branch, a tag, and steps back from it. No search, no date and no reflog
 * (`@{…}`, `:/…`, `^{…}`): their words would be git's to read.
 */
export function isNamedRevision(word: string): boolean {
  const name = word.replace(steps, '');
  return !name.startsWith('-') && isRefName(`refs/heads/${name}`);
}

/** `A..B` and `A...B`, where both are named. */
export function asRange(
  word: string,
): { readonly sides: readonly [string, string]; readonly dots: string } | undefined {
  const [, from = '', dots = '', to = ''] = /^([^.].*?)(\.{2,3})([^.].*)$/.exec(word) ?? [];
  return isNamedRevision(from) && isNamedRevision(to) ? { sides: [from, to], dots } : undefined;
}

/** What is open in a person's own repository: its branches and tags by name, ranges, what is staged. */
export const repositoryReach: VcsReach = {
  isRevision: (word, command) =>
    isNamedRevision(word) || (withRanges.has(command) && asRange(word) !== undefined),
  options: {
    status: ['--branch', '-b', '--porcelain=v1', '--untracked-files=no', '--untracked-files=normal'],
    diff: ['--cached', '--staged'],
    branch: ['--all', '-a', '--remotes', '-r'],
    log: ['--stat', '--name-only', '--name-status'],
    'show-ref': ['--heads', '--tags'],
    'ls-files': ['--stage', '-s'],
  },
};
