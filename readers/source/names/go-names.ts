import { Query } from '../query/query.ts';
import type { Names, NamingLanguage } from './names.ts';
import { readNames } from './read-names.ts';
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

/** What the names of a Go file stand for. */
export interface GoNames {
  readonly names: Names;
  /** Paths of all imported packages. */
  readonly imports: ReadonlySet<string>;
  /** Packages whose names need none of their own (`import . "os/exec"`). */
  readonly dotted: ReadonlySet<string>;
}

/** Reads the names that a file gives. */
export function goNames(reading: Reading): GoNames {
  const { tree, text, literal } = reading;
  const imports = new Set<string>();
  const dotted = new Set<string>();
  const names = readNames(reading, goNaming, (match, given) => {
    const alias = match.one('name');
    const path = literal(match.one('module'));
    if (path === undefined) return;
    imports.add(path);
    if (alias?.type === 'dot') dotted.add(path);
    else given.give(tree.root, alias ? text(alias) : nameOf(path), { path, at: match.node.start });
  });
  return { names, imports, dotted };
}

/**
 * What a package is called where its import gives it no name: `gopkg.in/robertkrimen/otto.v1` is `otto`, `a/b/v2` is
 * `b`.
 */
function nameOf(path: string): string {
  const short = path.replace(/[/.]v\d+$/, '');
  return short.slice(short.lastIndexOf('/') + 1);
}
