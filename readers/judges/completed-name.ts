import type { JudgedTree, Named } from './named.ts';
import { joined } from './tree.ts';

const scriptEndings = ['.js', '.json', '.node', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.tsx', '.jsx'];
const indexes = scriptEndings.map((ending) => `index${ending}`);
const loadsJavascript = /^(?:node|nodejs|bun|tsx|ts-node|ts-node-esm|esno|babel-node|zx|c8|nyc)$/;
const loadsPython = /^(?:python[\d.]*|pypy3?|coverage)$/;

/**
 * What an interpreter takes for a name that is no file: `scripts/audit` is `scripts/audit.js`, `./scripts` its
 * `index.js` or whatever its `package.json` says, a directory of Python its `__main__.py`. Names that would win over
 * what is there are told as `absent`.
 */
export function completedName(
  program: string,
  word: string,
  directory: string,
  tree: JudgedTree,
): readonly Named[] {
  for (const from of directory === '' ? [''] : [directory, '']) {
    const path = joined(from, word);
    if (path === undefined) continue;
    const named = candidates(program, path, tree);
    const last = named.findLastIndex((name) => tree.isFile(name));
    if (last < 0) continue;
    return named.slice(0, last + 1).map((name): Named => {
      if (!tree.isFile(name)) return { kind: 'absent', path: name };
      return /(?:^|\/)package\.json$/.test(name)
        ? { kind: 'main', manifest: name }
        : { kind: 'script', path: name };
    });
  }
  return [];
}

/** What the `main` of a manifest in a directory names. */
export function mainNames(main: string, directory: string, tree: JudgedTree): readonly Named[] {
  const path = joined(directory, main) ?? '';
  return tree.isFile(path) ? [{ kind: 'script', path }] : completedName('node', main, directory, tree);
}

function candidates(program: string, path: string, tree: JudgedTree): readonly string[] {
  const inside = (name: string): string => (path === '' ? name : `${path}/${name}`);
  const isDirectory = tree.isDirectory(path);
  if (loadsPython.test(program)) return isDirectory ? [inside('__main__.py')] : [];
  if (!loadsJavascript.test(program)) return [];
  return [
    ...(path === '' || isDirectory ? [] : [path]),
    ...(path === '' ? [] : scriptEndings.map((ending) => path + ending)),
    ...(isDirectory ? ['package.json', ...indexes].map(inside) : []),
  ];
}
