import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { rememberPaths } from './path-memory.ts';
import { plainPythonPath, pythonCallPath } from './python-calls.ts';
import { pythonNaming } from './python-query.ts';
import { readNames } from './read-names.ts';
import type { Reading } from './reading.ts';

/** What the names of a Python file stand for. */
export interface PythonNames {
  /**
   * What an expression reaches (`eval`, `os.system`), or `undefined` for anything of the file's own. `seen` collects
   * where names were given.
   */
  resolve(node: SyntaxNode | undefined, seen?: number[]): string | undefined;
  /** The expression behind a name, where there is one. */
  behind(node: SyntaxNode | undefined): SyntaxNode | undefined;
  /** The type that a name's declaration names; `def` for functions and classes of the file. */
  typeOf(node: SyntaxNode): string | undefined;
}

/** Reads the names that a file gives. `offers`: what a star import of a module may bring. */
export function pythonNames(
  reading: Reading,
  offers: Readonly<Record<string, readonly string[]>>,
): PythonNames {
  const { text, literal } = reading;
  const stars = new Map<string, string>();
  const names = readNames(reading, pythonNaming, (match, given) => {
    const module = text(match.one('module')).replace(/\s/g, '');
    const part = match.one('part');
    const name = match.one('name');
    if (!name) for (const one of offers[module] ?? []) stars.set(one, `${module}.${one}`);
    // `import a.b` gives `a`.
    const path = part ? plainPythonPath(`${module}.${text(part)}`) : isFirst(name) ? text(name) : module;
    if (name) given.give(given.scopeOf(match.node, 'function'), given.nameOf(name), { path, at: name.start });
  });
  const nameOf = (node: SyntaxNode) => names.nameOf(node);
  const memory = rememberPaths();
  return {
    resolve(node, seen = []) {
      memory.begin();
      return resolve(node, seen, 0);
    },
    behind: (node) => names.behind(node),
    typeOf: (node) => {
      const given = names.find(nameOf(node), node);
      return (
        given?.find(({ type }) => type !== undefined)?.type ??
        given?.find(({ path }) => path !== undefined)?.path
      );
    },
  };

  function resolve(node: SyntaxNode | undefined, seen: number[], depth: number): string | undefined {
    const inner = names.same(node);
    return inner && memory.follow(inner, seen, depth, resolveNode);
  }

  function resolveNode(node: SyntaxNode, seen: number[], depth: number): string | undefined {
    switch (node.type) {
      case 'identifier':
        return resolveName(node, seen, depth);
      case 'attribute': {
        const given = names.memberOf(node);
        const known = given && resolve(given, seen, depth + 1);
        if (known !== undefined) return known;
        const base = resolve(childOf(node, 'object'), seen, depth + 1);
        const part = childOf(node, 'attribute');
        return base === undefined || !part ? undefined : plainPythonPath(`${base}.${nameOf(part)}`);
      }
      case 'subscript': {
        const key = literal(names.behind(childOf(node, 'subscript')));
        const base = resolve(childOf(node, 'value'), seen, depth + 1);
        if (key === undefined || base === undefined) return undefined;
        if (base === 'globals()' || base === 'locals()') return key;
        if (base === 'sys.modules') return key;
        return /^(?:builtins|__builtins__|__builtin__)(?:\.__dict__)?$|__dict__$|\(vars\)$/.test(base)
          ? plainPythonPath(`${base.replace(/(?:\.__dict__|\(vars\))$/, '')}.${key}`)
          : undefined;
      }
      case 'call':
        return resolveCall(node, seen, depth);
      case 'conditional_expression':
      case 'boolean_operator':
        return node.children
          .map((child) => resolve(child, seen, depth + 4))
          .find((path) => path !== undefined);
    }
    return undefined;
  }

  function resolveName(node: SyntaxNode, seen: number[], depth: number): string | undefined {
    const name = nameOf(node);
    const given = names.find(name, node);
    if (!given) return stars.get(name) ?? name;
    for (const { path, value, pick, at } of given) {
      const found = path ?? (pick === undefined ? resolve(value, seen, depth + 1) : undefined);
      if (found === undefined) continue;
      seen.push(at);
      return found;
    }
    return undefined;
  }

  function resolveCall(node: SyntaxNode, seen: number[], depth: number): string | undefined {
    const given = childOf(node, 'arguments')?.children ?? [];
    const path = resolve(childOf(node, 'function'), seen, depth + 1);
    return pythonCallPath(path, {
      path: (index) => resolve(given[index], seen, depth + 1),
      said: (index) => literal(names.behind(given[index])),
    });
  }
}

/** Whether a name is the beginning of what is imported, and no name for all of it. */
function isFirst(name: SyntaxNode | undefined): name is SyntaxNode {
  return name?.parent?.type === 'dotted_name';
}
