import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { javaNames, simpleType } from '../../readers/source/names/java-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { why } from './calls.ts';
import { collectHits, type Hit } from './hit.ts';
import { engineOf, isEngineMethod, madeBy } from './jvm-engines.ts';
import { handsShellText } from './shell-words.ts';

const maxDepth = 4;

/** Direct execution in Java. */
export function javaHits(reading: Reading): readonly Hit[] {
  const { text, literal, tree } = reading;
  const facts = javaNames(reading, madeBy);
  const { typeOf, addedTo, behind } = facts;
  return collectHits(tree, {
    method_invocation(node) {
      const name = childOf(node, 'name');
      const object = childOf(node, 'object');
      const given = argumentsOf(node);
      if (!name || given.length === 0) return undefined;
      const method = text(name);
      if (method !== 'command' && !isEngineMethod(method)) return undefined;
      const type = object ? typeOf(object) : importedFrom(method);
      const found = reasonOf(type, method, given);
      const place = { start: (object ?? name).start, end: node.end, also: [name.start] };
      return found && { ...place, ...found };
    },
    // `new ProcessBuilder("sh", "-c", line)`; Commons Exec's `CommandLine`, filled in afterwards; Janino.
    object_creation_expression(node) {
      const { start, end, parent } = node;
      const call = simpleType(text(childOf(node, 'type')));
      const given = argumentsOf(node);
      if (/^(?:Expression|Script|ClassBody)Evaluator$/.test(call))
        return given.length > 0 && isNamed(/^org\.codehaus/)
          ? { start, end, call, why: why.code }
          : undefined;
      const added = call === 'CommandLine' ? addedTo(childOf(parent, 'name')) : [];
      return /^(?:ProcessBuilder|CommandLine)$/.test(call) && handsShellText(wordsOf([...given, ...added]))
        ? { start, end, call, why: why.handed }
        : undefined;
    },
    // `Runtime.getRuntime()::exec`.
    method_reference({ start, end, children }) {
      const type = typeOf(children[0]);
      const name = text(children.at(-1));
      const isRuntime = type === 'Runtime' && name === 'exec';
      return isRuntime || engineOf(type, name, isNamed)
        ? { start, end, call: `${type}::${name}`, why: isRuntime ? why.system : why.code }
        : undefined;
    },
  });

  function reasonOf(
    type: string | undefined,
    method: string,
    given: readonly SyntaxNode[],
  ): Pick<Hit, 'call' | 'why'> | undefined {
    const isExec = type === 'Runtime' && method === 'exec';
    if (isExec && !isArray(given[0])) return { call: 'Runtime.exec', why: why.system };
    if (isExec || (type === 'ProcessBuilder' && method === 'command'))
      return handsShellText(wordsOf(given))
        ? { call: isExec ? 'Runtime.exec' : type, why: why.handed }
        : undefined;
    const engine = engineOf(type, method, isNamed);
    const isWritten = engine?.[2] !== undefined && literal(behind(given[engine[2]])) !== undefined;
    return engine && !isWritten ? { call: `${type}.${method}`, why: why.code } : undefined;
  }

  /** The type that lends a method: `import static ognl.Ognl.getValue`. */
  function importedFrom(method: string): string | undefined {
    if (facts.ownMethods.has(method)) return undefined;
    return facts.imports
      .find((path) => path.endsWith(`.${method}`))
      ?.split('.')
      .at(-2);
  }

  /** By an import, or by a name that is written out. */
  function isNamed(space: RegExp): boolean {
    return facts.imports.some((path) => space.test(path)) || written(space).test(text(tree.root));
  }

  function isArray(node: SyntaxNode | undefined): boolean {
    return (
      typeOf(node) === '[]' || /^array_(?:creation_expression|initializer)$/.test(behind(node)?.type ?? '')
    );
  }

  /** Arguments as words; arrays and lists taken apart. */
  function wordsOf(given: readonly SyntaxNode[], depth = 0): readonly (string | undefined)[] {
    return given.flatMap((argument) => {
      const value = behind(argument);
      const items = value && itemsOf(value);
      return items && depth < maxDepth
        ? [...items.map((item) => literal(behind(item))), ...wordsOf(addedTo(argument), depth + 1)]
        : [literal(value)];
    });
  }

  /** The items of an array, `List.of(…)`, `new ArrayList<>(List.of(…))`, `Stream.of(…).toList()` or a copy. */
  function itemsOf(value: SyntaxNode, depth = 0): readonly SyntaxNode[] | undefined {
    if (value.type === 'array_creation_expression') return childOf(value, 'value')?.children;
    if (value.type === 'array_initializer') return value.children;
    const given = argumentsOf(value);
    if (value.type === 'object_creation_expression')
      return /List/.test(text(childOf(value, 'type'))) ? given.flatMap(argumentsOf) : undefined;
    const name = text(childOf(value, 'name'));
    if (value.type !== 'method_invocation' || depth > maxDepth) return undefined;
    if (/^(?:of|asList|listOf)$/.test(name)) return given;
    const copied =
      name === 'copyOf'
        ? given[0]
        : /^to(?:List|Array)$|^collect$/.test(name)
          ? childOf(value, 'object')
          : undefined;
    return copied && itemsOf(copied, depth + 1);
  }
}

/** A package as it is written before a type's name. */
function written(space: RegExp): RegExp {
  return new RegExp(`${space.source.replace('^', '\\b')}\\.`);
}
