/* Direct execution and unsafe settings in PHP. */
import {
  ancestorOf,
  argumentsOf,
  childOf,
  type SyntaxNode,
} from '../../readers/source/grammar/syntax-tree.ts';
import { type NamingLanguage, readNames } from '../../readers/source/names/names.ts';
import type { Way } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { Query } from '../../readers/source/query/query.ts';
import { type CallRow, callOf, collectHits, type Hit, hitOf, why as kinds, sastHit } from './hits.ts';
import { passesShellText } from './shell-command.ts';

/** How PHP gives names. Properties and constants are members: they are seen everywhere in the file. */
export const phpNaming: NamingLanguage = {
  declarations: new Query(`
    ; functions do not see what the file gives
    (program) @scope @scope.blind
    [(function_definition) (method_declaration) (anonymous_function)] @scope
    (variable_name) @plain
    [(member_access_expression) (name)] @member
    (function_definition name: (_) @own)
    (namespace_use_clause . (_) @used)
    (assignment_expression left: [(variable_name) (member_access_expression)] @name right: (_) @value)
    (foreach_statement . (array_creation_expression (array_element_initializer (_) @value .))
      [(variable_name) @name (pair (variable_name) @name .)])
    (property_element name: (variable_name (_) @field) default_value: (_) @given)
    (const_element . (name) @name (_) @value)`),
  expressions: new Query('(parenthesized_expression . (_) @same)'),
  values: new Query(`
    (conditional_expression body: (_)? @choice alternative: (_) @choice)
    (class_constant_access_expression (_) @choice .)
    (subscript_expression . (variable_name) @object (_)? @key)`),
};

const shells = /^(?:exec|shell_exec|system|passthru|popen)$/;
/** Functions that are dangerous as a callback. */
const handed = new RegExp(`${shells.source}|^(?:proc_open|assert|create_function)$`);
/** Functions that call the function which one of their arguments names, by where that one is. */
const callers: readonly (readonly [name: RegExp, from: number, to?: number])[] = [
  [
    /^(?:call_user_func(?:_array)?|forward_static_call(?:_array)?|register_(?:shutdown|tick)_function|array_map|ob_start|set_(?:error|exception)_handler|spl_autoload_register|header_register_callback|libxml_set_external_entity_loader|preg_replace_callback_array)$/,
    0,
    1,
  ],
  [/^array_(?:u?diff_u?(?:key|assoc)|udiff|u?intersect_u?(?:key|assoc)|uintersect)$/, -2],
  [
    /^(?:func_overload|array_(?:walk|walk_recursive|filter|reduce|find|find_key|any|all)|u[ak]?sort|iterator_apply|preg_replace_callback|mb_ereg_replace_callback|filter_var(?:_array)?|pcntl_signal)$/,
    1,
  ],
];
/** Where an include finds text instead of a file of the program (php.net: supported protocols and wrappers). */
const elsewhere = /^\s*(?:data:|php:\/\/(?:input|stdin|fd|filter)|https?:|ftps?:|expect:|ssh2\.)/i;
const verifying = /^\\?CURLOPT_SSL_VERIFY(?:PEER|HOST|STATUS)$/;
const request = /^\$_(?:GET|POST|REQUEST|COOKIE|FILES)$/;
const joins = /^(?:binary_expression|encapsed_string|parenthesized_expression|conditional_expression)$/;
/** Of expressions within one. */
const maxSteps = 200;
const brackets: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };
const why = {
  ...kinds,
  included: 'runs what the request or another place sends',
  requested: 'calls a function that the request names',
};

/**
 * Direct execution in PHP. Function names are case-insensitive; methods and definitions of the same name do not count.
 */
