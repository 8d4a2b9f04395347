import { argumentsOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Query } from '../query/query.ts';
import type { NamingLanguage } from './names.ts';
import { readNames } from './read-names.ts';
import type { Reading } from './reading.ts';

/** How Java gives names. */
export const javaNaming: NamingLanguage = {
  declarations: new Query(`
    [(method_declaration) (constructor_declaration) (lambda_expression) (block) (for_statement)
      (enhanced_for_statement) (catch_clause) (try_with_resources_statement) (record_declaration)
      (interface_body) (enum_body)] @scope
    (class_body) @scope @scope.class
    (identifier) @plain
    (import_declaration . (_) @import)
    (method_declaration name: (_) @method)
    (method_invocation object: (identifier) @list name: (_) @add (#match? @add "^add"))
    [(local_variable_declaration type: (_) @type
        declarator: (variable_declarator name: (_) @name dimensions: (_)? @type value: (_)? @value))
      (field_declaration type: (_) @type
        declarator: (variable_declarator name: (_) @name dimensions: (_)? @type value: (_)? @value))
      (formal_parameter type: (_) @type name: (_) @name)
      (resource type: (_) @type name: (_) @name value: (_) @value)
      (catch_formal_parameter name: (_) @name)]
    (lambda_expression parameters: (identifier) @name) @in
    (lambda_expression parameters: (inferred_parameters (identifier)* @name)) @in
    (assignment_expression left: [(identifier) @name (field_access object: (this) field: (_) @name)]
      right: (_) @value (#set! in known))`),
  expressions: new Query(`
    (parenthesized_expression . (_) @same)
    (cast_expression value: (_) @same)
    (field_access object: (this) field: (_) @own)`),
};

/** The type that a method of a type makes, or a function of no type; `undefined` where nobody knows. */
type MadeBy = (type: string | undefined, method: string) => string | undefined;

/** What the names of a Java file stand for. */
export interface JavaNames {
  readonly imports: readonly string[];
  readonly ownMethods: ReadonlySet<string>;
  /** What was added to the list under a name, in order: `list.add(word)`, `line.addArgument(word)`. */
  addedTo(name: SyntaxNode | undefined): readonly SyntaxNode[];
  /** The expression behind a name or wrapper, where there is one. */
  behind(node: SyntaxNode | undefined): SyntaxNode | undefined;
  /** The simple name of an expression's type, as declared or as its value tells. */
  typeOf(node: SyntaxNode | undefined): string | undefined;
}

/** Reads the names that a file gives; what libraries make is the caller's to know. */
export function javaNames(reading: Reading, madeBy: MadeBy): JavaNames {
  const { text } = reading;
  const imports: string[] = [];
  const ownMethods = new Set<string>();
  /** By what declares the name, so that namesakes stay apart. */
  const added = new Map<SyntaxNode, Map<string, SyntaxNode[]>>();
  const additions: { readonly list: SyntaxNode; readonly given: readonly SyntaxNode[] }[] = [];
  const names = readNames(reading, javaNaming, (match) => {
    const list = match.one('list');
    const method = match.one('method');
    if (list) additions.push({ list, given: argumentsOf(match.node) });
    else if (method) ownMethods.add(text(method));
    else imports.push(text(match.node).replace(/^import\s+(?:static\s+)?|[\s;]/g, ''));
  });
  for (const { list, given } of additions) {
    const owner = names.ownerOf(text(list), list);
    if (!owner) continue;
    const known = added.get(owner) ?? new Map<string, SyntaxNode[]>();
    added.set(owner, known);
    const words = known.get(text(list)) ?? [];
    known.set(text(list), words);
    if (words.length < 20) words.push(...given);
  }
  return { imports, ownMethods, addedTo, behind: (node) => names.behind(node), typeOf };

  function addedTo(name: SyntaxNode | undefined): readonly SyntaxNode[] {
    const owner = names.isPlain(name) ? names.ownerOf(text(name), name) : undefined;
    return (owner && added.get(owner)?.get(text(name))) ?? [];
  }

  function typeOf(node: SyntaxNode | undefined, depth = 0): string | undefined {
    const inner = node?.type === 'parenthesized_expression' ? node.children[0] : node;
    if (!inner || depth > 8) return undefined;
    if (inner.type === 'cast_expression' || inner.type === 'object_creation_expression')
      return simpleType(text(childOf(inner, 'type')));
    if (inner.type === 'array_creation_expression') return '[]';
    if (inner.type === 'method_invocation') {
      const name = text(childOf(inner, 'name'));
      return madeBy(undefined, name) ?? madeBy(typeOf(childOf(inner, 'object'), depth + 1), name);
    }
    const given = names.bindingsOf(inner);
    for (const { type, value } of given) {
      if (type !== undefined && type !== '' && type !== 'var')
        return type.includes('[]') ? '[]' : simpleType(type);
      const found = value && typeOf(value, depth + 1);
      if (found !== undefined) return found;
    }
    if (given.length > 0) return undefined;
    return /^(?:identifier|scoped_identifier|field_access)$/.test(inner.type)
      ? simpleType(text(inner))
      : undefined;
  }
}

/** A type's own name, without package and parameters. */
export function simpleType(type: string): string {
  const name = type.replace(/<.*$/s, '').trim();
  return name.slice(name.lastIndexOf('.') + 1);
}
