import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Reading } from './reading.ts';

const kernel = /^(?:eval|system|exec|spawn)$/;

/** What the names of a Ruby file stand for. */
export interface RubyNames {
  /** Own methods by the class (or file) that defines them. */
  readonly own: ReadonlyMap<SyntaxNode, ReadonlySet<string>>;
  /** `alias run eval`, `run = method(:eval)`. */
  readonly aliases: ReadonlyMap<string, { readonly path: string; readonly at: number }>;
  readonly values: ReadonlyMap<string, SyntaxNode>;
}

/** Reads the names that a file gives. */
export function rubyNames({ tree, text, literal }: Reading): RubyNames {
  const own = new Map<SyntaxNode, Set<string>>();
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const values = new Map<string, SyntaxNode>();
  const symbolOf = (node: SyntaxNode | undefined) =>
    node?.type === 'simple_symbol' ? text(node).slice(1) : literal(node);
  for (const node of tree.nodes) {
    if (node.type === 'method' || node.type === 'singleton_method') {
      const owner = rubyClassOf(node, tree.root);
      own.set(owner, (own.get(owner) ?? new Set()).add(text(childOf(node, 'name'))));
    } else if (node.type === 'alias') {
      aliases.set(text(childOf(node, 'name')), { path: text(childOf(node, 'alias')), at: node.start });
    } else if (node.type === 'call' && text(childOf(node, 'method')) === 'alias_method') {
      const [name, old] = childOf(node, 'arguments')?.children ?? [];
      const path = symbolOf(old);
      if (name && path !== undefined) aliases.set(symbolOf(name) ?? '', { path, at: node.start });
    } else if (node.type === 'assignment') {
      const name = text(childOf(node, 'left'));
      const value = childOf(node, 'right');
      if (value && name.length < 100) values.set(name, value);
      if (value?.type !== 'call' || !/^(?:method|instance_method)$/.test(text(childOf(value, 'method'))))
        continue;
      const path = symbolOf(childOf(value, 'arguments')?.children[0]);
      const receiver = text(childOf(value, 'receiver'));
      if (path !== undefined && kernel.test(path) && /^(?:|Kernel|self|binding)$/.test(receiver))
        aliases.set(name, { path, at: node.start });
    }
  }
  return { own, aliases, values };
}

/** The class or module around a node, else the file. */
export function rubyClassOf(node: SyntaxNode, root: SyntaxNode): SyntaxNode {
  return ancestorOf(node, 'class', 'module', 'singleton_class') ?? root;
}

/** The expression behind a name, where there is one. */
export function rubyBehind(
  { text }: Reading,
  values: ReadonlyMap<string, SyntaxNode>,
  node: SyntaxNode,
): SyntaxNode {
  return (
    (node.type === 'identifier' || node.type === 'constant' ? values.get(text(node)) : undefined) ?? node
  );
}
