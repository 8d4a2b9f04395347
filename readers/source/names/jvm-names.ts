import type { GrammarName, SyntaxNode } from '../grammar/syntax-tree.ts';
import { Query } from '../query/query.ts';
import type { Binding, NamingLanguage } from './names.ts';
import { readNames } from './read-names.ts';
import type { Reading } from './reading.ts';

/** How a language of the Java platform gives names and calls. */
interface JvmLanguage extends NamingLanguage {
  /**
   * `@name` is called, of `@object`, with each `@given`; `@made` is constructed; `@reference` is a function that is
   * handed on.
   */
  readonly calls: Query;
  /** Whether `runtime`, of which a file says nothing, is the runtime. */
  readonly isScript?: boolean;
}

/** The languages by their grammars. */
export const jvmLanguages = {
  java: {
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
    isScript: true,
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
    isScript: true,
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
    isScript: true,
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
} satisfies Readonly<Partial<Record<GrammarName, JvmLanguage>>>;

export type JvmGrammar = keyof typeof jvmLanguages;

/** A call, or a function of an object that is handed on. */
export interface JvmCall {
  readonly node: SyntaxNode;
  readonly object: SyntaxNode | undefined;
  /** The method; of `new A(…)`, the type. */
  readonly name: SyntaxNode;
  readonly given: readonly SyntaxNode[];
  readonly kind: 'call' | 'new' | 'reference';
}

const makers =
  /^(?:create|builder|newBuilder|build|enter|newInstance|option|options|allowAllAccess|allowIO)$/;
const made: Readonly<Record<string, string>> = {
  getRuntime: 'Runtime',
  getSystemJavaCompiler: 'JavaCompiler',
  getEngineByName: 'ScriptEngine',
  getEngineByExtension: 'ScriptEngine',
  getEngineByMimeType: 'ScriptEngine',
  getScriptEngine: 'ScriptEngine',
  mkToolBox: 'ToolBox',
};

const maxDepth = 20;
/** Of additions to one list. */
const maxWords = 20;
/** A longer text is no name. */
const maxName = 200;
const scopeFunctions = /^(?:let|also|use)$/;

export type JvmNames = ReturnType<typeof jvmNames>;

/** What the names of a file stand for. */
export function jvmNames(reading: Reading, grammar: JvmGrammar) {
  const { text } = reading;
  const language: JvmLanguage = jvmLanguages[grammar];
  const imports: string[] = [];
  /** Functions and, in Scala, classes that the file defines. */
  const own = new Set<string>();
  const aliases = new Map<string, string>();
  /** By what declares the name, so that namesakes stay apart. */
  const added = new Map<SyntaxNode, Map<string, SyntaxNode[]>>();
  const additions: { readonly list: SyntaxNode; readonly given: readonly SyntaxNode[] }[] = [];
  const names = readNames(reading, language, (match, all) => {
    const list = match.one('list');
    const method = match.one('method');
    const imported = match.one('import');
    const alias = match.one('alias');
    const about = match.one('about');
    const receiver = match.one('receiver');
    if (list) additions.push({ list, given: callAt(match.node)?.given ?? [] });
    if (method) own.add(text(method));
    if (imported) imports.push(text(imported).replace(/^import\s+|\s/g, ''));
    if (alias) aliases.set(text(alias), simpleType(text(match.one('real') ?? imported)));
    const lambda = match.one('lambda');
    if (about && lambda) {
      const parameters = lambda.children.find(({ type }) => type === 'lambda_parameters');
      const isNamed = scopeFunctions.test(text(match.one('function')));
      const name = isNamed ? text(parameters?.children[0]) || 'it' : 'this';
      all.give(lambda, name, { value: about, at: about.start });
    }
    // Behind the name is what it returns.
    const isExtended =
      receiver && receiver.start < (match.node.children.find((one) => all.isPlain(one))?.start ?? 0);
    if (isExtended) all.give(match.node, 'this', { type: text(receiver), at: receiver.start });
  });
  for (const { list, given } of additions) {
    const owner = names.ownerOf(text(list), list);
    if (!owner) continue;
    const known = added.get(owner) ?? new Map<string, SyntaxNode[]>();
    added.set(owner, known);
    const words = known.get(text(list)) ?? [];
    known.set(text(list), words);
    if (words.length < maxWords) words.push(...given);
  }
  return {
    imports,
    own,
    callAt,
    addedTo,
    bindingsOf: (name: SyntaxNode) => names.bindingsOf(name),
    behind: names.behind,
    /** The expression that another one is no more than. */
    same: (node: SyntaxNode | undefined) => names.same(node),
    typeOf,
    /** The type whose methods are called by their names alone: `with(runtime) { … }`. */
    typeAround: (node: SyntaxNode) => typeOfBindings(names.find('this', node) ?? [], 0),
    /** What a name was imported as. */
    alias: (name: string) => aliases.get(name),
    simple,
  };

  /** The call that a node is. */
  function callAt(node: SyntaxNode | undefined): JvmCall | undefined {
    const match = node && language.calls.mayFit(node) ? language.calls.at(node, text)[0] : undefined;
    const [constructed, reference] = [match?.one('made'), match?.one('reference')];
    const name = constructed ?? reference ?? match?.one('name');
    const object = match?.one('object');
    if (!match || !name || (reference && !isReference(object, reference))) return undefined;
    // What a call is given in Scala begins with a node for its bracket.
    const given = match.all('given').filter(({ type }) => type !== 'arguments' && !type.endsWith('comment'));
    return {
      node: match.node,
      object,
      name,
      given,
      kind: constructed ? 'new' : reference ? 'reference' : 'call',
    };
  }

  function isReference(object: SyntaxNode | undefined, name: SyntaxNode): boolean {
    return /^\s*(?:::|\.&)/.test(text({ ...name, start: object?.end ?? name.start }));
  }

  /** What was added to the list under a name, in order: `list.add(word)`, `line.addArgument(word)`. */
  function addedTo(name: SyntaxNode | undefined): readonly SyntaxNode[] {
    const owner = names.isPlain(name) ? names.ownerOf(text(name), name) : undefined;
    return (owner && added.get(owner)?.get(text(name))) ?? [];
  }

  /** The simple name of an expression's type, as declared or as its value tells. */
  function typeOf(node: SyntaxNode | undefined, depth = 0): string | undefined {
    if (!node || depth > maxDepth) return undefined;
    const match = language.expressions.mayFit(node) ? language.expressions.at(node, text)[0] : undefined;
    const cast = match?.one('type');
    if (cast) return simple(cast);
    const same = match?.one('same');
    if (same) return typeOf(same, depth + 1);
    if (/^(?:array_creation_expression|list)$/.test(node.type)) return '[]';
    const [left, right] = node.type === 'binary_op' ? node.children : [];
    // Groovy's casts are operators.
    if (left && right && /^\s+as\s+$/.test(text({ ...left, start: left.end, end: right.start })))
      return right.type === 'index' ? '[]' : simple(right);
    if (text(node) === 'this') return typeOfBindings(names.find('this', node) ?? [], depth);
    const { kind, name, object } = callAt(node) ?? {};
    if (kind === 'new') return simple(name);
    if (kind === 'call') {
      const method = text(name);
      const type = madeBy(undefined, method) ?? madeBy(typeOf(object, depth + 1), method);
      if (type !== undefined) return type;
      // `ScriptEngineManager()` makes what it names.
      if (!object) return /^[A-Z]/.test(method) ? simple(name) : undefined;
    }
    const given = names.bindingsOf(node);
    if (given.length > 0) return typeOfBindings(given, depth);
    const written = node.end - node.start < maxName ? text(node) : '';
    if (!/^\w[\w.\s]*$/.test(written)) return undefined;
    const type = simple(node);
    const isRuntime = type === 'runtime' || (type === 'rt' && own.size === 0);
    return language.isScript && isRuntime ? 'Runtime' : type;
  }

  function typeOfBindings(given: readonly Binding[], depth: number): string | undefined {
    for (const { type = '', value } of given) {
      if (type.includes('[]')) return '[]';
      const found = /^(?:var|val|def)?$/.test(type) ? typeOf(value, depth + 1) : aliased(type);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The simple name of a written type, aliases undone. */
  function simple(type: SyntaxNode | undefined): string {
    return aliased(text(type));
  }

  function aliased(type: string): string {
    const name = simpleType(type);
    return aliases.get(name) ?? name;
  }
}

/** The type that a call returns, by its method and the type of its receiver; that may be the same type. */
function madeBy(type: string | undefined, method: string): string | undefined {
  if (type === undefined) return Object.hasOwn(made, method) ? made[method] : undefined;
  if (type === 'JexlBuilder') return method === 'create' ? 'JexlEngine' : type;
  return makers.test(method) ? type : undefined;
}

/** A type's own name, without package and parameters. */
export function simpleType(type: string): string {
  const name = type
    .slice(0, maxName)
    .replace(/[<[].*$/s, '')
    .replace(/[?\s]/g, '');
  return name.slice(name.lastIndexOf('.') + 1);
}
