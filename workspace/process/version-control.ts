/**
 * Programs of version control, each with whatever is named after it (`git-lfs`). A model has them through a tool of its
 * own, hardened: as commands they run what hooks, filters and settings of a repository name.
 */
export const versionControlPrograms: readonly string[] = [
  ...[
    'git',
    'gitk',
    'gix',
    'ein',
    'got',
    'tig',
    'lazygit',
    'gitui',
    'hub',
    'gh',
    'glab',
    'tea',
    'scalar',
    'repo',
    'gitoxide',
  ],
  ...[
    'hg',
    'chg',
    'rhg',
    'svn',
    'svnadmin',
    'svnsync',
    'svnlook',
    'svnserve',
    'svnversion',
    'svnmucc',
    'svnrdump',
    'svndumpfilter',
  ],
  ...[
    'jj',
    'sl',
    'bzr',
    'brz',
    'cvs',
    'fossil',
    'darcs',
    'pijul',
    'p4',
    'mtn',
    'tla',
    'cm',
    'cg',
    'stg',
    'yadm',
    'etckeeper',
    'rcs',
  ],
]; // prettier-ignore

const known: ReadonlySet<string> = new Set(versionControlPrograms);

/** Whether a program of this name is one of version control. */
export function isVersionControl(name: string): boolean {
  if (known.has(name)) return true;
  const dash = name.indexOf('-');
  return dash > 0 && known.has(name.slice(0, dash));
}

/** Replaces such a program in the sandbox. */
export const versionControlStub = `#!/bin/sh
echo "\${0##*/}: version control is not for commands here: what the files hold is the change" >&2
exit 127
`;
