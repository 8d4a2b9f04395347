import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import { type Binding, Names } from './names.ts';
import type { Reading } from './reading.ts';
import { handsShellText } from './shell-words.ts';

const opens = [
  'class_body',
  'method_declaration',
  'constructor_declaration',
  'lambda_expression',
  'block',
  'for_statement',
  'enhanced_for_statement',
  'catch_clause',
  'try_with_resources_statement',
  'record_declaration',
  'interface_body',
  'enum_body',
];
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
  const facts = readNames(reading);
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

interface Facts {
  readonly names: Names;
  readonly imports: readonly string[];
  readonly ownMethods: ReadonlySet<string>;
}

function readNames({ tree, text }: Reading): Facts {
  const names = new Names(opens);
  const imports: string[] = [];
  const ownMethods = new Set<string>();
  for (const node of tree.nodes) {
    if (node.type === 'import_declaration')
      imports.push(text(node).replace(/^import\s+(?:static\s+)?|[\s;]/g, ''));
    else if (node.type === 'method_declaration') ownMethods.add(text(childOf(node, 'name')));
    else if (node.type === 'variable_declarator') {
      const declaration = node.parent;
      const given = childOf(node, 'name');
      if (!given || !declaration) continue;
      const scope =
        declaration.type === 'field_declaration' ? names.scopeOf(declaration) : names.scopeOf(node);
      const type =
        text(childOf(declaration, 'type') ?? declaration.children[0]) + text(childOf(node, 'dimensions'));
      names.give(scope, text(given), { value: childOf(node, 'value'), type, at: given.start });
    } else if (
      node.type === 'formal_parameter' ||
      node.type === 'resource' ||
      node.type === 'catch_formal_parameter'
    ) {
      const given = childOf(node, 'name');
      if (given)
        names.give(names.scopeOf(node), text(given), {
          value: childOf(node, 'value'),
          type: text(childOf(node, 'type')),
          at: given.start,
        });
    } else if (node.type === 'assignment_expression') {
      const left = childOf(node, 'left');
      const name = text(left).replace(/^this\./, '');
      const owner = left && names.ownerOf(name, left);
      if (owner && left) names.give(owner, name, { value: childOf(node, 'right'), at: left.start });
    } else if (node.type === 'lambda_expression') {
      const parameters = childOf(node, 'parameters');
      for (const one of parameters?.type === 'identifier' ? [parameters] : (parameters?.children ?? []))
        if (one.type === 'identifier') names.give(node, text(one), { at: one.start });
    }
  }
  return { names, imports, ownMethods };
}

function bindingsOf({ text }: Reading, { names }: Facts, node: SyntaxNode | undefined): readonly Binding[] {
  if (!node) return [];
  if (node.type === 'identifier') return names.find(text(node), node) ?? [];
  const field =
    node.type === 'field_access' && text(childOf(node, 'object')) === 'this'
      ? childOf(node, 'field')
      : undefined;
  return field ? (names.find(text(field), ancestorOf(node, 'class_body') ?? node) ?? []) : [];
}

function unwrap(node: SyntaxNode | undefined): SyntaxNode | undefined {
  let at = node;
  for (
    let depth = 0;
    depth < 10 && at && /^(?:parenthesized_expression|cast_expression)$/.test(at.type);
    depth += 1
  )
    at = at.children.at(-1);
  return at;
}

function behind(
  reading: Reading,
  facts: Facts,
  node: SyntaxNode | undefined,
  depth = 0,
): SyntaxNode | undefined {
  const inner = unwrap(node);
  if (!inner || depth > 10) return inner;
  const value = bindingsOf(reading, facts, inner).find((one) => one.value && one.value !== inner)?.value;
  return value ? behind(reading, facts, value, depth + 1) : inner;
}

