/* Resolves names in Go. */
import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Query } from '../query/query.ts';
import type { NamingLanguage } from './names.ts';
import { readNames } from './names.ts';
import { type Follow, followPaths, mapPaths, type Way } from './paths.ts';
import type { Reading } from './reading.ts';

/** How Go gives names. */
export const goNaming: NamingLanguage = {
  declarations: new Query(`
    [(function_declaration) (method_declaration) (func_literal) (block) (if_statement) (for_statement)
      (expression_switch_statement) (type_switch_statement) (expression_case) (communication_case)] @scope
    (identifier) @plain
    (import_spec name: (_)? @name path: (_) @module)
    (short_var_declaration left: (_) @names right: (_) @values)
    (assignment_statement left: (_) @names right: (_) @values (#set! in known))
    (range_clause left: (_) @names)
    (var_spec name: (_)* @name type: (_)? @type value: (_)? @values)
    (const_spec name: (_)* @name type: (_)? @type value: (_)? @values)
    (parameter_declaration name: (_)* @name type: (_) @type)
    (variadic_parameter_declaration name: (_)* @name type: (_) @type)
    (function_declaration name: (_) @name (#set! in file))`),
  expressions: new Query(`
    (parenthesized_expression . (_) @same)
    (literal_element . (_) @same)`),
};

/** The packages that are known by their last name where the imports are out of sight. */
const standard = ['os/exec', 'os', 'syscall'];

/**
 * Resolves the names of a Go file: an expression may reach `os/exec.Command`. `isKnown` returns whether a package
 * imported with `.` has that path.
 */
export function goNames(reading: Reading, isKnown: (path: string) => boolean = () => false) {
  const { tree, text, literal, isWhole } = reading;
  /** Paths of all imported packages. */
  const imports = new Set<string>();
  /** Packages with names that need no qualifier (`import . "os/exec"`). */
  const dotted = new Set<string>();
  const names = readNames(reading, goNaming, (match, given) => {
    const alias = match.one('name');
    const path = literal(match.one('module'));
    if (path === undefined) return;
    imports.add(path);
    if (alias?.type === 'dot') dotted.add(path);
    else given.give(tree.root, alias ? text(alias) : nameOf(path), { path, at: match.node.start });
  });
  const knowsImports = isWhole && tree.nodes.some(({ type }) => type === 'package_clause');
  const { ways } = followPaths(names, { free, expression });
  return { names, imports, ways };

  function free(name: string): string | undefined {
    const offered = [...dotted].map((path) => `${path}.${name}`).find(isKnown);
    return offered ?? (knowsImports ? undefined : (standard.find((path) => path.endsWith(name)) ?? name));
  }

  function expression(node: SyntaxNode, follow: Follow): readonly Way[] {
    if (node.type !== 'selector_expression') return [];
    return mapPaths(
      follow.ways(childOf(node, 'operand')),
      (base) => `${base}.${text(childOf(node, 'field'))}`,
    );
  }
}

/**
 * What a package is called where its import gives it no name: `gopkg.in/robertkrimen/otto.v1` is `otto`, `a/b/v2` is
 * `b`.
 */
function nameOf(path: string): string {
  const short = path.replace(/[/.]v\d+$/, '');
  return short.slice(short.lastIndexOf('/') + 1);
}
