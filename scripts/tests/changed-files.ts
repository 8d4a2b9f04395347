import { spawnSync } from 'node:child_process';

/** What differs in the working tree below `root`, and from which commit. */
export interface Changes {
  /** In words, for people. */
  readonly since: string;
  readonly files: readonly string[];
}

/**
 * Against where this branch left `main`; on `main` itself, or without one, against HEAD. Files that git does not know
 * yet are changes.
 */
export function changedFiles(root: string): Changes {
  const head = git(root, 'rev-parse', 'HEAD')?.trim() ?? 'HEAD';
  const left = whereLeft(root, head);
  const files = filesSince(root, left ?? 'HEAD');
  if (files === undefined) throw new Error(`git cannot compare \`${root}\` with HEAD`);
  return { since: left === undefined ? 'HEAD' : sayLeft(left), files };
}

function sayLeft(commit: string): string {
  return `${commit.slice(0, 12)}, where this branch left main`;
}

function whereLeft(root: string, head: string): string | undefined {
  return ['main', 'origin/main']
    .map((branch) => git(root, 'merge-base', 'HEAD', branch)?.trim())
    .find((commit) => commit !== undefined && commit !== head);
}

/** Sorted; `undefined` where git cannot tell. */
function filesSince(root: string, commit: string): readonly string[] | undefined {
  const tracked = git(root, 'diff', '--name-only', '--no-renames', '-z', commit);
  const fresh = git(root, 'ls-files', '--others', '--exclude-standard', '-z');
  if (tracked === undefined || fresh === undefined) return undefined;
  return [...new Set(`${tracked}${fresh}`.split('\0'))].filter((path) => path !== '').sort();
}

/** Standard output; `undefined` where git says no. */
function git(root: string, ...args: readonly string[]): string | undefined {
  const run = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return run.status === 0 ? run.stdout : undefined;
}