/** The simple name of an expression's type, as declared or as its value tells. */
function typeOf(reading: Reading, facts: Facts, node: SyntaxNode | undefined, depth = 0): string | undefined {
  const { text } = reading;
  const inner = node?.type === 'cast_expression' ? node : unwrapParentheses(node);
  if (!inner || depth > 8) return undefined;
  if (inner.type === 'cast_expression') return simple(text(childOf(inner, 'type')));
  if (inner.type === 'object_creation_expression') return simple(text(childOf(inner, 'type')));
  if (inner.type === 'array_creation_expression') return '[]';
  if (inner.type === 'method_invocation') {
    const name = text(childOf(inner, 'name'));
    if (name === 'getRuntime') return 'Runtime';
    if (/^(?:getEngineBy(?:Name|Extension|MimeType)|getScriptEngine)$/.test(name)) return 'ScriptEngine';
    if (name === 'create' && text(childOf(inner, 'object')) === 'JShell') return 'JShell';
    return undefined;
  }
  const given = bindingsOf(reading, facts, inner);
  for (const { type, value } of given) {
    if (type !== undefined && type !== '' && type !== 'var') return type.includes('[]') ? '[]' : simple(type);
    const found = value && typeOf(reading, facts, value, depth + 1);
    if (found !== undefined) return found;
  }
  if (given.length > 0) return undefined;
  return inner.type === 'identifier' || inner.type === 'scoped_identifier' || inner.type === 'field_access'
    ? simple(text(inner))
    : undefined;
}

function unwrapParentheses(node: SyntaxNode | undefined): SyntaxNode | undefined {
  return node?.type === 'parenthesized_expression' ? node.children[0] : node;
}

function simple(type: string): string {
  const name = type.replace(/<.*$/s, '').trim();
  return name.slice(name.lastIndexOf('.') + 1);
}

function argumentsOf(node: SyntaxNode): readonly SyntaxNode[] {
  return childOf(node, 'arguments')?.children.filter(({ type }) => !type.endsWith('comment')) ?? [];
}

function callHit(reading: Reading, facts: Facts, node: SyntaxNode): Hit | undefined {
  const { text } = reading;
  const name = childOf(node, 'name');
  const object = childOf(node, 'object');
  const given = argumentsOf(node);
  if (!name || given.length === 0) return undefined;
  const word = text(name);
  const hit = (call: string, reason: string): Hit => ({
    start: (object ?? name).start,
    end: node.end,
    also: [name.start],
    call,
    why: reason,
  });
  const type = typeOf(reading, facts, object);
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

function builderHit(reading: Reading, facts: Facts, node: SyntaxNode): Hit | undefined {
  if (simple(reading.text(childOf(node, 'type'))) !== 'ProcessBuilder') return undefined;
  if (!handsShellText(wordsOf(reading, facts, argumentsOf(node)))) return undefined;
  return { start: node.start, end: node.end, call: 'ProcessBuilder', why: 'hands a command line to a shell' };
}

/** `Runtime.getRuntime()::exec`. */
function referenceHit(reading: Reading, facts: Facts, node: SyntaxNode): Hit | undefined {
  const type = typeOf(reading, facts, node.children[0]);
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

function isArray(reading: Reading, facts: Facts, node: SyntaxNode | undefined): boolean {
  return (
    typeOf(reading, facts, node) === '[]' ||
    /^(?:array_creation_expression|array_initializer)$/.test(behind(reading, facts, node)?.type ?? '')
  );
}

/** Arguments as words; arrays and `List.of(…)` taken apart. */
function wordsOf(
  reading: Reading,
  facts: Facts,
  given: readonly SyntaxNode[],
): readonly (string | undefined)[] {
  const { literal, text } = reading;
  return given.flatMap((argument) => {
    const value = behind(reading, facts, argument);
    const items =
      value?.type === 'array_creation_expression'
        ? childOf(value, 'value')?.children
        : value?.type === 'array_initializer'
          ? value.children
          : value?.type === 'method_invocation' &&
              /^(?:of|asList|listOf|copyOf)$/.test(text(childOf(value, 'name')))
            ? argumentsOf(value)
            : value?.type === 'object_creation_expression' && /List/.test(text(childOf(value, 'type')))
              ? argumentsOf(value).flatMap((inner) =>
                  inner.type === 'method_invocation' ? argumentsOf(inner) : [],
                )
              : undefined;
    return items ? items.map((item) => literal(behind(reading, facts, item))) : [literal(value)];
  });
}
