/* Tables of names and calls for Java, Kotlin, Scala and Groovy, as queries over their grammars. */
import type { GrammarName } from '../grammar/syntax-tree.ts';
import { Query } from '../query/query.ts';
import type { TypedLanguage } from './typed-names.ts';

/** In scripts, `runtime` is the runtime if the file does not define it. */
function freeInScript(type: string, isAlone: boolean): string {
  return type === 'runtime' || (type === 'rt' && isAlone) ? 'Runtime' : type;
}

/** How the languages of the Java platform give names and calls, by their grammars. */
export const jvmLanguages = {
  java: {
    free: (type) => type,
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
      (cast_expression type: (_) @type value: (_) @same)
      (field_access object: (this) field: (_) @own)`),
    calls: new Query(`
      (method_invocation object: (_)? @object name: (_) @name arguments: (_ (_)* @given))
      (object_creation_expression type: (_) @made arguments: (_ (_)* @given))
      (method_reference . (_) @object (_) @reference .)`),
  },
  kotlin: {
    free: freeInScript,
    declarations: new Query(`
      [(class_declaration) (object_declaration)] @scope @scope.class
      [(function_declaration) (anonymous_function) (secondary_constructor) (lambda_literal) (for_statement)
        (control_structure_body)] @scope
      (simple_identifier) @plain
      (import_header . (identifier) @import (import_alias (_) @alias)?)
      (function_declaration (simple_identifier) @method)
      (function_declaration [(user_type) (nullable_type)] @receiver)
      (property_declaration (variable_declaration . (_) @name (_)? @type) (_)? @value .)
      (parameter . (_) @name (_) @type)
      (class_parameter (simple_identifier) @name [(user_type) (nullable_type)]? @type)
      (lambda_literal (lambda_parameters (variable_declaration . (_) @name (_)? @type))) @in
      (for_statement (variable_declaration . (_) @name (_)? @type)) @in
      ((assignment (directly_assignable_expression (simple_identifier) @name .) (_) @value .) (#set! in known))
      ((assignment (directly_assignable_expression (navigation_suffix (_) @name) .) (_) @value .)
        (#set! in known))
      ; value.let { it }, value.run { this }, with(value) { this }
      (call_expression
        . (navigation_expression . (_) @about (navigation_suffix (_) @function .))
        (call_suffix (annotated_lambda (lambda_literal) @lambda))
        (#match? @function "^(?:let|also|use|apply|run)$"))
      (call_expression
        . (call_expression
          . (simple_identifier) @function (call_suffix (value_arguments . (value_argument (_) @about .) .)))
        (call_suffix (annotated_lambda (lambda_literal) @lambda))
        (#match? @function "^with$"))`),
    expressions: new Query(`
      (parenthesized_expression . (_) @same)
      (as_expression . (_) @same (_) @type .)
      (postfix_expression . (_) @same)
      (property_delegate (call_expression
        (call_suffix (annotated_lambda (lambda_literal (statements (_) @same .))))))
      (call_expression
        . (navigation_expression . (_) @same (navigation_suffix (_) @function .))
        (call_suffix (annotated_lambda)) (#match? @function "^(?:also|apply)$"))
      (navigation_expression . (this_expression) (navigation_suffix (_) @own))`),
    calls: new Query(`
      (call_expression
        . [(simple_identifier) @name (navigation_expression . (_) @object (navigation_suffix (_) @name .))]
        (call_suffix (value_arguments (value_argument (_) @given .)*)?))
      (navigation_expression . (_) @object (navigation_suffix (simple_identifier) @reference .))`),
  },
  scala: {
    free: freeInScript,
    declarations: new Query(`
      [(class_definition) (object_definition) (trait_definition)] @scope @scope.class
      [(function_definition) (lambda_expression) (block) (case_clause) (for_expression)] @scope
      (identifier) @plain
      (import_declaration . (_)) @import
      [(arrow_renamed_identifier name: (_) @real alias: (_) @alias)
        (as_renamed_identifier name: (_) @real alias: (_) @alias)]
      (function_definition name: (_) @method)
      (class_definition name: (_) @method)
      [(val_definition pattern: (identifier) @name type: (_)? @type value: (_)? @value)
        (var_definition pattern: (identifier) @name type: (_)? @type value: (_)? @value)
        (val_declaration name: (_) @name type: (_) @type)
        (var_declaration name: (_) @name type: (_) @type)
        (parameter name: (_) @name type: (_)? @type)
        (class_parameter name: (_) @name type: (_)? @type)
        (binding name: (_) @name type: (_)? @type)]
      (lambda_expression parameters: (identifier) @name) @in
      (assignment_expression left: (identifier) @name right: (_) @value (#set! in known))`),
    expressions: new Query(`
      (parenthesized_expression (_) @same .)
      (field_expression value: (identifier) @this field: (_) @own (#match? @this "^this$"))`),
    calls: new Query(`
      (call_expression
        function: [(identifier) @name (field_expression value: (_) @object field: (_) @name)
          (instance_expression . (_) @made)]
        arguments: (_ (_)* @given))
      (field_expression value: (_) @object field: (_) @name)
      (instance_expression . (_) @made (arguments (_)* @given)?)
      (infix_expression left: (_) @object operator: (_) @name right: (_) @given)
      (postfix_expression . (_) @object (_) @name .)`),
  },
  groovy: {
    free: freeInScript,
    declarations: new Query(`
      (class_definition) @scope @scope.class
      [(function_definition) (closure) (for_in_loop)] @scope
      (identifier) @plain
      (groovy_import import: (_) @import import_alias: (_)? @alias)
      (function_definition function: (_) @method)
      (declaration type: (_)? @type name: (_) @name value: (_)? @value)
      (parameter type: (_)? @type name: (_) @name)
      ((assignment . (identifier) @name (_) @value .) (#set! in known) (#set! else file))`),
    expressions: new Query(`
      (parenthesized_expression . (_) @same)
      (unary_op . (_) @same .)`),
    calls: new Query(`
      [(function_call
          function: [(identifier) @name (dotted_identifier . (_) @object (_) @name .)] args: (_ (_)* @given))
        (juxt_function_call
          function: [(identifier) @name (dotted_identifier . (_) @object (_) @name .)] args: (_ (_)* @given))]
      (access_op . (_) @object (function_call function: (identifier) @name args: (_ (_)* @given)) .)
      (access_op . (_) @object (identifier) @reference .)`),
  },
} satisfies Readonly<Partial<Record<GrammarName, TypedLanguage>>>;

export type JvmGrammar = keyof typeof jvmLanguages;
