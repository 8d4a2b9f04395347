import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import type { Reading } from './reading.ts';

const code = /^(?:eval|create_function)$/;
const shells = /^(?:exec|shell_exec|system|passthru|popen|proc_open)$/;
/** Functions that call the function which their first argument names. */
const callers =
  /^(?:call_user_func|call_user_func_array|array_map|forward_static_call|forward_static_call_array|register_shutdown_function)$/;
/** The same with the second argument. */
const secondCallers = /^(?:array_walk|array_filter|usort|uasort|uksort|array_reduce|iterator_apply)$/;
const why = { code: 'evaluates a string as code', shell: 'runs a command line in a shell' };

/** Direct execution in PHP. Function names are case-insensitive; methods and definitions of the same name do not count. */
export function phpHits(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  const known = readNames(reading);
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    if (node.type === 'shell_command_expression')
      hits.push({ start: node.start, end: node.end, call: '`…`', why: why.shell });
    else if (node.type === 'function_call_expression') {
      const hit = callHit(reading, known, node);
      if (hit) hits.push(hit);
    } else if (
      node.type === 'object_creation_expression' &&
      /^\\?ReflectionFunction$/i.test(text(node.children[0]))
    ) {
      const name = reading.literal(argumentsOf(node)[0]);
      if (name !== undefined && (shells.test(name.toLowerCase()) || name.toLowerCase() === 'create_function'))
        hits.push({ start: node.start, end: node.end, call: name, why: why.shell });
    }
  }
  return hits;
}

interface Known {
  /** Names that the file defines or imports from elsewhere. */
  readonly own: ReadonlySet<string>;
  /** `use function shell_exec as run`. */
  readonly aliases: ReadonlyMap<string, { readonly path: string; readonly at: number }>;
  /** By function (or file) and variable: what it was given. */
  readonly values: ReadonlyMap<SyntaxNode, ReadonlyMap<string, SyntaxNode>>;
}

const functions = ['function_definition', 'method_declaration', 'anonymous_function'];

function readNames({ tree, text }: Reading): Known {
  const own = new Set<string>();
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const values = new Map<SyntaxNode, Map<string, SyntaxNode>>();
  for (const node of tree.nodes) {
    if (node.type === 'function_definition') own.add(text(childOf(node, 'name')).toLowerCase());
    else if (node.type === 'namespace_use_clause') {
      const declaration = ancestorOf(node, 'namespace_use_declaration');
      if (!declaration || !/^use\s+function\b/i.test(text(declaration).slice(0, 60))) continue;
      const alias = childOf(node, 'alias');
      const group = declaration.children.find(({ type }) => type === 'namespace_name');
      const path = [text(group), text(node.children.find((child) => child !== alias))]
        .filter(Boolean)
        .join('\\')
        .replace(/^\\/, '')
        .toLowerCase();
      const name = text(alias).toLowerCase() || path.slice(path.lastIndexOf('\\') + 1);
      if (path.includes('\\')) own.add(name);
      else aliases.set(name, { path, at: node.start });
    } else if (node.type === 'assignment_expression') {
      const left = childOf(node, 'left');
      const value = childOf(node, 'right');
      if (left?.type !== 'variable_name' || !value) continue;
      const scope = ancestorOf(node, ...functions) ?? tree.root;
      const names = values.get(scope) ?? new Map<string, SyntaxNode>();
      values.set(scope, names);
      names.set(text(left), value);
    }
  }
  return { own, aliases, values };
}

function argumentsOf(node: SyntaxNode): readonly SyntaxNode[] {
  const list = childOf(node, 'arguments') ?? node.children.find(({ type }) => type === 'arguments');
  return (
    list?.children.filter(({ type }) => type === 'argument').map((one) => one.children.at(-1) ?? one) ?? []
  );
}

function callHit(reading: Reading, known: Known, node: SyntaxNode): Hit | undefined {
  const { text, literal } = reading;
  const target = childOf(node, 'function');
  if (!target) return undefined;
  const also: number[] = [];
  const name = calledName(reading, known, target, also);
  if (name === undefined) return undefined;
  const given = argumentsOf(node);
  const hit = (call: string, reason: string): Hit => ({
    start: target.start,
    end: node.end,
    also,
    call,
    why: reason,
  });
  // `system(...)` makes a closure of it: the function is handed on.
  const isClosure = /^\(\s*\.\.\.\s*\)$/.test(text(childOf(node, 'arguments')));
  if (given.length === 0 && !isClosure) return undefined;
  if (code.test(name)) return hit(name, why.code);
  if (name === 'assert')
    return reading.isText(behind(reading, known, given[0])) ? hit(name, why.code) : undefined;
  if (name === 'preg_replace' || name === 'preg_filter')
    return evaluates(literal(behind(reading, known, given[0])) ?? '')
      ? hit(`${name} /e`, why.code)
      : undefined;
  if (name === 'mb_ereg_replace' || name === 'mb_eregi_replace')
    return /^\w*e\w*$/.test(literal(given[3]) ?? '') ? hit(`${name} e`, why.code) : undefined;
  if (shells.test(name)) {
    const first = behind(reading, known, given[0]);
    const isList = name === 'proc_open' && first?.type === 'array_creation_expression';
    return isList ? undefined : hit(name, why.shell);
  }
  const callback = callers.test(name) ? given[0] : secondCallers.test(name) ? given[1] : undefined;
  const called = literal(behind(reading, known, callback))
    ?.toLowerCase()
    .replace(/^\\/, '');
  if (called === undefined || !(shells.test(called) || called === 'assert' || called === 'create_function'))
    return undefined;
  return hit(called, shells.test(called) ? why.shell : why.code);
}

/** The global function that a call reaches, lower case; through an import, a variable that holds its name, or `\`. */
function calledName(reading: Reading, known: Known, target: SyntaxNode, also: number[]): string | undefined {
  const { text, literal } = reading;
  if (target.type === 'name') {
    const name = text(target).toLowerCase();
    const alias = known.aliases.get(name);
    if (alias) also.push(alias.at);
    // `eval` belongs to the language: no function can take its name.
    return alias?.path ?? (known.own.has(name) && name !== 'eval' ? undefined : name);
  }
  if (target.type === 'qualified_name') {
    const path = text(target).replace(/\s/g, '').toLowerCase();
    return /^\\\w+$/.test(path) ? path.slice(1) : undefined;
  }
  const value = behind(reading, known, target);
  if (value && value !== target) also.push(value.start);
  if (
    value?.type === 'function_call_expression' &&
    /^\(\s*\.\.\.\s*\)$/.test(text(childOf(value, 'arguments')))
  )
    return text(childOf(value, 'function')).toLowerCase().replace(/^\\/, '');
  return literal(value)?.toLowerCase().replace(/^\\/, '');
}

function behind(
  { tree, text }: Reading,
  { values }: Known,
  node: SyntaxNode | undefined,
): SyntaxNode | undefined {
  if (node?.type === 'parenthesized_expression') return node.children[0];
  if (node?.type !== 'variable_name') return node;
  const scope = ancestorOf(node, ...functions) ?? tree.root;
  return values.get(scope)?.get(text(node)) ?? node;
}

const brackets: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };

/** Whether a pattern's modifiers hold `e`. */
function evaluates(pattern: string): boolean {
  const trimmed = pattern.trimStart();
  const open = trimmed[0];
  if (open === undefined || /[\w\\\s]/.test(open)) return false;
  const close = trimmed.lastIndexOf(brackets[open] ?? open);
  return close > 0 && /^[a-zA-Z]*e[a-zA-Z]*$/.test(trimmed.slice(close + 1));
}
