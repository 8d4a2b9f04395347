import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import {
  type PhpNames,
  phpArguments,
  phpBehind,
  phpFunctionName,
  phpNames,
  phpReached,
  phpRequested,
  phpValues,
} from '../../readers/source/names/php-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit } from './hit.ts';
import { handsShellText } from './shell-words.ts';

const code = /^(?:eval|create_function)$/;
const shells = /^(?:exec|shell_exec|system|passthru|popen|proc_open)$/;
/** Functions that call the function which one of their arguments names. */
const callers =
  /^(?:call_user_func(?:_array)?|forward_static_call(?:_array)?|func_overload|register_(?:shutdown|tick)_function|array_(?:map|walk|walk_recursive|filter|reduce|u?diff_u?key|u?diff_u?assoc|udiff|u?intersect_u?key|u?intersect_u?assoc|uintersect|find|find_key|any|all)|u[ak]?sort|iterator_apply|preg_replace_callback(?:_array)?|mb_ereg_replace_callback|ob_start|set_(?:error|exception)_handler|spl_autoload_register|header_register_callback|filter_var(?:_array)?|pcntl_signal|libxml_set_external_entity_loader)$/;
const includes = /^(?:include|include_once|require|require_once)_expression$/;
/** Where an include finds text instead of a file of the program (php.net: supported protocols and wrappers). */
const elsewhere = /^\s*(?:data:|php:\/\/(?:input|stdin|fd|filter)|https?:|ftps?:|expect:|ssh2\.)/i;
const why = {
  code: 'evaluates a string as code',
  shell: 'runs a command line in a shell',
  included: 'runs what the request or another place sends',
  requested: 'calls a function that the request names',
};

/**
 * Direct execution in PHP. Function names are case-insensitive; methods and definitions of the same name do not count.
 */
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
      const name = dangerOf(reading, known, phpArguments(node)[0]);
      if (name !== undefined) hits.push({ start: node.start, end: node.end, call: name, why: why.shell });
    } else if (includes.test(node.type)) {
      const given = phpValues(reading, known, node.children[0] ?? node);
      if (given.some((one) => elsewhere.test(reading.opening(one)) || phpRequested(reading, known, one)))
        hits.push({
          start: node.start,
          end: node.end,
          call: node.type.replace('_expression', ''),
          why: why.included,
        });
    }
  }
  return hits;
}

function callHit(reading: Reading, known: PhpNames, node: SyntaxNode): Hit | undefined {
  const target = childOf(node, 'function');
  if (!target) return undefined;
  const also: number[] = [];
  const given = phpArguments(node);
  const names = phpReached(reading, known, target, also);
  // `system(...)` makes a closure of it: the function is handed on.
  const isClosure = /^\(\s*\.\.\.\s*\)$/.test(reading.text(childOf(node, 'arguments')).slice(0, 20));
  const hit = ([call, reason]: readonly [string, string]): Hit => ({
    start: target.start,
    end: node.end,
    also,
    call,
    why: reason,
  });
  for (const name of given.length > 0 || isClosure ? names : []) {
    const found = reasonOf(reading, known, name, given);
    if (found) return hit(found);
  }
  return /^(?:variable_name|subscript_expression|parenthesized_expression)$/.test(target.type) &&
    phpRequested(reading, known, target)
    ? hit([reading.text(target).slice(0, 40), why.requested])
    : undefined;
}

