import type { Plugin } from 'esbuild';

/** Stands before the name of a module of Node until the files are written; no text of ours has it. */
const ofNode = 'module-of-node:';

/** Large ones that a command may do without: taken where what needs them is first used. */
const seldom = ['node:child_process', 'node:zlib', 'node:stream', 'node:v8'];

/**
 * Modules of Node, as `import` names them. Importing one makes Node read every property that it has, and some load more
 * of Node when they are read (web streams, message ports, a REPL's history): so our files take what they name.
 */
export const modulesOfNode: Plugin = {
  name: 'modules-of-node',
  setup({ onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) => {
      if (kind !== 'import-statement') return undefined;
      return seldom.includes(path)
        ? { path, namespace: 'built-in' }
        : { path: ofNode + path, external: true };
    });
  },
};

/**
 * The text of a folded file with what it imports of Node taken from Node directly, before anything of it runs;
 * functions of the modules `whenCalled` where they are called.
 */
export function takeFromNode(text: string, whenCalled: readonly string[]): string {
  const taken: string[] = [];
  const rest = text.replaceAll(
    new RegExp(`^import (\\{[^}]*\\}|\\w+) from "${ofNode}([^"]+)";\\n`, 'gm'),
    (_statement, names: string, of: string) => {
      const late = whenCalled.includes(of) ? takenWhenCalled(names, of) : undefined;
      taken.push(late ?? `var ${names.replaceAll(' as ', ': ')} = process.getBuiltinModule("${of}");\n`);
      return '';
    },
  );
  if (rest.includes(ofNode)) throw new Error(`an import of Node in a form that is not known:\n${rest}`);
  return taken.join('') + rest;
}

/** Functions that load the module of Node that they are of when they are called; nothing where one is a class. */
function takenWhenCalled(names: string, of: string): string | undefined {
  const module = process.getBuiltinModule(of) as Readonly<Record<string, unknown>>;
  const pairs = [...names.matchAll(/(\w+)(?: as (\w+))?/g)].map(([, name = '', own = name]) => [name, own]);
  if (!pairs.every(([name = '']) => /^[a-z]/.test(name) && typeof module[name] === 'function'))
    return undefined;
  return pairs
    .map(([name, own]) => `var ${own} = (...given) => process.getBuiltinModule("${of}").${name}(...given);\n`)
    .join('');
}
