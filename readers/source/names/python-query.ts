import { Query } from '../query/query.ts';
import type { NamingLanguage } from './names.ts';

/** How Python gives names: in functions and classes, of which functions inside a class see none. */
export const pythonNaming: NamingLanguage = {
  declarations: new Query(`
    [(function_definition) (lambda)] @scope @scope.function
    (class_definition) @scope @scope.function @scope.blind
    [(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope
    (identifier) @plain
    (attribute) @member
    (import_statement name: (dotted_name . (_) @name) @module)
    (import_statement name: (aliased_import name: (_) @module alias: (_) @name))
    (import_from_statement module_name: (_) @module name: (dotted_name . (_) @name) @part)
    (import_from_statement module_name: (_) @module name: (aliased_import name: (_) @part alias: (_) @name))
    (import_from_statement module_name: (_) @module (wildcard_import))
    (function_definition name: (_) @name (#set! in function) (#set! type def))
    (class_definition name: (_) @name (#set! in function) (#set! type def))
    ; a parameter is whatever the caller gives, its default included
    ([(parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern) (tuple_pattern)]* @name)
      (lambda_parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern)]* @name)
      (parameters [(default_parameter name: (_) @name) (typed_parameter . (_) @name type: (_) @type)
        (typed_default_parameter name: (_) @name type: (_) @type)])
      (lambda_parameters (default_parameter name: (_) @name))] (#set! in parent))
    (assignment left: [(identifier) (attribute)] @name right: (_)? @value (#set! in function))
    (assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @names
      right: [(expression_list) (tuple) (list)]? @values (#set! in function))
    (named_expression name: (_) @name value: (_) @value (#set! in function))
    (for_statement left: (_) @name (#set! in function))
    (for_in_clause left: (_) @name)
    (as_pattern_target . (_) @name (#set! in function))`),
  patterns: new Query(`
    [(pattern_list (_) @inner) (tuple_pattern (_) @inner) (list_pattern (_) @inner)
      (list_splat_pattern (_) @inner) (dictionary_splat_pattern (_) @inner)]`),
  expressions: new Query(`
    [(parenthesized_expression . (_) @same) (await . (_) @same) (assignment right: (_) @same)
      (named_expression value: (_) @same)]`),
  // Python reads a name in its compatibility form: full-width `ｅｖａｌ` is `eval`.
  nameOf: (written) =>
    /[^\x00-\x7f]/.test(written)
      ? Buffer.from(written, 'latin1').toString('utf8').normalize('NFKC')
      : written,
};
