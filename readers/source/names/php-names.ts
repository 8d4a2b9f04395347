/* Resolves names in PHP. */
import { ancestorOf, argumentsOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Query } from '../query/query.ts';
import type { NamingLanguage } from './names.ts';
import { readNames } from './names.ts';
import type { Way } from './paths.ts';
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

const maxValues = 20;
const maxDepth = 12;
const maxSteps = 200;
const maxProperty = 100;
const request = /^\$_(?:GET|POST|REQUEST|COOKIE|FILES)$/;
const joins = /^(?:binary_expression|encapsed_string|parenthesized_expression|conditional_expression)$/;

/** Resolves the names of a PHP file: variables; properties as `$this->name` and constants as `const NAME`. */
export function phpNames(reading: Reading) {
  const { tree, text, literal } = reading;
  /** Names that the file defines or imports from elsewhere. */
  const own = new Set<string>();
  /** `use function shell_exec as run`. */
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const names = readNames(reading, phpNaming, (match, all) => {
    const defined = match.one('own');
    const value = match.one('given');
    if (defined) own.add(text(defined).toLowerCase());
    else if (!value) readUse(match.node);
    else {
      const property = match.one('property');
      const field = match.one('field');
      const name = property
        ? text(property)
        : field
          ? `$this->${text(field).slice(1)}`
          : `const ${text(match.one('const'))}`;
      if (name.length < maxProperty) all.give(tree.root, name, { value, at: value.start });
    }
  });
  return {
    reached,
    /** The expression behind a variable, where there is one: the one it was given last. */
    behind: (node: SyntaxNode | undefined) => node && values(node).at(-1),
    values,
    functionOf,
    isClosure,
    isRequested,
  };

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

  /** The global functions that a call may reach, in lower case, and where a name for each was given. */
  function reached(target: SyntaxNode): readonly Way[] {
    const way = (path: string, at?: number) => ({
      path,
      origin: at === undefined ? undefined : { at, before: undefined },
    });
    const name = text(target).replace(/\s/g, '').toLowerCase();
    if (target.type === 'name') {
      const alias = aliases.get(name);
      if (alias) return [way(alias.path, alias.at)];
      // `eval` belongs to the language: no function can have its name.
      return own.has(name) && name !== 'eval' ? [] : [way(name)];
    }
    if (target.type === 'qualified_name') return /^\\\w+$/.test(name) ? [way(name.slice(1))] : [];
    return values(target).flatMap((value) => {
      const path = functionOf(value);
      return path === undefined ? [] : [way(path, value === target ? undefined : value.start)];
    });
  }

  /** `system(...)`, which makes a closure of a function. */
  function isClosure(call: SyntaxNode): boolean {
    return /^\(\s*\.\.\.\s*\)$/.test(text(childOf(call, 'arguments')).slice(0, 20));
  }

  /** The function that a value names: `'system'`, `system(...)`, `Closure::fromCallable('system')`. */
  function functionOf(value: SyntaxNode): string | undefined {
    const isFrom = /^\\?Closure::fromCallable$/i.test(
      `${text(childOf(value, 'scope'))}::${text(childOf(value, 'name'))}`,
    );
    const isCall = value.type === 'function_call_expression';
    const said = isCall ? text(childOf(value, 'function')) : literal(isFrom ? argumentsOf(value)[0] : value);
    return isCall && !isClosure(value) ? undefined : said?.toLowerCase().replace(/^\\/, '');
  }

  /** What a variable, property, constant, choice or table's entry may be; for other expressions the same one. */
  function values(start: SyntaxNode): readonly SyntaxNode[] {
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
  }

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
    const tables = base?.type === 'variable_name' ? valuesOf(base) : [];
    const said = literal(key);
    return tables
      .flatMap(({ type, children }) => (type === 'array_creation_expression' ? children.slice(0, 100) : []))
      .filter(({ children }) => children.length < 2 || said === undefined || literal(children[0]) === said)
      .flatMap(({ children }) => children.slice(-1))
      .slice(0, maxValues);
  }

  /** Whether text comes from the HTTP request or contains it. An array entry and a function's result do not. */
  function isRequested(start: SyntaxNode | undefined): boolean {
    const pending = start ? [start] : [];
    for (let steps = 0; steps < maxSteps; steps += 1) {
      const node = pending.pop();
      if (!node) return false;
      if (node.type === 'subscript_expression' && request.test(text(node.children[0]))) return true;
      if (joins.test(node.type))
        pending.push(...node.children.filter(({ field }) => field !== 'condition').slice(0, maxSteps));
      else if (node.type === 'variable_name') pending.push(...values(node).filter((one) => one !== node));
    }
    return false;
  }
}
