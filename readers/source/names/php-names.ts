import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Query } from '../query/query.ts';
import type { Names, NamingLanguage } from './names.ts';
import { readNames } from './read-names.ts';
import type { Reading } from './reading.ts';

/** How PHP gives names. */
export const phpNaming: NamingLanguage = {
  declarations: new Query(`
    ; functions do not see what the file gives
    (program) @scope @scope.blind
    [(function_definition) (method_declaration) (anonymous_function)] @scope
    (variable_name) @plain
    (function_definition name: (_) @own)
    (namespace_use_clause . (_) @used)
    (assignment_expression left: (variable_name) @name right: (_) @value)
    (foreach_statement . (array_creation_expression (array_element_initializer (_) @value .))
      [(variable_name) @name (pair (variable_name) @name .)])
    ; properties and constants stand with the file
    [(assignment_expression left: (member_access_expression) @property right: (_) @given)
      (property_element name: (_) @field default_value: (_) @given)
      (const_element . (name) @const (_) @given)]`),
  expressions: new Query('(parenthesized_expression . (_) @same)'),
};

/** What the names of a PHP file stand for. */
export interface PhpNames {
  /** Variables; properties as `$this->name` and constants as `const NAME`, seen from the file. */
  readonly names: Names;
  /** Names that the file defines or imports from elsewhere. */
  readonly own: ReadonlySet<string>;
  /** `use function shell_exec as run`. */
  readonly aliases: ReadonlyMap<string, { readonly path: string; readonly at: number }>;
}

const maxValues = 20;
const maxDepth = 12;
const maxSteps = 200;
const maxProperty = 100;
const requested = /^\$_(?:GET|POST|REQUEST|COOKIE|FILES)$/;

/** Reads the names that a file gives. */
export function phpNames(reading: Reading): PhpNames {
  const { tree, text } = reading;
  const own = new Set<string>();
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const names = readNames(reading, phpNaming, (match, all) => {
    const defined = match.one('own');
    const value = match.one('given');
    if (defined) own.add(text(defined).toLowerCase());
    else if (value) {
      const name = nameOf(match.one('property'), match.one('field'), match.one('const'));
      if (name.length < maxProperty) all.give(tree.root, name, { value, at: value.start });
    } else readUse(match.node);
  });
  return { names, own, aliases };

  function nameOf(property?: SyntaxNode, field?: SyntaxNode, constant?: SyntaxNode): string {
    if (property) return text(property);
    return field ? `$this->${text(field).slice(1)}` : `const ${text(constant)}`;
  }

  function readUse(clause: SyntaxNode): void {
    const declaration = ancestorOf(clause, 'namespace_use_declaration');
    if (!declaration || !/^use\s+function\b/i.test(text(declaration).slice(0, 60))) return;
    const alias = childOf(clause, 'alias');
    const group = declaration.children.find(({ type }) => type === 'namespace_name');
    const path = [text(group), text(clause.children.find((child) => child !== alias))]
      .filter(Boolean)
      .join('\\')
      .replace(/^\\/, '')
      .toLowerCase();
    const name = text(alias).toLowerCase() || path.slice(path.lastIndexOf('\\') + 1);
    if (path.includes('\\')) own.add(name);
    else aliases.set(name, { path, at: clause.start });
  }
}

/** What a call is given. */
export function phpArguments(node: SyntaxNode): readonly SyntaxNode[] {
  const list = childOf(node, 'arguments') ?? node.children.find(({ type }) => type === 'arguments');
  return (
    list?.children.filter(({ type }) => type === 'argument').map((one) => one.children.at(-1) ?? one) ?? []
  );
}

/** The global functions that a call may reach, lower case; through an import, what holds their name, or `\`. */
export function phpReached(
  reading: Reading,
  known: PhpNames,
  target: SyntaxNode,
  also: number[],
): readonly string[] {
  const { text } = reading;
  if (target.type === 'name') {
    const name = text(target).toLowerCase();
    const alias = known.aliases.get(name);
    if (alias) also.push(alias.at);
    // `eval` belongs to the language: no function can take its name.
    const path = alias?.path ?? (known.own.has(name) && name !== 'eval' ? undefined : name);
    return path === undefined ? [] : [path];
  }
  if (target.type === 'qualified_name') {
    const path = text(target).replace(/\s/g, '').toLowerCase();
    return /^\\\w+$/.test(path) ? [path.slice(1)] : [];
  }
  const found: string[] = [];
  for (const value of phpValues(reading, known, target)) {
    const name = phpFunctionName(reading, value);
    if (name === undefined) continue;
    found.push(name);
    if (value !== target) also.push(value.start);
  }
  return found;
}

