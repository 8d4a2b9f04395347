import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import {
  type JavaNames,
  javaArguments,
  javaNames,
  simpleType,
} from '../../readers/source/names/java-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { collectHits, type Hit } from './hit.ts';
import { engineOf, isEngineMethod, madeBy } from './jvm-engines.ts';
import { handsShellText } from './shell-words.ts';

const why = { code: 'evaluates a string as code', shell: 'hands a command line to the system' };

/** Direct execution in Java (and Groovy, as far as it is written like Java). */
export function javaHits(reading: Reading): readonly Hit[] {
  const facts = javaNames(reading, madeBy);
  return collectHits(reading.tree, {
    method_invocation: (node) => callHit(reading, facts, node),
    object_creation_expression: (node) => builderHit(reading, facts, node),
    method_reference: (node) => referenceHit(reading, facts, node),
  });
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
  if (word === 'command') {
    const isBuilder = facts.typeOf(object) === 'ProcessBuilder';
    return isBuilder && handsShellText(wordsOf(reading, facts, given))
      ? hit('ProcessBuilder', 'hands a command line to a shell')
      : undefined;
  }
  if (!isEngineMethod(word)) return undefined;
  const type = object ? facts.typeOf(object) : importedFrom(facts, word);
  if (word === 'exec' && type === 'Runtime') {
    if (!isArray(facts, given[0])) return hit('Runtime.exec', why.shell);
    return handsShellText(wordsOf(reading, facts, given))
      ? hit('Runtime.exec', 'hands a command line to a shell')
      : undefined;
  }
  const engine = engineOf(type, word, (space) => isNamed(reading, facts, space));
  if (!engine) return undefined;
  const isWritten =
    engine.expression !== undefined &&
    reading.literal(facts.names.behind(given[engine.expression])) !== undefined;
  return isWritten ? undefined : hit(`${type}.${word}`, why.code);
}

/** The type that lends a method: `import static ognl.Ognl.getValue`. */
function importedFrom({ imports, ownMethods }: JavaNames, method: string): string | undefined {
  if (ownMethods.has(method)) return undefined;
  return imports
    .find((path) => path.endsWith(`.${method}`))
    ?.split('.')
    .at(-2);
}

/** By an import, or by a name that is written out. */
function isNamed({ tree, text }: Reading, { imports }: JavaNames, space: string): boolean {
  return imports.some((path) => path.startsWith(space)) || text(tree.root).includes(`${space}.`);
}

/**
 * `new ProcessBuilder("sh", "-c", line)`; Commons Exec's `CommandLine`, filled in afterwards; what compiles the text
 * that it is made with.
 */
function builderHit(reading: Reading, facts: JavaNames, node: SyntaxNode): Hit | undefined {
  const type = simpleType(reading.text(childOf(node, 'type')));
  const given = javaArguments(node);
  const hit = (reason: string): Hit => ({ start: node.start, end: node.end, call: type, why: reason });
  if (/^(?:Expression|Script|ClassBody)Evaluator$/.test(type) && given.length > 0)
    return isNamed(reading, facts, 'org.codehaus') ? hit(why.code) : undefined;
  if (type !== 'ProcessBuilder' && type !== 'CommandLine') return undefined;
  const name = node.parent?.type === 'variable_declarator' ? childOf(node.parent, 'name') : undefined;
  const words = type === 'CommandLine' ? [...given, ...facts.addedTo(name)] : given;
  return handsShellText(wordsOf(reading, facts, words)) ? hit('hands a command line to a shell') : undefined;
}

/** `Runtime.getRuntime()::exec`. */
function referenceHit(reading: Reading, facts: JavaNames, node: SyntaxNode): Hit | undefined {
  const type = facts.typeOf(node.children[0]);
  const name = reading.text(node.children.at(-1));
  if (
    !(type === 'Runtime' && name === 'exec') &&
    !engineOf(type, name, (space) => isNamed(reading, facts, space))
  )
    return undefined;
  return {
    start: node.start,
    end: node.end,
    call: `${type}::${name}`,
    why: type === 'Runtime' ? why.shell : why.code,
  };
}

function isArray(facts: JavaNames, node: SyntaxNode | undefined): boolean {
  return (
    facts.typeOf(node) === '[]' ||
    /^(?:array_creation_expression|array_initializer)$/.test(facts.names.behind(node)?.type ?? '')
  );
}

/** Arguments as words; arrays and lists taken apart. */
function wordsOf(
  reading: Reading,
  facts: JavaNames,
  given: readonly SyntaxNode[],
  depth = 0,
): readonly (string | undefined)[] {
  const { literal } = reading;
  return given.flatMap((argument) => {
    const value = facts.names.behind(argument);
    const items = value && itemsOf(reading, value);
    if (!items || depth > 2) return [literal(value)];
    return [
      ...items.map((item) => literal(facts.names.behind(item))),
      ...wordsOf(reading, facts, facts.addedTo(argument), depth + 1),
    ];
  });
}

/** The items of an array, of `List.of(…)`, of `new ArrayList<>(List.of(…))`, of `Stream.of(…).toList()`, of a copy. */
function itemsOf(reading: Reading, value: SyntaxNode, depth = 0): readonly SyntaxNode[] | undefined {
  const { text } = reading;
  if (value.type === 'array_creation_expression') return childOf(value, 'value')?.children;
  if (value.type === 'array_initializer') return value.children;
  const given = javaArguments(value);
  if (value.type === 'object_creation_expression')
    return /List/.test(text(childOf(value, 'type')))
      ? given.flatMap((inner) => (inner.type === 'method_invocation' ? javaArguments(inner) : []))
      : undefined;
  if (value.type !== 'method_invocation' || depth > 4) return undefined;
  const name = text(childOf(value, 'name'));
  if (/^(?:of|asList|listOf)$/.test(name)) return given;
  if (name === 'copyOf') return given[0] && itemsOf(reading, given[0], depth + 1);
  const object = childOf(value, 'object');
  return object && /^(?:toList|toArray|collect)$/.test(name)
    ? itemsOf(reading, object, depth + 1)
    : undefined;
}
