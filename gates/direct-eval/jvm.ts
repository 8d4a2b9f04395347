/* Direct execution in Java, Kotlin, Scala and Groovy. */
import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { type JvmGrammar, jvmLanguages } from '../../readers/source/names/jvm-languages.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { type TypedCall, type TypedNames, typedNames } from '../../readers/source/names/typed-names.ts';
import { type Hit, why } from './hits.ts';
import { isShell, passesShellText } from './shell-command.ts';

const handedText = 'hands a built command line to the system';
/** Methods that run a text as a command. */
const runs = /^(?:!!?<?|lineStream|lineStream_!|lazyLines|lazyLines_!|lines_!|run)$/;
const scalaLists = /^(?:Seq|List|Vector|Array|IndexedSeq|Process|:::?|\+\+:?|\+:|:\+)$/;
const textMethods = /^(?:format|formatted|concat|replace|mkString)$/;
const maxScalaDepth = 8;
/** Finds commands of `scala.sys.process` built at run time. A sequence is an argument list and not a hit. */
function scalaProcessHit(
  { text, literal, tree }: Reading,
  { names, own, callAt, simple }: TypedNames,
): ((call: TypedCall) => Hit | undefined) | undefined {
  if (!/\bsys\s*\.\s*process\b/.test(text(tree.root))) return undefined;
  return ({ node, object, name, given, kind }) => {
    const method = text(name);
    const maker = object && method === 'apply' ? object : name;
    const isFree = maker !== name || !object || /\bprocess\s*$/.test(text(object).slice(-maxName));
    const isMaker = kind === 'call' && isFree && /^(?:Process|stringToProcess)$/.test(simple(maker));
    if (isMaker && !own.has(text(maker)))
      return given[0] && isBuilt(given[0])
        ? { start: maker.start, end: node.end, call: text(maker), why: handedText }
        : undefined;
    if (!object || !runs.test(method) || !isBuilt(object)) return undefined;
    // Before a message (`actor ! text`) only a text is certain to be a command.
    return node.type !== 'infix_expression' || isText(object)
      ? { start: object.start, end: name.end, call: `….${method}`, why: handedText }
      : undefined;
  };

  function isText({ type }: SyntaxNode): boolean {
    return type === 'string' || type === 'interpolated_string_expression';
  }

  function isBuilt(given: SyntaxNode, depth = 0): boolean {
    const node = names.same(given);
    if (!node || depth > maxScalaDepth) return false;
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
        return (
          !scalaLists.test(text(operator)) && [left, right].some((one) => one && isBuilt(one, depth + 1))
        );
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
    if (name && !object) return !scalaLists.test(text(name));
    return value.type === 'string' ? false : value.type !== 'infix_expression' || isBuilt(value, depth);
  }
}

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
const anyMethod = new RegExp(
  Object.values(engines).reduce(
    (all, list) => list.reduce((said, [methods]) => `${said}|${methods.source}`, all),
    '^(?:exec|command)$',
  ),
);
const anyWord = new RegExp(
  `${anyMethod.source}|^(?:\\w*Evaluator|ProcessBuilder|CommandLine|GroovyShell|Eval|Process|stringToProcess|apply)$|${runs.source}`,
);
/** Nodes from the name of what is called to the call. */
const maxNameDepth = 3;
/** Nodes from a string to the call that is given it in lists. */
const maxListDepth = 12;
const lists = /^(?:listOf|mutableListOf|arrayOf|emptyArray|List|Seq|Vector|Array|IndexedSeq|of|asList|::)$/;
const maxDepth = 4;
/** Maximum length of a name, in characters. */
const maxName = 200;
/** A shell's words come first. */
const maxWords = 20;
/** Of lists within lists. */
const maxSteps = 100;

/** Direct execution by what the Java library offers, and in Scala by `scala.sys.process`. */
export function jvmHits(reading: Reading, grammar: JvmGrammar): readonly Hit[] {
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
  const worthwhile = worthwhileNodes();
  for (const node of worthwhile.size > 0 ? tree.nodes : []) {
    if (!worthwhile.has(node)) continue;
    const call = callAt(node);
    const hit =
      (call && (callHit(call) ?? processHit?.(call))) ?? (isJava ? undefined : wordsHit(node, call));
    if (hit) hits.push(hit);
  }
  return hits;

  /** Nodes around names that run something, and around names of shells; most nodes of most files are none. */
  function worthwhileNodes(): ReadonlySet<SyntaxNode> {
    const found = new Set<SyntaxNode>();
    for (const node of tree.nodes) {
      if (node.children.length > 0 || node.end - node.start > maxName) continue;
      const word = text(node);
      const depth = anyWord.test(typed.alias(word) ?? word)
        ? maxNameDepth
        : node.type.startsWith('string') && isShell(word.replaceAll('"', ''))
          ? maxListDepth
          : 0;
      for (let at = node.parent, steps = 0; at && steps < depth; at = at.parent, steps += 1) found.add(at);
    }
    return found;
  }

  function callHit(call: TypedCall): Hit | undefined {
    const { node, object, name, given, kind } = call;
    const found =
      kind === 'new' || (kind === 'call' && !object && /^[A-Z]/.test(text(name)))
        ? makerReason(call)
        : kind === 'reference' || given.length > 0
          ? methodReason(call)
          : undefined;
    const start =
      isJava && kind === 'call' ? (object ?? name).start : kind === 'call' ? name.start : node.start;
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
