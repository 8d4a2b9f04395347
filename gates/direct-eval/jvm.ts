/* Direct execution in Java, Kotlin, Scala and Groovy; in Java also unsafe calls and settings. */
import {
  ancestorOf,
  argumentsOf,
  childOf,
  type GrammarName,
  type SyntaxNode,
} from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import {
  simpleType,
  type TypedCall,
  type TypedLanguage,
  type TypedNames,
  typedNames,
} from '../../readers/source/names/typed-names.ts';
import { Query } from '../../readers/source/query/query.ts';
import { collectHits, type Hit, returnsTrue, sastHit, why } from './hits.ts';
import { isShell, passesShellText } from './shell-command.ts';

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

/**
 * How a type of the Java platform runs a text. `from`: a package that the file has to name, where other types have the
 * same name. `expression`: of an expression language, the argument that holds one; one that is written down is part of
 * the program.
 */
type Engine = readonly [methods: RegExp, from?: RegExp | undefined, expression?: number];

const evaluator: Engine = [/^(?:cook|createFastEvaluator)$/, /^org\.codehaus/];
const engines: Readonly<Record<string, readonly Engine[]>> = {
  ScriptEngine: [[/^(?:eval|compile)$/]],
  NashornScriptEngine: [[/^(?:eval|compile)$/]],
  Compilable: [[/^compile$/]],
  Invocable: [[/^eval$/]],
  GroovyShell: [[/^(?:evaluate|parse|run)$/]],
  GroovyScriptEngine: [[/^(?:run|createScript)$/]],
  GroovyClassLoader: [[/^parseClass$/]],
  JShell: [[/^eval$/]],
  MVEL: [[/^(?:eval|executeExpression|compileExpression)\w*$/]],
  Eval: [[/^(?:me|x|xy|xyz)$/]],
  Interpreter: [[/^eval$/, /^bsh/]],
  Context: [
    [/^eval$/, /^org\.graalvm\.polyglot/],
    [/^(?:evaluate|compile)(?:String|Reader)$/, /^org\.mozilla\.javascript/],
  ],
  SpelExpressionParser: [[/^parse(?:Expression|Raw)$/, undefined, 0]],
  ExpressionParser: [[/^parse(?:Expression|Raw)$/, /^org\.springframework\.expression/, 0]],
  Ognl: [[/^(?:getValue|setValue|parseExpression|compileExpression)$/, undefined, 0]],
  JexlEngine: [[/^create(?:Expression|Script)$/, undefined, 0]],
  ELProcessor: [[/^(?:eval|getValue|setValue)$/, undefined, 0]],
  ExpressionFactory: [[/^create(?:Value|Method)Expression$/, /^(?:javax|jakarta)\.el/, 1]],
  ExpressionEvaluator: [evaluator],
  ScriptEvaluator: [evaluator],
  ClassBodyEvaluator: [evaluator],
  SimpleCompiler: [evaluator],
  PythonInterpreter: [[/^(?:exec|eval|compile)$/, /^org\.python/]],
  ScriptingContainer: [[/^(?:runScriptlet|parse)$/, /^org\.jruby/]],
  JavaCompiler: [[/^(?:getTask|run)$/, /^javax\.tools/]],
  ToolBox: [[/^(?:eval|compile)$/]],
  IMain: [[/^interpret$/]],
};
/** Where the file does not show the type: the name of the object, and a type that the file names. */
const guesses: readonly (readonly [type: string, methods: RegExp, object: RegExp, named: RegExp])[] = [
  ['ToolBox', /^(?:eval|compile)$/, /tool_?box$|^tb$/i, /\b(?:mkToolBox|ToolBox)\b/],
  ['ScriptEngine', /^eval$/, /engine/i, /\bScriptEngine/],
  ['BasicJvmScriptingHost', /^eval$/, /^/, /\bBasicJvmScriptingHost\b/],
  ['IMain', /^interpret$/, /^/, /\bIMain\b/],
];
/** Methods that run a text as a command. */
const runs = /^(?:!!?<?|lineStream|lineStream_!|lazyLines|lazyLines_!|lines_!|run)$/;
const anyMethod = new RegExp(
  Object.values(engines).reduce(
    (all, list) => list.reduce((said, [methods]) => `${said}|${methods.source}`, all),
    '^(?:exec|command)$',
  ),
);
const anyWord = new RegExp(
  `${anyMethod.source}|^(?:\\w*Evaluator|ProcessBuilder|CommandLine|GroovyShell|Eval|Process|stringToProcess|apply)$|${runs.source}`,
);
const lists = /^(?:listOf|mutableListOf|arrayOf|emptyArray|List|Seq|Vector|Array|IndexedSeq|of|asList|::)$/;
const maxDepth = 4;
/** A shell's words come first. */
const maxWords = 20;
/** Of lists within lists. */
const maxSteps = 100;