/** The same, where one is to be named: the one that was given last. */
export function phpCalled(
  reading: Reading,
  known: PhpNames,
  target: SyntaxNode,
  also: number[],
): string | undefined {
  return phpReached(reading, known, target, also).at(-1);
}

/** The function that a value names: `'system'`, `system(...)`, `Closure::fromCallable('system')`. */
export function phpFunctionName(reading: Reading, value: SyntaxNode): string | undefined {
  const { text, literal } = reading;
  const toName = (said: string | undefined) => said?.toLowerCase().replace(/^\\/, '');
  if (value.type === 'function_call_expression')
    return /^\(\s*\.\.\.\s*\)$/.test(text(childOf(value, 'arguments')).slice(0, 20))
      ? toName(text(childOf(value, 'function')))
      : undefined;
  if (value.type === 'scoped_call_expression')
    return /^\\?Closure::fromCallable$/i.test(
      `${text(childOf(value, 'scope'))}::${text(childOf(value, 'name'))}`,
    )
      ? toName(literal(phpArguments(value)[0]))
      : undefined;
  return toName(literal(value));
}

/** The expression behind a variable, where there is one: the one it was given last. */
export function phpBehind(
  reading: Reading,
  known: PhpNames,
  node: SyntaxNode | undefined,
): SyntaxNode | undefined {
  return node && (phpValues(reading, known, node).at(-1) ?? node);
}

/**
 * The expressions that a variable, property, constant, choice or table's entry may stand for; others stand for
 * themselves.
 */
export function phpValues(
  { tree, text, literal }: Reading,
  { names }: PhpNames,
  start: SyntaxNode,
): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const pending: { readonly node: SyntaxNode; readonly depth: number }[] = [{ node: start, depth: 0 }];
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const next = pending.shift();
    if (!next) break;
    const { node, depth } = next;
    const behind = depth < maxDepth ? valuesOf(node) : [];
    if (behind.length === 0) found.push(node);
    for (const one of behind) pending.push({ node: one, depth: depth + 1 });
  }
  return found;

  function valuesOf(node: SyntaxNode): readonly SyntaxNode[] {
    switch (node.type) {
      case 'parenthesized_expression':
        return node.children.slice(0, 1);
      case 'conditional_expression':
        return node.children.filter(({ field }) => field !== 'condition');
      case 'variable_name':
        return given(text(node), node);
      case 'member_access_expression':
        return given(text(node), tree.root);
      case 'name':
      case 'class_constant_access_expression':
        return given(`const ${text(node.children.at(-1) ?? node)}`, tree.root);
      case 'subscript_expression':
        return entriesOf(node);
    }
    return [];
  }

  function given(name: string, from: SyntaxNode): readonly SyntaxNode[] {
    return names.find(name, from)?.flatMap(({ value }) => value ?? []) ?? [];
  }

  function entriesOf(node: SyntaxNode): readonly SyntaxNode[] {
    const [base, key] = node.children;
    if (base?.type !== 'variable_name') return [];
    const tables = valuesOf(base).filter(({ type }) => type === 'array_creation_expression');
    const said = literal(key);
    return tables
      .flatMap(({ children }) => children.slice(0, 100))
      .filter(({ children }) => children.length < 2 || said === undefined || literal(children[0]) === said)
      .map(({ children, ...one }) => children.at(-1) ?? { children, ...one })
      .slice(0, maxValues);
  }
}

/** Whether text is what the request says, or holds it. A table's entry and a function's value are not. */
export function phpRequested(reading: Reading, known: PhpNames, start: SyntaxNode | undefined): boolean {
  const pending = start ? [start] : [];
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const node = pending.pop();
    if (!node) return false;
    if (node.type === 'subscript_expression' && requested.test(reading.text(node.children[0]))) return true;
    if (
      /^(?:binary_expression|encapsed_string|parenthesized_expression|conditional_expression)$/.test(
        node.type,
      )
    )
      pending.push(...node.children.filter(({ field }) => field !== 'condition').slice(0, maxSteps));
    else if (node.type === 'variable_name')
      pending.push(...phpValues(reading, known, node).filter((one) => one !== node));
  }
  return false;
}
