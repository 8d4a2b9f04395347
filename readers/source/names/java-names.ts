import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { type Binding, Names } from './names.ts';
import type { Reading } from './reading.ts';

const opens = [
  'class_body',
  'method_declaration',
  'constructor_declaration',
  'lambda_expression',
  'block',
  'for_statement',
  'enhanced_for_statement',
  'catch_clause',
  'try_with_resources_statement',
  'record_declaration',
  'interface_body',
  'enum_body',
];
/** The type that a method of a type makes, or a function of no type; `undefined` where nobody knows. */
export type MadeBy = (type: string | undefined, method: string) => string | undefined;

/** What the names of a Java file stand for. */
export interface JavaNames {
  readonly names: Names;
  readonly imports: readonly string[];
  readonly ownMethods: ReadonlySet<string>;
  /** What was added to a list by name, in order; the name by what declares it. */
  readonly added: ReadonlyMap<SyntaxNode, ReadonlyMap<string, readonly SyntaxNode[]>>;
  readonly madeBy: MadeBy;
}

/** Reads the names that a file gives; what libraries make is the caller's to know. */
export function javaNames({ tree, text }: Reading, madeBy: MadeBy): JavaNames {
  const names = new Names(opens);
  const imports: string[] = [];
  const ownMethods = new Set<string>();
  const added = new Map<SyntaxNode, Map<string, SyntaxNode[]>>();
  const additions: SyntaxNode[] = [];
  for (const node of tree.nodes) {
    if (node.type === 'import_declaration')
      imports.push(text(node).replace(/^import\s+(?:static\s+)?|[\s;]/g, ''));
    else if (node.type === 'method_declaration') ownMethods.add(text(childOf(node, 'name')));
    else if (node.type === 'variable_declarator') {
      const declaration = node.parent;
      const given = childOf(node, 'name');
      if (!given || !declaration) continue;
      const scope =
        declaration.type === 'field_declaration' ? names.scopeOf(declaration) : names.scopeOf(node);
      const type =
        text(childOf(declaration, 'type') ?? declaration.children[0]) + text(childOf(node, 'dimensions'));
      names.give(scope, text(given), { value: childOf(node, 'value'), type, at: given.start });
    } else if (
      node.type === 'formal_parameter' ||
      node.type === 'resource' ||
      node.type === 'catch_formal_parameter'
    ) {
      const given = childOf(node, 'name');
      if (given)
        names.give(names.scopeOf(node), text(given), {
          value: childOf(node, 'value'),
          type: text(childOf(node, 'type')),
          at: given.start,
        });
    } else if (node.type === 'assignment_expression') {
      const left = childOf(node, 'left');
      const name = text(left).replace(/^this\./, '');
      const owner = left && names.ownerOf(name, left);
      if (owner && left) names.give(owner, name, { value: childOf(node, 'right'), at: left.start });
    } else if (node.type === 'lambda_expression') {
      const parameters = childOf(node, 'parameters');
      for (const one of parameters?.type === 'identifier' ? [parameters] : (parameters?.children ?? []))
        if (one.type === 'identifier') names.give(node, text(one), { at: one.start });
    } else if (node.type === 'method_invocation' && /^add/.test(text(childOf(node, 'name'))))
      additions.push(node);
  }
  for (const node of additions) readAddition(node);
  return { names, imports, ownMethods, added, madeBy };

  /** `list.add(word)`, `line.addArgument(word)`. */
  function readAddition(node: SyntaxNode): void {
    const list = childOf(node, 'object');
    const owner = list?.type === 'identifier' ? names.ownerOf(text(list), list) : undefined;
    if (!list || !owner || !/^(?:add|addAll|addLast|addArguments?)$/.test(text(childOf(node, 'name'))))
      return;
    const known = added.get(owner) ?? new Map<string, SyntaxNode[]>();
    added.set(owner, known);
    const words = known.get(text(list)) ?? [];
    known.set(text(list), words);
    if (words.length < 20) words.push(...javaArguments(node));
  }
}

function bindingsOf(
  { text }: Reading,
  { names }: JavaNames,
  node: SyntaxNode | undefined,
): readonly Binding[] {
  if (!node) return [];
  if (node.type === 'identifier') return names.find(text(node), node) ?? [];
  const field =
    node.type === 'field_access' && text(childOf(node, 'object')) === 'this'
      ? childOf(node, 'field')
      : undefined;
  return field ? (names.find(text(field), ancestorOf(node, 'class_body') ?? node) ?? []) : [];
}

function unwrap(node: SyntaxNode | undefined): SyntaxNode | undefined {
  let at = node;
  for (
    let depth = 0;
    depth < 10 && at && /^(?:parenthesized_expression|cast_expression)$/.test(at.type);
    depth += 1
  )
    at = at.children.at(-1);
  return at;
}

/** The expression behind a name or wrapper, where there is one. */
export function javaBehind(
  reading: Reading,
  known: JavaNames,
  node: SyntaxNode | undefined,
  depth = 0,
): SyntaxNode | undefined {
  const inner = unwrap(node);
  if (!inner || depth > 10) return inner;
  const value = bindingsOf(reading, known, inner).find((one) => one.value && one.value !== inner)?.value;
  return value ? javaBehind(reading, known, value, depth + 1) : inner;
}

/** The simple name of an expression's type, as declared or as its value tells. */
export function javaTypeOf(
  reading: Reading,
  known: JavaNames,
  node: SyntaxNode | undefined,
  depth = 0,
): string | undefined {
  const { text } = reading;
  const inner = node?.type === 'cast_expression' ? node : unwrapParentheses(node);
  if (!inner || depth > 8) return undefined;
  if (inner.type === 'cast_expression') return simpleType(text(childOf(inner, 'type')));
  if (inner.type === 'object_creation_expression') return simpleType(text(childOf(inner, 'type')));
  if (inner.type === 'array_creation_expression') return '[]';
  if (inner.type === 'method_invocation') {
    const name = text(childOf(inner, 'name'));
    return (
      known.madeBy(undefined, name) ??
      known.madeBy(javaTypeOf(reading, known, childOf(inner, 'object'), depth + 1), name)
    );
  }
  const given = bindingsOf(reading, known, inner);
  for (const { type, value } of given) {
    if (type !== undefined && type !== '' && type !== 'var')
      return type.includes('[]') ? '[]' : simpleType(type);
    const found = value && javaTypeOf(reading, known, value, depth + 1);
    if (found !== undefined) return found;
  }
  if (given.length > 0) return undefined;
  return inner.type === 'identifier' || inner.type === 'scoped_identifier' || inner.type === 'field_access'
    ? simpleType(text(inner))
    : undefined;
}

function unwrapParentheses(node: SyntaxNode | undefined): SyntaxNode | undefined {
  return node?.type === 'parenthesized_expression' ? node.children[0] : node;
}

/** A type's own name, without package and parameters. */
export function simpleType(type: string): string {
  const name = type.replace(/<.*$/s, '').trim();
  return name.slice(name.lastIndexOf('.') + 1);
}

/** What a call is given, comments left out. */
export function javaArguments(node: SyntaxNode): readonly SyntaxNode[] {
  return childOf(node, 'arguments')?.children.filter(({ type }) => !type.endsWith('comment')) ?? [];
}