/** Direct execution by what the Java library offers, and in Scala by `scala.sys.process`. */
export function jvmHits(reading: Reading, grammar: keyof typeof jvmLanguages): readonly Hit[] {
  const { text, literal, opening, tree } = reading;
  const typed = typedNames(reading, jvmLanguages[grammar]);
  const { typeOf, addedTo, callAt, own, imports } = typed;
  const { behind } = typed.names;
  const isJava = grammar === 'java';
  const processHit = grammar === 'scala' ? scalaProcessHit(reading, typed) : undefined;
  const named = new Map<RegExp, boolean>();
  const hits: Hit[] = [];
  /** Where the last list of words for a shell ends. */
  let listEnd = 0;
  const hasShell =
    !isJava && tree.nodes.some((node) => node.type.startsWith('string') && isShell(literal(node)));
  // A call is at most three nodes around its name; most nodes of most files are around no such name.
  const near = new Set<SyntaxNode | undefined>();
  for (const node of tree.nodes)
    if (node.children.length === 0 && anyWord.test(typed.simple(node)))
      near.add(node.parent).add(node.parent?.parent).add(node.parent?.parent?.parent);
  for (const node of hasShell ? tree.nodes : tree.nodes.filter((one) => near.has(one))) {
    const call = callAt(node);
    const hit =
      (call && (callHit(call) ?? processHit?.(call))) ?? (hasShell ? wordsHit(node, call) : undefined);
    if (hit) hits.push(hit);
  }
  return isJava ? [...hits, ...javaHits(reading, typed)] : hits;

  function callHit(call: TypedCall): Hit | undefined {
    const { node, object, name, given, kind } = call;
    const found =
      kind === 'new' || (kind === 'call' && !object && /^[A-Z]/.test(text(name)))
        ? makerReason(call)
        : kind === 'reference' || given.length > 0
          ? methodReason(call)
          : undefined;
    const { start } = isJava || kind !== 'call' ? node : name;
    return found && { start, end: node.end, also: [name.start], ...found };
  }

  /** `new ProcessBuilder("sh", "-c", line)`; Commons Exec's `CommandLine`, filled in afterwards; Janino. */
  function makerReason({ node, name, given }: TypedCall): Pick<Hit, 'call' | 'why'> | undefined {
    const call = typed.simple(name);
    if (
      given.length > 0 &&
      /^(?:Expression|Script|ClassBody)Evaluator$/.test(call) &&
      isNamed(/^org\.codehaus/)
    )
      return { call, why: why.code };
    if (!isJava)
      return call === 'GroovyShell' || (call === 'Eval' && isNamed(/^com\.twitter\.util/))
        ? { call, why: why.code }
        : undefined;
    const added = call === 'CommandLine' ? addedTo(childOf(node.parent, 'name')) : [];
    return /^(?:ProcessBuilder|CommandLine)$/.test(call) && handsText([...given, ...added])
      ? { call, why: why.handed }
      : undefined;
  }

  function methodReason({
    node,
    object,
    name,
    given,
    kind,
  }: TypedCall): Pick<Hit, 'call' | 'why'> | undefined {
    const method = text(name);
    if (!anyMethod.test(method) || (!object && own.has(method))) return undefined;
    const type = (object ? typeOf(object) : typed.typeAround(node)) ?? importedFrom(method);
    const call = `${type ?? ''}${kind === 'reference' ? '::' : '.'}${method}`;
    if (type === 'Runtime' && method === 'exec' && !isArray(given[0])) return { call, why: why.system };
    if (isJava && /^(?:Runtime\.exec|ProcessBuilder\.command)$/.test(call))
      return handsText(given) ? { call: call.replace('.command', ''), why: why.handed } : undefined;
    const engine =
      type !== undefined && Object.hasOwn(engines, type)
        ? engines[type]?.find(([methods, from]) => methods.test(method) && (!from || isNamed(from)))
        : undefined;
    const isWritten = engine?.[2] !== undefined && literal(behind(given[engine[2]])) !== undefined;
    if (engine) return isWritten ? undefined : { call, why: why.code };
    if (isJava || !object || /^[A-Z[]/.test(type ?? '')) return undefined;
    const owner = lastName(callAt(object)?.name ?? object);
    const guess = guesses.find(
      ([, methods, form, words]) => methods.test(method) && form.test(owner) && isWrittenIn(words),
    );
    return guess && { call: `${guess[0]}.${method}`, why: why.code };
  }

  /** The type that lends a method: `import static ognl.Ognl.getValue`. */
  function importedFrom(method: string): string | undefined {
    if (own.has(method)) return undefined;
    const path = imports.find((one) => one.endsWith(`.${method}`));
    return path?.split('.').at(-2);
  }

  /** By an import, or by a name that is written out. */
  function isNamed(space: RegExp): boolean {
    return imports.some((path) => space.test(path)) || isWrittenIn(space);
  }

  function isWrittenIn(form: RegExp): boolean {
    const known = named.get(form);
    if (known !== undefined) return known;
    const words = form.source.startsWith('^') ? new RegExp(`${form.source.replace('^', '\\b')}\\.`) : form;
    const found = words.test(text(tree.root));
    named.set(form, found);
    return found;
  }

  /** `"sh", "-c", line` in any list or call, and `"cmd.exe", "/c " + line`. */
  function wordsHit(node: SyntaxNode, call: TypedCall | undefined): Hit | undefined {
    if (node.start < listEnd || (!call && node.type !== 'list')) return undefined;
    const words = leavesOf(!call || lists.test(text(call.name)) ? [node] : call.given);
    const said = words.map(literal);
    const at = said.findIndex(isShell);
    const [shell, flag, program = ''] = [words[at], words[at + 1], said[at]];
    if (!shell || !flag || !passesShellText(said, words.map(opening))) return undefined;
    listEnd = node.end;
    const written = `${program} ${(said[at + 1] ?? opening(flag)).slice(0, 10)}`.trim();
    return { start: shell.start, end: node.end, also: [flag.start], call: written, why: why.handed };
  }

  function isArray(node: SyntaxNode | undefined): boolean {
    const value = (isJava ? behind(node) : undefined) ?? node;
    return typeOf(node) === '[]' || (value !== undefined && itemsOf(value) !== undefined);
  }

  function handsText(given: readonly SyntaxNode[]): boolean {
    const words = leavesOf(given);
    return passesShellText(words.map(literal), words.map(opening));
  }

  /** Arguments, and what lists among them hold; in Java names are followed, elsewhere their lists are seen first. */
  function leavesOf(given: readonly SyntaxNode[]): readonly SyntaxNode[] {
    const pending = given.slice(0, maxWords);
    const found: SyntaxNode[] = [];
    for (let steps = 0; steps < maxSteps && found.length < maxWords; steps += 1) {
      const argument = pending.shift();
      if (!argument) break;
      const value = (isJava ? behind(argument) : undefined) ?? argument;
      const items = itemsOf(value);
      if (items) pending.unshift(...items.slice(0, maxWords), ...addedTo(argument).slice(0, maxWords));
      else found.push(value);
    }
    return found;
  }

  /** The items of an array, `List.of(…)`, `new ArrayList<>(List.of(…))`, `Stream.of(…).toList()` or a copy. */
  function itemsOf(value: SyntaxNode, depth = 0): readonly SyntaxNode[] | undefined {
    if (value.type === 'array_creation_expression') return childOf(value, 'value')?.children;
    if (/^(?:array_initializer|list)$/.test(value.type)) return value.children;
    const { kind, name, object, given = [] } = callAt(value) ?? {};
    const method = text(name);
    if (kind === 'new' && isJava) return /List/.test(method) ? given : undefined;
    if (lists.test(method)) return object && method === '::' ? [object, ...given] : given;
    const copied =
      method === 'copyOf' ? given[0] : /^to(?:List|Array)$|^collect$/.test(method) ? object : undefined;
    return copied && depth < maxDepth ? itemsOf(copied, depth + 1) : undefined;
  }

  function lastName(node: SyntaxNode): string {
    return /\w*\W*$/.exec(text(node).slice(-80))?.[0].replace(/\W/g, '') ?? '';
  }
}

const readers = /^(?:ObjectInputStream|ObjectInput|XMLDecoder)$/;
const takers = /^(?:setHostnameVerifier|setDefaultHostnameVerifier|hostnameVerifier|setSSLHostnameVerifier)$/;
const takingAll =
  /(?:^|\.)(?:NoopHostnameVerifier\.INSTANCE|ALLOW_ALL_HOSTNAME_VERIFIER|TrustAllStrategy(?:\.INSTANCE)?)$/;
const takingAllTypes = /^(?:NoopHostnameVerifier|AllowAllHostnameVerifier|TrustAllStrategy)$/;

/** Unsafe calls and settings in Java. */
function javaHits(reading: Reading, { names, typeOf }: TypedNames): readonly Hit[] {
  const { tree, text } = reading;
  const { behind } = names;
  return collectHits(tree, {
    method_invocation: (node) => readsObject(node) ?? takesAnyHost(node) ?? fetchesEntities(node),
    method_declaration: trustsAll,
    field_access: (node) =>
      takingAll.test(text(node)) && !isPartOfAccess(node)
        ? sastHit('sast/java-tls-unverified', node, text(node))
        : undefined,
    object_creation_expression: (node) =>
      takingAllTypes.test(simpleType(text(childOf(node, 'type'))))
        ? sastHit('sast/java-tls-unverified', node, `new ${simpleType(text(childOf(node, 'type')))}`)
        : undefined,
  });

  function isPartOfAccess(node: SyntaxNode): boolean {
    return node.parent?.type === 'field_access';
  }

  function readsObject(node: SyntaxNode): Hit | undefined {
    const word = text(childOf(node, 'name'));
    if (!/^read(?:Object|Unshared)$/.test(word) || argumentsOf(node).length > 0) return undefined;
    const object = childOf(node, 'object');
    const type = typeOf(object);
    if (type === undefined || !readers.test(type)) return undefined;
    // A hook that the stream calls while it reads is not a separate entry point.
    const method = ancestorOf(node, 'method_declaration');
    if (/^read(?:Object|External)$/.test(text(childOf(method, 'name')))) return undefined;
    if (object?.type === 'identifier' && isFiltered(text(object))) return undefined;
    return sastHit('sast/java-unsafe-deserialization', node, `${type}.${word}`);
  }

  function isFiltered(name: string): boolean {
    return tree.nodes.some(
      (one) =>
        one.type === 'method_invocation' &&
        /^set(?:Object)?InputFilter$|^setObjectInputFilter$/.test(text(childOf(one, 'name'))) &&
        (text(childOf(one, 'object')) === name || argumentsOf(one).some((given) => text(given) === name)),
    );
  }

  function trustsAll(node: SyntaxNode): Hit | undefined {
    const name = childOf(node, 'name');
    const body = childOf(node, 'body');
    if (!name || !body) return undefined;
    const statements = body.children.filter(({ type }) => !type.endsWith('comment'));
    const word = text(name);
    if (word === 'checkServerTrusted') {
      const isEmpty = statements.every((one) => one.type === 'return_statement' && one.children.length === 0);
      return isEmpty ? { ...sastHit('sast/java-tls-unverified', node, word), start: name.start } : undefined;
    }
    const parameters = childOf(node, 'parameters')?.children ?? [];
    const isVerifier =
      word === 'verify' &&
      parameters.length === 2 &&
      simpleType(text(childOf(parameters[1], 'type'))) === 'SSLSession';
    return isVerifier && returnsTrue(text, body)
      ? { ...sastHit('sast/java-tls-unverified', node, word), start: name.start }
      : undefined;
  }

  /** `connection.setHostnameVerifier((host, session) -> true)`. */
  function takesAnyHost(node: SyntaxNode): Hit | undefined {
    const word = text(childOf(node, 'name'));
    if (!takers.test(word)) return undefined;
    const given = behind(argumentsOf(node)[0]);
    if (given?.type !== 'lambda_expression' || !returnsTrue(text, childOf(given, 'body'))) return undefined;
    return sastHit('sast/java-tls-unverified', node, word);
  }

  /** A hit for a reader from a local factory without settings: its parser fetches external entities. */
  function fetchesEntities(node: SyntaxNode): Hit | undefined {
    if (!/^createXML(?:Stream|Event)Reader$/.test(text(childOf(node, 'name'))) || !reading.isWhole)
      return undefined;
    const factory = childOf(node, 'object');
    const made = behind(factory);
    if (made?.type !== 'method_invocation' || argumentsOf(made).length > 0) return undefined;
    const isNew =
      text(childOf(made, 'object')).replace(/^.*\./s, '') === 'XMLInputFactory' &&
      /^(?:newInstance|newFactory|newDefaultFactory)$/.test(text(childOf(made, 'name')));
    if (!isNew || (factory && factory !== made && isTouched(text(factory)))) return undefined;
    return sastHit('sast/java-xml-external-entities', node, 'XMLInputFactory');
  }

  /** Whether code sets an option on a variable, or passes it to a method that may. */
  function isTouched(name: string): boolean {
    return tree.nodes.some((one) => {
      if (one.type !== 'method_invocation') return false;
      if (argumentsOf(one).some((given) => text(given) === name)) return true;
      return text(childOf(one, 'object')) === name && /^set/.test(text(childOf(one, 'name')));
    });
  }
}

const builtLine = 'hands a built command line to the system';
const sequences = /^(?:Seq|List|Vector|Array|IndexedSeq|Process|:::?|\+\+:?|\+:|:\+)$/;
const textMethods = /^(?:format|formatted|concat|replace|mkString)$/;

/** Finds commands of `scala.sys.process` built at run time. A sequence is an argument list and not a hit. */
function scalaProcessHit(
  { text, literal, tree }: Reading,
  { names, own, callAt, simple }: TypedNames,
): ((call: TypedCall) => Hit | undefined) | undefined {
  if (!/\bsys\s*\.\s*process\b/.test(text(tree.root))) return undefined;
  return ({ node, object, name, given, kind }) => {
    const method = text(name);
    const maker = object && method === 'apply' ? object : name;
    const isFree = maker !== name || !object || /\bprocess\s*$/.test(text(object).slice(-200));
    const isMaker = kind === 'call' && isFree && /^(?:Process|stringToProcess)$/.test(simple(maker));
    if (isMaker && !own.has(text(maker)))
      return given[0] && isBuilt(given[0])
        ? { start: maker.start, end: node.end, call: text(maker), why: builtLine }
        : undefined;
    if (!object || !runs.test(method) || !isBuilt(object)) return undefined;
    // Before a message (`actor ! text`) only a text is certain to be a command.
    return node.type !== 'infix_expression' || isText(object)
      ? { start: object.start, end: name.end, call: `….${method}`, why: builtLine }
      : undefined;
  };

  function isText({ type }: SyntaxNode): boolean {
    return type === 'string' || type === 'interpolated_string_expression';
  }

  function isBuilt(given: SyntaxNode, depth = 0): boolean {
    const node = names.same(given);
    if (!node || depth > maxDepth * 2) return false;
    switch (node.type) {
      case 'interpolated_string_expression':
        return node.children.some(({ children }) => children.length > 0);
      case 'identifier': {
        const [{ type = '', value } = {}] = names.bindingsOf(node);
        return type === '' ? !value || isBuiltValue(value, depth + 1) : type === 'String';
      }
      case 'infix_expression': {
        const [left, operator, right] = node.children;
        if (text(operator) === '+') return literal(node) === undefined;
        return !sequences.test(text(operator)) && [left, right].some((one) => one && isBuilt(one, depth + 1));
      }
      case 'if_expression':
        return node.children.slice(1).some((one) => isBuilt(one, depth + 1));
      case 'field_expression':
        return true;
    }
    const { name, object } = callAt(node) ?? {};
    const method = text(name);
    return textMethods.test(method) && object !== undefined && (method === 'mkString' || isText(object));
  }

  /** What a name was declared as: a list is known, and a literal; all else may be built. */
  function isBuiltValue(value: SyntaxNode, depth: number): boolean {
    const { name, object } = callAt(value) ?? {};
    if (name && !object) return !sequences.test(text(name));
    return value.type === 'string' ? false : value.type !== 'infix_expression' || isBuilt(value, depth);
  }
}
