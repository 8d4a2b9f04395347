/** Grammars that a package ships and that something here reads. */
export type GrammarName =
  | 'bash'
  | 'c-sharp'
  | 'go'
  | 'groovy'
  | 'java'
  | 'javascript'
  | 'kotlin'
  | 'php'
  | 'python'
  | 'ruby'
  | 'scala'
  | 'tsx'
  | 'typescript';

/** A named piece of syntax. Offsets count from the text's start. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly parent: SyntaxNode | undefined;
  readonly children: readonly SyntaxNode[];
  /** What it is to its parent, by the grammar's word. */
  readonly field: string | undefined;
}

/** What a grammar read. Punctuation and keywords are left out. */
export interface SyntaxTree {
  readonly root: SyntaxNode;
  /** Every node, parents before children, in the order of the text. */
  readonly nodes: readonly SyntaxNode[];
  /** Where the grammar did not fit: the rest of the tree is a guess there. */
  readonly faults: readonly SyntaxNode[];
}

/** The child in that role. */
export function childOf(node: SyntaxNode | undefined, field: string): SyntaxNode | undefined {
  return node?.children.find((child) => child.field === field);
}

/** Children in that role, in order. */
export function childrenOf(node: SyntaxNode | undefined, field: string): readonly SyntaxNode[] {
  return node?.children.filter((child) => child.field === field) ?? [];
}

/** Returns the first result that `find` returns for a node. */
export function firstOf<Found>(
  nodes: readonly SyntaxNode[],
  find: (node: SyntaxNode) => Found | undefined,
): Found | undefined {
  for (const node of nodes) {
    const found = find(node);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The nearest node around it of one of those types. */
export function ancestorOf(node: SyntaxNode, ...types: readonly string[]): SyntaxNode | undefined {
  for (let at = node.parent; at; at = at.parent) if (types.includes(at.type)) return at;
  return undefined;
}

/** What a call is given: comments are left out, and what only wraps an argument or gives it a name. */
export function argumentsOf(node: SyntaxNode | undefined): readonly SyntaxNode[] {
  const list = childOf(node, 'arguments') ?? node?.children.find(({ type }) => type.startsWith('argument'));
  if (!list) return [];
  // A template, a generator or a block in place of a list is the only argument.
  if (!list.type.startsWith('argument')) return [list];
  return list.children
    .filter(({ type }) => !type.endsWith('comment'))
    .map((one) => (one.type === 'argument' ? (one.children.at(-1) ?? one) : one));
}