function reasonOf(
  reading: Reading,
  known: PhpNames,
  name: string,
  given: readonly SyntaxNode[],
): readonly [call: string, why: string] | undefined {
  const { literal } = reading;
  if (code.test(name)) return [name, why.code];
  if (name === 'assert')
    return reading.isText(phpBehind(reading, known, given[0])) || phpRequested(reading, known, given[0])
      ? [name, why.code]
      : undefined;
  if (name === 'preg_replace' || name === 'preg_filter') {
    const pattern = phpBehind(reading, known, given[0]);
    const patterns =
      pattern?.type === 'array_creation_expression'
        ? pattern.children.map((one) => one.children.at(-1))
        : [pattern];
    return patterns.some((one) => evaluates(literal(one) ?? edgesOf(reading, one)))
      ? [`${name} /e`, why.code]
      : undefined;
  }
  if (name === 'mb_ereg_replace' || name === 'mb_eregi_replace')
    return /^\w*e\w*$/.test(literal(given[3]) ?? '') ? [`${name} e`, why.code] : undefined;
  if (name === 'pcntl_exec' || name === 'proc_open') {
    const words = given
      .slice(0, name === 'pcntl_exec' ? 2 : 1)
      .map((one) => phpBehind(reading, known, one))
      .flatMap((one) =>
        one?.type === 'array_creation_expression'
          ? one.children.map((item) => literal(phpBehind(reading, known, item.children.at(-1))))
          : [literal(one)],
      );
    if (handsShellText(words)) return [name, why.shell];
    const isList = phpBehind(reading, known, given[0])?.type === 'array_creation_expression';
    return name === 'pcntl_exec' || isList ? undefined : [name, why.shell];
  }
  if (shells.test(name)) return [name, why.shell];
  if (!callers.test(name)) return undefined;
  const named = calledBack(reading, known, name, given);
  if (named !== undefined) return [named, shells.test(named) ? why.shell : why.code];
  return /^(?:call_user_func|forward_static_call)/.test(name) && phpRequested(reading, known, given[0])
    ? [name, why.requested]
    : undefined;
}

/** The function that is handed to one that calls it. */
function calledBack(
  reading: Reading,
  known: PhpNames,
  name: string,
  given: readonly SyntaxNode[],
): string | undefined {
  // What follows are the values that it is called with.
  const isFirst = /^(?:call_|forward_|array_map$|register_|ob_|set_|spl_|header_|libxml_)/.test(name);
  const places = isFirst
    ? given.slice(0, 1)
    : /^array_u?(?:diff|intersect)|^array_u/.test(name)
      ? given.slice(-2)
      : given.slice(1);
  for (const place of name.endsWith('_callback_array') ? given.slice(0, 1) : places) {
    const value = phpBehind(reading, known, place);
    const isTable =
      value?.type === 'array_creation_expression' && /^(?:filter_var|preg_replace_callback_array)/.test(name);
    const values = isTable ? value.children.map((one) => one.children.at(-1)) : [place];
    for (const one of values) {
      const found = dangerOf(reading, known, one);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The function that executes text, where a value names one. */
function dangerOf(reading: Reading, known: PhpNames, node: SyntaxNode | undefined): string | undefined {
  if (!node) return undefined;
  return phpValues(reading, known, node)
    .map((one) => phpFunctionName(reading, one))
    .find(
      (name) => name !== undefined && (shells.test(name) || name === 'assert' || name === 'create_function'),
    );
}

const brackets: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };

/** A built pattern's beginning and end, as far as they are written down. */
function edgesOf(reading: Reading, node: SyntaxNode | undefined): string {
  let last = node;
  while (last && last.type !== 'string_content' && last.type !== 'string') {
    if (!/^(?:encapsed_string|binary_expression)$/.test(last.type)) return '';
    last = last.children.at(-1);
  }
  const end = last?.type === 'string' ? reading.literal(last) : reading.text(last);
  return reading.opening(node).slice(0, 1) + (end ?? '');
}

/** Whether a pattern's modifiers hold `e`. */
function evaluates(pattern: string): boolean {
  const trimmed = pattern.trimStart();
  const open = trimmed[0];
  if (open === undefined || /[\w\\\s]/.test(open)) return false;
  const close = trimmed.lastIndexOf(brackets[open] ?? open);
  return close > 0 && /^[a-zA-Z]*e[a-zA-Z]*$/.test(trimmed.slice(close + 1));
}
