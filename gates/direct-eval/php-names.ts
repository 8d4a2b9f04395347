import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Reading } from './reading.ts';

/** What the names of a PHP file stand for. */
export interface PhpNames {
  /** Names that the file defines or imports from elsewhere. */
  readonly own: ReadonlySet<string>;
  /** `use function shell_exec as run`. */
  readonly aliases: ReadonlyMap<string, { readonly path: string; readonly at: number }>;
  /** By function (or file) and variable: what it was given. */
  readonly values: ReadonlyMap<SyntaxNode, ReadonlyMap<string, SyntaxNode>>;
}

const functions = ['function_definition', 'method_declaration', 'anonymous_function'];

/** Reads the names that a file gives. */
export function phpNames({ tree, text }: Reading): PhpNames {
  const own = new Set<string>();
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const values = new Map<SyntaxNode, Map<string, SyntaxNode>>();
  for (const node of tree.nodes) {
    if (node.type === 'function_definition') own.add(text(childOf(node, 'name')).toLowerCase());
    else if (node.type === 'namespace_use_clause') {
      const declaration = ancestorOf(node, 'namespace_use_declaration');
      if (!declaration || !/^use\s+function\b/i.test(text(declaration).slice(0, 60))) continue;
      const alias = childOf(node, 'alias');
      const group = declaration.children.find(({ type }) => type === 'namespace_name');
      const path = [text(group), text(node.children.find((child) => child !== alias))]
        .filter(Boolean)
        .join('\\')
        .replace(/^\\/, '')
        .toLowerCase();
      const name = text(alias).toLowerCase() || path.slice(path.lastIndexOf('\\') + 1);
      if (path.includes('\\')) own.add(name);
      else aliases.set(name, { path, at: node.start });
    } else if (node.type === 'assignment_expression') {
      const left = childOf(node, 'left');
      const value = childOf(node, 'right');
      if (left?.type !== 'variable_name' || !value) continue;
      const scope = ancestorOf(node, ...functions) ?? tree.root;
      const names = values.get(scope) ?? new Map<string, SyntaxNode>();
      values.set(scope, names);
      names.set(text(left), value);
    }
  }
  return { own, aliases, values };
}

/** What a call is given. */
export function phpArguments(node: SyntaxNode): readonly SyntaxNode[] {
  const list = childOf(node, 'arguments') ?? node.children.find(({ type }) => type === 'arguments');
  return (
    list?.children.filter(({ type }) => type === 'argument').map((one) => one.children.at(-1) ?? one) ?? []
  );
}

/** The global function that a call reaches, lower case; through an import, a variable that holds its name, or `\`. */
export function phpCalled(
  reading: Reading,
  known: PhpNames,
  target: SyntaxNode,
  also: number[],
): string | undefined {
  const { text, literal } = reading;
  if (target.type === 'name') {
    const name = text(target).toLowerCase();
    const alias = known.aliases.get(name);
    if (alias) also.push(alias.at);
    // `eval` belongs to the language: no function can take its name.
    return alias?.path ?? (known.own.has(name) && name !== 'eval' ? undefined : name);
  }
  if (target.type === 'qualified_name') {
    const path = text(target).replace(/\s/g, '').toLowerCase();
    return /^\\\w+$/.test(path) ? path.slice(1) : undefined;
  }
  const value = phpBehind(reading, known, target);
  if (value && value !== target) also.push(value.start);
  if (
    value?.type === 'function_call_expression' &&
    /^\(\s*\.\.\.\s*\)$/.test(text(childOf(value, 'arguments')))
  )
    return text(childOf(value, 'function')).toLowerCase().replace(/^\\/, '');
  return literal(value)?.toLowerCase().replace(/^\\/, '');
}

/** The expression behind a variable, where there is one. */
export function phpBehind(
  { tree, text }: Reading,
  { values }: PhpNames,
  node: SyntaxNode | undefined,
): SyntaxNode | undefined {
  if (node?.type === 'parenthesized_expression') return node.children[0];
  if (node?.type !== 'variable_name') return node;
  const scope = ancestorOf(node, ...functions) ?? tree.root;
  return values.get(scope)?.get(text(node)) ?? node;
}
