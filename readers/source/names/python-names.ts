import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Names } from './names.ts';
import { maxPathDepth, rememberPaths } from './path-memory.ts';
import { plainPythonPath, pythonCallPath } from './python-calls.ts';
import type { Reading } from './reading.ts';

const opens = [
  'function_definition',
  'lambda',
  'class_definition',
  'list_comprehension',
  'set_comprehension',
  'dictionary_comprehension',
  'generator_expression',
];
const functionScopes = new Set(['function_definition', 'lambda', 'class_definition']);

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
  const { tree, text, literal } = reading;
  const names = new Names(opens, ['class_definition']);
  const stars = new Map<string, string>();
  /** `self.run = eval`, by the text left of the sign. */
  const members = new Map<string, SyntaxNode>();
  for (const node of tree.nodes) readNode(node);
  const memory = rememberPaths(reading);
  return {
    resolve(node, seen = []) {
      memory.begin();
      return resolve(node, seen, 0);
    },
    behind: (node) => behind(node, 0),
    typeOf: (node) => {
      const given = names.find(nameOf(node), node);
      return (
        given?.find(({ type }) => type !== undefined)?.type ??
        given?.find(({ path }) => path !== undefined)?.path
      );
    },
  };

  function readNode(node: SyntaxNode): void {
    switch (node.type) {
      case 'import_statement':
        for (const one of node.children) readModule(one, scopeOf(node));
        return;
      case 'import_from_statement':
        readFrom(node, scopeOf(node));
        return;
      case 'function_definition':
      case 'class_definition':
        give(childOf(node, 'name'), undefined, names.scopeOf(node, functionScopes), 'def');
        return;
      case 'parameters':
      case 'lambda_parameters':
        if (node.parent) for (const one of node.children) readParameter(one, node.parent);
        return;
      case 'assignment':
        readTarget(childOf(node, 'left'), valueAtEnd(childOf(node, 'right')), scopeOf(node));
        return;
      case 'named_expression':
        give(childOf(node, 'name'), childOf(node, 'value'), scopeOf(node));
        return;
      case 'for_statement':
        readTarget(childOf(node, 'left'), undefined, scopeOf(node));
        return;
      case 'for_in_clause':
        readTarget(childOf(node, 'left'), undefined, names.scopeOf(node));
        return;
      case 'as_pattern_target':
        readTarget(node.children[0], undefined, scopeOf(node));
        return;
    }
  }

  function scopeOf(node: SyntaxNode): SyntaxNode {
    return names.scopeOf(node, functionScopes);
  }

  function valueAtEnd(node: SyntaxNode | undefined): SyntaxNode | undefined {
    let at = node;
    while (at?.type === 'assignment') at = childOf(at, 'right');
    return at;
  }

  function give(
    name: SyntaxNode | undefined,
    value: SyntaxNode | undefined,
    scope: SyntaxNode,
    type?: string,
  ): void {
    if (name)
      names.give(scope, nameOf(name), { value, at: name.start, ...(type === undefined ? {} : { type }) });
  }

  function readTarget(left: SyntaxNode | undefined, value: SyntaxNode | undefined, scope: SyntaxNode): void {
    if (!left) return;
    if (left.type === 'identifier') give(left, value, scope);
    else if (left.type === 'attribute' && value && members.size < 10_000 && isShort(left))
      members.set(text(left), value);
    else if (/^(?:pattern_list|tuple_pattern|list_pattern|list_splat_pattern)$/.test(left.type)) {
      const values = value && /^(?:expression_list|tuple|list)$/.test(value.type) ? value.children : [];
      left.children.forEach((one, index) => {
        readTarget(one, values.length === left.children.length ? values[index] : undefined, scope);
      });
    }
  }

  function readParameter(node: SyntaxNode, scope: SyntaxNode): void {
    if (node.type === 'identifier') {
      give(node, undefined, scope);
      return;
    }
    const name =
      childOf(node, 'name') ??
      node.children.find(({ type }) => type === 'identifier' || type.endsWith('_pattern'));
    // A parameter is whatever the caller gives, its default included.
    if (name && name.type !== 'identifier') readParameter(name, scope);
    else {
      const type = childOf(node, 'type');
      give(name, undefined, scope, type && text(type).slice(0, 200));
    }
  }

  function readModule(node: SyntaxNode, scope: SyntaxNode): void {
    const alias = childOf(node, 'alias');
    const path = text(node.type === 'aliased_import' ? childOf(node, 'name') : node).replace(/\s/g, '');
    const first = alias ? path : path.split('.', 1)[0];
    const name = alias ?? node.children[0];
    if (name && first !== undefined) names.give(scope, nameOf(name), { path: first, at: name.start });
  }

  function readFrom(node: SyntaxNode, scope: SyntaxNode): void {
    const module = text(childOf(node, 'module_name')).replace(/\s/g, '');
    for (const one of node.children) {
      if (one.type === 'wildcard_import') {
        for (const name of offers[module] ?? []) stars.set(name, `${module}.${name}`);
      } else if (one.field === 'name') {
        const alias = childOf(one, 'alias');
        const real = text(alias ? childOf(one, 'name') : one);
        const name = alias ?? one.children[0] ?? one;
        names.give(scope, nameOf(name), { path: plainPythonPath(`${module}.${real}`), at: name.start });
      }
    }
  }

  /** Python reads a name in its compatibility form: full-width `ｅｖａｌ` is `eval`. */
  function nameOf(node: SyntaxNode): string {
    const written = text(node);
    return /[^\x00-\x7f]/.test(written)
      ? Buffer.from(written, 'latin1').toString('utf8').normalize('NFKC')
      : written;
  }

  function behind(node: SyntaxNode | undefined, depth: number): SyntaxNode | undefined {
    if (node?.type === 'parenthesized_expression') return behind(node.children[0], depth + 1);
    if (node?.type !== 'identifier' || depth > maxPathDepth) return node;
    const given = names.find(nameOf(node), node)?.find(({ value }) => value);
    return given ? behind(given.value, depth + 1) : node;
  }

  function resolve(node: SyntaxNode | undefined, seen: number[], depth: number): string | undefined {
    return node && memory.follow(node, seen, depth, resolveNode);
  }

  function resolveNode(node: SyntaxNode, seen: number[], depth: number): string | undefined {
    switch (node.type) {
      case 'identifier':
        return resolveName(node, seen, depth);
      case 'attribute': {
        const given = isShort(node) ? members.get(text(node)) : undefined;
        const known = given && resolve(given, seen, depth + 1);
        if (known !== undefined) return known;
        const base = resolve(childOf(node, 'object'), seen, depth + 1);
        const part = childOf(node, 'attribute');
        return base === undefined || !part ? undefined : plainPythonPath(`${base}.${nameOf(part)}`);
      }
      case 'subscript': {
        const key = literal(behind(childOf(node, 'subscript'), depth + 1));
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
      case 'parenthesized_expression':
      case 'await':
        return resolve(node.children[0], seen, depth + 1);
      case 'named_expression':
        return resolve(childOf(node, 'value'), seen, depth + 1);
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
    for (const { path, value, at } of given) {
      const found = path ?? resolve(value, seen, depth + 1);
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
      said: (index) => literal(behind(given[index], depth)),
    });
  }
}

/** Chains can hold whole programs; their text is not a name. */
function isShort(node: SyntaxNode): boolean {
  return node.end - node.start < 200;
}
