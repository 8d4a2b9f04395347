import { Query } from '../query/query.ts';
import type { NamingLanguage } from './names.ts';

/** How JavaScript and TypeScript give names, hoisting and shadowing as they do. */
export const javascriptNaming: NamingLanguage = {
  declarations: new Query(`
    [(function_declaration) (generator_function_declaration) (function_expression) (generator_function)
      (arrow_function) (method_definition)] @scope @scope.function
    [(class_static_block) (internal_module) (module)] @scope @scope.function
    [(statement_block) (class_body) (for_statement) (for_in_statement) (catch_clause) (switch_body)] @scope
    [(identifier) (shorthand_property_identifier_pattern)] @plain
    [(member_expression) (subscript_expression)] @member
    (variable_declaration (variable_declarator name: (_) @name value: (_)? @value) (#set! in function))
    (lexical_declaration (variable_declarator name: (_) @name value: (_)? @value))
    (for_in_statement left: (_) @name) @in
    (catch_clause parameter: (_) @name) @in
    ; import('x').then((module) => …): what the callback is given is the module
    (call_expression
      function: (member_expression object: (_) @value property: (_) @then)
      arguments: (arguments [
        (arrow_function parameter: (_) @name)
        (arrow_function parameters: (formal_parameters . (_) @name))
        (function_expression parameters: (formal_parameters . (_) @name))] @in)
      (#match? @then "^then$"))
    (formal_parameters (_)* @name (#set! in parent))
    (arrow_function parameter: (_) @name) @in
    (function_expression name: (_) @name) @in
    [(function_declaration name: (_) @name) (generator_function_declaration name: (_) @name)
      (class_declaration name: (_) @name) (enum_declaration name: (_) @name)
      (function_signature name: (_) @name)]
    (assignment_expression left: (identifier) @name right: (_) @value (#set! in known) (#set! else file))
    (assignment_expression
      left: [(object_pattern) (array_pattern) (member_expression) (subscript_expression)] @name
      right: (_) @value)
    (import_statement (import_clause (identifier) @name) source: (_) @module)
    (import_statement (import_clause (namespace_import (_) @name)) source: (_) @module)
    (import_statement (import_clause (named_imports (import_specifier name: (_) @part alias: (_)? @name)))
      source: (_) @module)
    (import_statement (import_require_clause . (_) @name source: (_) @module))`),
  patterns: new Query(`
    (object_pattern (shorthand_property_identifier_pattern) @key @inner)
    (object_pattern (pair_pattern key: (_) @key value: (_) @inner))
    (object_pattern (object_assignment_pattern left: (_) @key @inner right: (_) @otherwise))
    (object_pattern (rest_pattern) @inner)
    (array_pattern (_) @inner (#set! part place))
    (rest_pattern (_) @inner (#set! value none))
    (assignment_pattern left: (_) @inner right: (_) @otherwise)
    (required_parameter pattern: (_) @inner value: (_)? @otherwise)
    (optional_parameter pattern: (_) @inner value: (_)? @otherwise)`),
  expressions: new Query(`
    [(parenthesized_expression . (_) @same) (as_expression . (_) @same) (satisfies_expression . (_) @same)
      (non_null_expression . (_) @same) (await_expression . (_) @same) (type_assertion (_) @same .)
      (sequence_expression (_) @same .)]`),
  nameOf: unescaped,
};

/** A name as it is meant: letters may be written as escapes. */
export function unescaped(written: string): string {
  if (!written.includes('\\')) return written;
  return written.replace(
    /\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))/g,
    (_, braced: string, four: string) => String.fromCharCode(Number.parseInt(braced ?? four, 16)),
  );
}