export function phpHits(reading: Reading): readonly Hit[] {
  const { text, literal } = reading;
  /** Names that the file defines or imports from elsewhere. */
  const own = new Set<string>();
  /** `use function shell_exec as run`. */
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const names = readNames(reading, phpNaming, (match, all) => {
    const defined = match.one('own');
    const field = match.one('field');
    const value = match.one('given');
    if (defined) own.add(text(defined).toLowerCase());
    else if (field && value) all.giveMember(field, value, '$this->');
    else readUse(match.node);
  });
  /** The expression behind a variable, where there is one: the one it was given last. */
  const behind = (node: SyntaxNode | undefined) => names.valuesOf(node).at(-1);
  const rows: readonly CallRow[] = [
    [/^(?:eval|create_function)$/, why.code, () => true],
    [/^assert$/, why.code, ({ given }) => reading.isText(behind(given[0])) || isRequested(given[0])],
    [
      /^preg_(?:replace|filter)$/,
      why.code,
      ({ given }, { path }) => patternsOf(given[0]).some(evaluates) && { call: `${path} /e` },
    ],
    [
      /^mb_eregi?_replace$/,
      why.code,
      ({ given }, { path }) => /^\w*e\w*$/.test(literal(given[3]) ?? '') && { call: `${path} e` },
    ],
    [/^pcntl_exec$/, why.shell, ({ given }) => passesShellText(names.wordsOf(given.slice(0, 2)))],
    [
      /^proc_open$/,
      why.shell,
      ({ given }) => passesShellText(names.wordsOf(given.slice(0, 1))) || !names.itemsOf(given[0]),
    ],
    [shells, why.shell, () => true],
    [/^unserialize$/, 'sast/php-unserialize', ({ given }) => isForeign(given[0]) && !limitsClasses(given[1])],
    [
      /^curl_(?:share_|multi_)?setopt$/,
      'sast/php-tls-unverified',
      ({ given: [, option, value] }) =>
        verifying.test(text(option)) && isOff(option, value) && { call: text(option) },
    ],
    ...callers.map(
      ([name, from, to]): CallRow => [
        name,
        why.code,
        ({ given }, way) => callsBack(way.path, given, given.slice(from, to)),
      ],
    ),
  ];
  return collectHits(reading.tree, {
    shell_command_expression: ({ start, end }) => ({ start, end, call: '`…`', why: why.shell }),
    function_call_expression: callHit,
    object_creation_expression(node) {
      const { start, end, children } = node;
      const call = /^\\?ReflectionFunction$/i.test(text(children[0]))
        ? dangerOf(argumentsOf(node)[0])
        : undefined;
      return call === undefined ? undefined : { start, end, call, why: why.shell };
    },
    include_expression: includeHit,
    include_once_expression: includeHit,
    require_expression: includeHit,
    require_once_expression: includeHit,
    array_element_initializer: elementHit,
  });

  function includeHit(node: SyntaxNode): Hit | undefined {
    const { start, end, type } = node;
    const given = names.valuesOf(node.children[0]);
    return given.some((one) => elsewhere.test(reading.opening(one)) || isRequested(one))
      ? { start, end, call: type.replace('_expression', ''), why: why.included }
      : undefined;
  }

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    if (!target) return undefined;
    const call = callOf(node, target);
    // `system(...)` creates a closure and passes the function on.
    const isCall = call.given.length > 0 || isClosure(node);
    const hit = isCall ? hitOf(rows, call, reached(target)) : undefined;
    const isOpen = /^(?:variable_name|subscript_expression|parenthesized_expression)$/.test(target.type);
    if (hit || !isOpen || !isRequested(target)) return hit;
    return { start: target.start, end: node.end, call: text(target).slice(0, 40), why: why.requested };
  }

  /** `[CURLOPT_SSL_VERIFYPEER => false]`, `['verify_peer' => false]`. */
  function elementHit(node: SyntaxNode): Hit | undefined {
    const [key, value] = node.children;
    if (!key || !value) return undefined;
    const said = literal(key) ?? text(key);
    if (!verifying.test(text(key)) && !/^verify_peer(?:_name)?$/.test(literal(key) ?? '')) return undefined;
    if (!isOff(key, value)) return undefined;
    return sastHit('sast/php-tls-unverified', node, said);
  }

  /** For the host name, 1 is off too: it only looks whether there is one. */
  function isOff(option: SyntaxNode | undefined, value: SyntaxNode | undefined): boolean {
    const said = text(behind(value)).toLowerCase();
    return said === 'false' || said === '0' || (said === '1' && /VERIFYHOST$/.test(text(option)));
  }

  function isForeign(node: SyntaxNode | undefined): boolean {
    const value = behind(node);
    const target = childOf(value, 'function');
    const isDumped = target && reached(target).at(-1)?.path === 'serialize';
    return value !== undefined && !isDumped && literal(value) === undefined;
  }

  function limitsClasses(node: SyntaxNode | undefined): boolean {
    const options = behind(node);
    if (!options) return false;
    // Options that are made elsewhere may limit them: only what is written down counts.
    if (options.type !== 'array_creation_expression') return true;
    return options.children.some((one) => {
      const [key, value] = one.children;
      return literal(key) === 'allowed_classes' && text(value).toLowerCase() !== 'true';
    });
  }

  /** Returns a hit if a dangerous function is passed as a callback. */
  function callsBack(
    name: string,
    given: readonly SyntaxNode[],
    places: readonly SyntaxNode[],
  ): Partial<Hit> | undefined {
    const isTable = /^(?:filter_var|preg_replace_callback_array)/.test(name);
    for (const place of places)
      for (const one of (isTable ? names.itemsOf(place) : undefined) ?? [place]) {
        const call = dangerOf(one);
        if (call !== undefined)
          return { call, why: /^(?:assert|create_function)$/.test(call) ? why.code : why.shell };
      }
    return /^(?:call_user_func|forward_static_call)/.test(name) && isRequested(given[0])
      ? { why: why.requested }
      : undefined;
  }

  /** The function that executes text, where a value names one. */
  function dangerOf(node: SyntaxNode | undefined): string | undefined {
    return names
      .valuesOf(node)
      .map(functionOf)
      .find((name) => name !== undefined && handed.test(name));
  }

  /** Patterns, of built ones the beginning and end, as far as they are written down. */
  function patternsOf(node: SyntaxNode | undefined): readonly string[] {
    return (names.itemsOf(node) ?? [behind(node)]).map((one) => {
      let last = one;
      while (last && /^(?:encapsed_string|binary_expression)$/.test(last.type)) last = last.children.at(-1);
      const end = last?.type === 'string' ? literal(last) : last?.type === 'string_content' ? text(last) : '';
      return literal(one) ?? reading.opening(one).slice(0, 1) + (end ?? '');
    });
  }

  function readUse(clause: SyntaxNode): void {
    const declaration = ancestorOf(clause, 'namespace_use_declaration');
    if (!declaration || !/^use\s+function\b/i.test(text(declaration).slice(0, 60))) return;
    const alias = childOf(clause, 'alias');
    const group = declaration.children.find(({ type }) => type === 'namespace_name');
    const path = [text(group), text(clause.children.find((child) => child !== alias))]
      .filter(Boolean)
      .join('\\')
      .replace(/^\\/, '')
      .toLowerCase();
    const name = text(alias).toLowerCase() || path.slice(path.lastIndexOf('\\') + 1);
    if (path.includes('\\')) own.add(name);
    else aliases.set(name, { path, at: clause.start });
  }

  /** The global functions that a call may reach, in lower case, and where a name for each was given. */
  function reached(target: SyntaxNode): readonly Way[] {
    const way = (path: string, at?: number) => ({
      path,
      origin: at === undefined ? undefined : { at, before: undefined },
    });
    const name = text(target).replace(/\s/g, '').toLowerCase();
    if (target.type === 'name') {
      const alias = aliases.get(name);
      if (alias) return [way(alias.path, alias.at)];
      // `eval` belongs to the language: no function can have its name.
      return own.has(name) && name !== 'eval' ? [] : [way(name)];
    }
    if (target.type === 'qualified_name') return /^\\\w+$/.test(name) ? [way(name.slice(1))] : [];
    return names.valuesOf(target).flatMap((value) => {
      const path = functionOf(value);
      return path === undefined ? [] : [way(path, value === target ? undefined : value.start)];
    });
  }

  /** `system(...)`, which makes a closure of a function. */
  function isClosure(call: SyntaxNode): boolean {
    return /^\(\s*\.\.\.\s*\)$/.test(text(childOf(call, 'arguments')).slice(0, 20));
  }

  /** The function that a value names: `'system'`, `system(...)`, `Closure::fromCallable('system')`. */
  function functionOf(value: SyntaxNode): string | undefined {
    const isFrom = /^\\?Closure::fromCallable$/i.test(
      `${text(childOf(value, 'scope'))}::${text(childOf(value, 'name'))}`,
    );
    const isCall = value.type === 'function_call_expression';
    const said = isCall ? text(childOf(value, 'function')) : literal(isFrom ? argumentsOf(value)[0] : value);
    return isCall && !isClosure(value) ? undefined : said?.toLowerCase().replace(/^\\/, '');
  }

  /** Whether text comes from the HTTP request or contains it. An array entry and a function's result do not. */
  function isRequested(start: SyntaxNode | undefined): boolean {
    const pending = start ? [start] : [];
    for (let steps = 0; steps < maxSteps; steps += 1) {
      const node = pending.pop();
      if (!node) return false;
      if (node.type === 'subscript_expression' && request.test(text(node.children[0]))) return true;
      if (joins.test(node.type))
        pending.push(...node.children.filter(({ field }) => field !== 'condition').slice(0, maxSteps));
      else if (node.type === 'variable_name')
        pending.push(...names.valuesOf(node).filter((one) => one !== node));
    }
    return false;
  }
}

/** Whether a pattern's modifiers hold `e`. */
function evaluates(pattern: string): boolean {
  const trimmed = pattern.trimStart();
  const open = trimmed[0] ?? ' ';
  if (/[\w\\\s]/.test(open)) return false;
  const close = trimmed.lastIndexOf(brackets[open] ?? open);
  return close > 0 && /^[a-zA-Z]*e[a-zA-Z]*$/.test(trimmed.slice(close + 1));
}
