import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import {
  type JavaNames,
  javaArguments,
  javaBehind,
  javaNames,
  javaTypeOf,
  simpleType,
} from './java-names.ts';
import type { Reading } from './reading.ts';
import { handsShellText } from './shell-words.ts';

/** Types whose `eval` and the like run a text, by method. */
const engines: Readonly<Record<string, RegExp>> = {
  ScriptEngine: /^(?:eval|compile)$/,
  NashornScriptEngine: /^(?:eval|compile)$/,
  Compilable: /^compile$/,
  Invocable: /^eval$/,
  GroovyShell: /^(?:evaluate|parse|run)$/,
  GroovyScriptEngine: /^(?:run|createScript)$/,
  JShell: /^eval$/,
  MVEL: /^(?:eval|executeExpression|compileExpression)\w*$/,
  Eval: /^(?:me|x|xy|xyz)$/,
};
const why = { code: 'evaluates a string as code', shell: 'hands a command line to the system' };

/** Direct execution in Java (and Groovy, as far as it is written like Java). */
export function javaHits(reading: Reading): readonly Hit[] {
  const facts = javaNames(reading);
  const hits: Hit[] = [];
  for (const node of reading.tree.nodes) {
    const hit =
      node.type === 'method_invocation'
        ? callHit(reading, facts, node)
        : node.type === 'object_creation_expression'
          ? builderHit(reading, facts, node)
          : node.type === 'method_reference'
            ? referenceHit(reading, facts, node)
            : undefined;
    if (hit) hits.push(hit);
  }
  return hits;
}

function callHit(reading: Reading, facts: JavaNames, node: SyntaxNode): Hit | undefined {
  const { text } = reading;
  const name = childOf(node, 'name');
  const object = childOf(node, 'object');
  const given = javaArguments(node);
  if (!name || given.length === 0) return undefined;
  const word = text(name);
  const hit = (call: string, reason: string): Hit => ({
    start: (object ?? name).start,
    end: node.end,
    also: [name.start],
    call,
    why: reason,
  });
  const type = javaTypeOf(reading, facts, object);
  if (word === 'exec' && type === 'Runtime') {
    if (!isArray(reading, facts, given[0])) return hit('Runtime.exec', why.shell);
    return handsShellText(wordsOf(reading, facts, given))
      ? hit('Runtime.exec', 'hands a command line to a shell')
      : undefined;
  }
  const runs = type === undefined ? undefined : Object.hasOwn(engines, type) ? engines[type] : undefined;
  if (runs?.test(word)) return hit(`${type}.${word}`, why.code);
  const has = (part: string) => facts.imports.some((path) => path.startsWith(part));
  if (type === 'Interpreter' && word === 'eval' && has('bsh.')) return hit('Interpreter.eval', why.code);
  if (
    type === 'Context' &&
    ((word === 'eval' && has('org.graalvm.polyglot')) ||
      (word === 'evaluateString' && has('org.mozilla.javascript')))
  )
    return hit(`Context.${word}`, why.code);
  const isBuilder = word === 'command' && type === 'ProcessBuilder';
  return isBuilder && handsShellText(wordsOf(reading, facts, given))
    ? hit('ProcessBuilder', 'hands a command line to a shell')
    : undefined;
}

function builderHit(reading: Reading, facts: JavaNames, node: SyntaxNode): Hit | undefined {
  if (simpleType(reading.text(childOf(node, 'type'))) !== 'ProcessBuilder') return undefined;
  if (!handsShellText(wordsOf(reading, facts, javaArguments(node)))) return undefined;
  return { start: node.start, end: node.end, call: 'ProcessBuilder', why: 'hands a command line to a shell' };
}

/** `Runtime.getRuntime()::exec`. */
function referenceHit(reading: Reading, facts: JavaNames, node: SyntaxNode): Hit | undefined {
  const type = javaTypeOf(reading, facts, node.children[0]);
  const name = reading.text(node.children.at(-1));
  const runs = type === undefined ? undefined : Object.hasOwn(engines, type) ? engines[type] : undefined;
  if (!(type === 'Runtime' && name === 'exec') && !runs?.test(name)) return undefined;
  return {
    start: node.start,
    end: node.end,
    call: `${type}::${name}`,
    why: type === 'Runtime' ? why.shell : why.code,
  };
}

function isArray(reading: Reading, facts: JavaNames, node: SyntaxNode | undefined): boolean {
  return (
    javaTypeOf(reading, facts, node) === '[]' ||
    /^(?:array_creation_expression|array_initializer)$/.test(javaBehind(reading, facts, node)?.type ?? '')
  );
}

/** Arguments as words; arrays and `List.of(…)` taken apart. */
function wordsOf(
  reading: Reading,
  facts: JavaNames,
  given: readonly SyntaxNode[],
): readonly (string | undefined)[] {
  const { literal, text } = reading;
  return given.flatMap((argument) => {
    const value = javaBehind(reading, facts, argument);
    const items =
      value?.type === 'array_creation_expression'
        ? childOf(value, 'value')?.children
        : value?.type === 'array_initializer'
          ? value.children
          : value?.type === 'method_invocation' &&
              /^(?:of|asList|listOf|copyOf)$/.test(text(childOf(value, 'name')))
            ? javaArguments(value)
            : value?.type === 'object_creation_expression' && /List/.test(text(childOf(value, 'type')))
              ? javaArguments(value).flatMap((inner) =>
                  inner.type === 'method_invocation' ? javaArguments(inner) : [],
                )
              : undefined;
    return items ? items.map((item) => literal(javaBehind(reading, facts, item))) : [literal(value)];
  });
}
