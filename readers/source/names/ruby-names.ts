import { ancestorOf, argumentsOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Reading } from './reading.ts';

const kernel = /^(?:eval|system|exec|spawn)$/;
const maxName = 100;

/** What the names of a Ruby file stand for. */
export function rubyNames(reading: Reading) {
  const { tree, text, literal } = reading;
  const own = new Map<SyntaxNode, Set<string>>();
  /** `alias run eval`, `run = method(:eval)`. */
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const values = new Map<string, SyntaxNode>();
  const announced: SyntaxNode[] = [];
  /** Here-documents by where they are announced. */
  const documents = new Map<SyntaxNode, SyntaxNode>();
  for (const node of tree.nodes) {
    const at = node.start;
    if (node.type === 'method' || node.type === 'singleton_method') {
      const owner = classOf(node);
      own.set(owner, (own.get(owner) ?? new Set()).add(text(childOf(node, 'name'))));
    } else if (node.type === 'heredoc_beginning') announced.push(node);
    else if (node.type === 'heredoc_body') {
      const beginning = announced[documents.size];
      if (beginning) documents.set(beginning, node);
    } else if (node.type === 'alias')
      aliases.set(text(childOf(node, 'name')), { path: text(childOf(node, 'alias')), at });
    else if (node.type === 'call' && text(childOf(node, 'method')) === 'alias_method') {
      const [name, path] = argumentsOf(node).map(symbolOf);
      if (name !== undefined && path !== undefined) aliases.set(name, { path, at });
    } else if (node.type === 'assignment') {
      const name = text(childOf(node, 'left'));
      const value = childOf(node, 'right');
      if (value && name.length < maxName) values.set(name, value);
      const path = value && methodObject(value);
      if (path !== undefined && kernel.test(path)) aliases.set(name, { path, at });
    }
  }
  return {
    aliases,
    values,
    documents,
    /** Whether the class around a node, or the file, defines a method of that name. */
    isOwn: (node: SyntaxNode, method: string) =>
      [classOf(node), tree.root].some((owner) => own.get(owner)?.has(method)),
    /** The expression behind a name, where there is one. */
    behind: (node: SyntaxNode): SyntaxNode =>
      (/^(?:identifier|constant|instance_variable)$/.test(node.type) ? values.get(text(node)) : undefined) ??
      node,
    /** What a text says, where all of it is written down, here-documents included. */
    literal(node: SyntaxNode): string | undefined {
      const body = node.type === 'heredoc_beginning' ? documents.get(node) : undefined;
      if (!body) return literal(node);
      const isWhole = body.children.every(({ type }) =>
        /^(?:heredoc_content|heredoc_end|escape_sequence)$/.test(type),
      );
      return isWhole ? text(body) : undefined;
    },
    symbolOf,
    methodObject,
  };

  /** The name that a symbol or a text gives. */
  function symbolOf(node: SyntaxNode | undefined): string | undefined {
    if (node?.type === 'simple_symbol') return text(node).slice(1);
    if (node?.type !== 'delimited_symbol') return literal(node);
    return node.children.every(({ type }) => type === 'string_content')
      ? node.children.map(text).join('')
      : undefined;
  }

  /** The method of Kernel that an expression has as an object: `Kernel.method(:eval)`, `:eval.to_proc`. */
  function methodObject(node: SyntaxNode): string | undefined {
    let at: SyntaxNode | undefined = node;
    for (let depth = 0; at?.type === 'call' && depth < 4; depth += 1) {
      const receiver = childOf(at, 'receiver');
      const word = text(childOf(at, 'method'));
      if (/^(?:public_|instance_|singleton_)?method$/.test(word))
        return /^(?:|(?:::)?Kernel|self|binding|Object\.new)$/.test(text(receiver).slice(0, 40))
          ? symbolOf(argumentsOf(at)[0])
          : undefined;
      if (!/^(?:to_proc|curry|unbind)$/.test(word)) return undefined;
      if (receiver?.type === 'simple_symbol') return symbolOf(receiver);
      at = receiver;
    }
    return undefined;
  }

  /** The class or module around a node, else the file. */
  function classOf(node: SyntaxNode): SyntaxNode {
    return ancestorOf(node, 'class', 'module', 'singleton_class') ?? tree.root;
  }
}
