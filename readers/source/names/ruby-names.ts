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
  /** Here-documents by where they are announced. */
  readonly documents: ReadonlyMap<SyntaxNode, SyntaxNode>;
}

/** Reads the names that a file gives. */
export function rubyNames(reading: Reading): RubyNames {
  const { tree, text } = reading;
  const own = new Map<SyntaxNode, Set<string>>();
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const values = new Map<string, SyntaxNode>();
  const announced: SyntaxNode[] = [];
  const documents = new Map<SyntaxNode, SyntaxNode>();
  let bodies = 0;
  const symbolOf = (node: SyntaxNode | undefined) => rubySymbol(reading, node);
  for (const node of tree.nodes) {
    if (node.type === 'method' || node.type === 'singleton_method') {
      const owner = rubyClassOf(node, tree.root);
      own.set(owner, (own.get(owner) ?? new Set()).add(text(childOf(node, 'name'))));
    } else if (node.type === 'heredoc_beginning') announced.push(node);
    else if (node.type === 'heredoc_body') {
      const beginning = announced[bodies];
      bodies += 1;
      if (beginning) documents.set(beginning, node);
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
      const path = value && rubyMethodObject(reading, value);
      if (path !== undefined && kernel.test(path)) aliases.set(name, { path, at: node.start });
    }
  }
  return { own, aliases, values, documents };
}

/** The name that a symbol or a text gives. */
export function rubySymbol({ text, literal }: Reading, node: SyntaxNode | undefined): string | undefined {
  if (node?.type === 'simple_symbol') return text(node).slice(1);
  if (node?.type !== 'delimited_symbol') return literal(node);
  return node.children.every(({ type }) => type === 'string_content')
    ? node.children.map(text).join('')
    : undefined;
}

/**
 * The method of Kernel that an expression takes as an object: `method(:eval)`, `Kernel.method(:eval)`, `:eval.to_proc`.
 */
export function rubyMethodObject(reading: Reading, node: SyntaxNode): string | undefined {
  const { text } = reading;
  let at: SyntaxNode | undefined = node;
  for (let depth = 0; at?.type === 'call' && depth < 4; depth += 1) {
    const receiver = childOf(at, 'receiver');
    const word = text(childOf(at, 'method'));
    if (/^(?:public_|instance_|singleton_)?method$/.test(word))
      return /^(?:|(?:::)?Kernel|self|binding|Object\.new)$/.test(text(receiver).slice(0, 40))
        ? rubySymbol(reading, childOf(at, 'arguments')?.children[0])
        : undefined;
    if (word !== 'to_proc' && word !== 'curry' && word !== 'unbind') return undefined;
    if (receiver?.type === 'simple_symbol') return rubySymbol(reading, receiver);
    at = receiver;
  }
  return undefined;
}

/** What a text says, where all of it is written down, here-documents included. */
export function rubyLiteral(
  reading: Reading,
  { documents }: RubyNames,
  node: SyntaxNode,
): string | undefined {
  if (node.type !== 'heredoc_beginning') return reading.literal(node);
  const body = documents.get(node);
  return body?.children.every(({ type }) => /^(?:heredoc_content|heredoc_end|escape_sequence)$/.test(type))
    ? reading.text(body)
    : undefined;
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
    (/^(?:identifier|constant|instance_variable)$/.test(node.type) ? values.get(text(node)) : undefined) ??
    node
  );
}
