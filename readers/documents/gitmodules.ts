/** Submodules that are looked at; a repository with more gets no notice for the others. */
const maxSubmodules = 100;

/** Paths in a `.gitmodules` file (gitmodules(5)): relative, without `..`, each once. */
export function submodulePaths(gitmodules: Uint8Array | undefined): readonly string[] {
  const text = Buffer.from(gitmodules ?? []).toString('utf8');
  const paths = [...text.matchAll(/^[ \t]*path[ \t]*=[ \t]*"?([^"\n\r]{1,400})/gm)].map(([, path = '']) =>
    path.trim().replace(/\/+$/, ''),
  );
  const isPlain = (path: string): boolean =>
    path.split('/').every((part) => !['', '.', '..', '.git'].includes(part));
  return [...new Set(paths.filter(isPlain))].slice(0, maxSubmodules);
}

/** The notice for a submodule. Runs export the tree of one repository, and a submodule is another one. */
export function submoduleNotice(path: string): string {
  return `\`${path}\` is a submodule: its directory is empty in the workspace of checks and of the worker. If they need its files, track them in this repository (\`git subtree\`), or install them with \`[[workspace.prepare]]\``;
}

/** The path of the submodule that a notice is about. */
export function submoduleOf(notice: string): string | undefined {
  return /^`([^`]+)` is a submodule: /.exec(notice)?.[1];
}
