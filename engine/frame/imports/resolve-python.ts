import type { PythonImport } from './python-imports.ts';

const maxClimb = 64;

/**
 * The files of the tree that one import means: each name taken from a package where that name is a module of it, the
 * module itself otherwise. Absolute imports are looked for at the file's package root, beside the file, at the root of
 * the tree and in `src/`.
 */
export function resolvePython(
  request: PythonImport,
  from: string,
  paths: Pick<ReadonlySet<string>, 'has'>,
): readonly string[] {
  const directory = from.slice(0, from.lastIndexOf('/') + 1);
  for (const base of basesOf(request.level, directory, paths)) {
    const stem = base + request.module.replaceAll('.', '/');
    const itself = stem === base ? initOf(base, paths) : moduleAt(stem, paths);
    const parts = request.names.map((name) =>
      moduleAt(stem === base ? base + name : `${stem}/${name}`, paths),
    );
    const found = new Set(request.names.length === 0 ? [itself] : parts.map((part) => part ?? itself));
    found.delete(undefined);
    if (found.size > 0) return [...found] as string[];
  }
  return [];
}

/** Directories with their slash, '' for the root. */
function basesOf(
  level: number,
  directory: string,
  paths: Pick<ReadonlySet<string>, 'has'>,
): readonly string[] {
  if (level === 0) return [...new Set([packageRoot(directory, paths), directory, '', 'src/'])];
  let base = directory;
  for (let climbed = 1; climbed < level; climbed += 1) {
    if (base === '') return [];
    base = parentOf(base);
  }
  return [base];
}

function packageRoot(directory: string, paths: Pick<ReadonlySet<string>, 'has'>): string {
  let root = directory;
  for (let climbed = 0; root !== '' && climbed < maxClimb && initOf(root, paths); climbed += 1)
    root = parentOf(root);
  return root;
}

function parentOf(directory: string): string {
  return directory.slice(0, directory.lastIndexOf('/', directory.length - 2) + 1);
}

function moduleAt(stem: string, paths: Pick<ReadonlySet<string>, 'has'>): string | undefined {
  return [`${stem}.py`, `${stem}.pyi`, `${stem}/__init__.py`, `${stem}/__init__.pyi`].find((path) =>
    paths.has(path),
  );
}

function initOf(directory: string, paths: Pick<ReadonlySet<string>, 'has'>): string | undefined {
  return [`${directory}__init__.py`, `${directory}__init__.pyi`].find((path) => paths.has(path));
}
