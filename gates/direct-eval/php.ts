import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import { type PhpNames, phpArguments, phpBehind, phpCalled, phpNames } from './php-names.ts';
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
  const known = phpNames(reading);
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
      const name = reading.literal(phpArguments(node)[0]);
      if (name !== undefined && (shells.test(name.toLowerCase()) || name.toLowerCase() === 'create_function'))
        hits.push({ start: node.start, end: node.end, call: name, why: why.shell });
    }
  }
  return hits;
}

function callHit(reading: Reading, known: PhpNames, node: SyntaxNode): Hit | undefined {
  const { text, literal } = reading;
  const target = childOf(node, 'function');
  if (!target) return undefined;
  const also: number[] = [];
  const name = phpCalled(reading, known, target, also);
  if (name === undefined) return undefined;
  const given = phpArguments(node);
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
    return reading.isText(phpBehind(reading, known, given[0])) ? hit(name, why.code) : undefined;
  if (name === 'preg_replace' || name === 'preg_filter')
    return evaluates(literal(phpBehind(reading, known, given[0])) ?? '')
      ? hit(`${name} /e`, why.code)
      : undefined;
  if (name === 'mb_ereg_replace' || name === 'mb_eregi_replace')
    return /^\w*e\w*$/.test(literal(given[3]) ?? '') ? hit(`${name} e`, why.code) : undefined;
  if (shells.test(name)) {
    const first = phpBehind(reading, known, given[0]);
    const isList = name === 'proc_open' && first?.type === 'array_creation_expression';
    return isList ? undefined : hit(name, why.shell);
  }
  const callback = callers.test(name) ? given[0] : secondCallers.test(name) ? given[1] : undefined;
  const called = literal(phpBehind(reading, known, callback))
    ?.toLowerCase()
    .replace(/^\\/, '');
  if (called === undefined || !(shells.test(called) || called === 'assert' || called === 'create_function'))
    return undefined;
  return hit(called, shells.test(called) ? why.shell : why.code);
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
