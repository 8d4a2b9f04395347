/* Direct execution and unsafe settings in JavaScript and TypeScript. */
import {
  ancestorOf,
  argumentsOf,
  childOf,
  firstOf,
  type SyntaxNode,
} from '../../readers/source/grammar/syntax-tree.ts';
import { type NamingLanguage, readNames } from '../../readers/source/names/names.ts';
import { type Follow, followPaths, mapPaths, originsOf, type Way } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { Query } from '../../readers/source/query/query.ts';
import {
  type Call,
  type CallRow,
  callOf,
  collectHits,
  type Hit,
  hitOf,
  why as kinds,
  type PassedText,
  passedTextHits,
  sastHit,
  takersIn,
} from './hits.ts';
import { passesShellText } from './shell-command.ts';

/** How JavaScript and TypeScript give names, hoisting and shadowing as they do. */
export const javascriptNaming: NamingLanguage = {
  declarations: new Query(`
    [(function_declaration) (generator_function_declaration) (function_expression) (generator_function)
      (arrow_function) (method_definition)] @scope @scope.function
    [(class_static_block) (internal_module) (module)] @scope @scope.function
    [(statement_block) (class_body) (for_statement) (for_in_statement) (catch_clause) (switch_body)] @scope
    [(identifier) (shorthand_property_identifier_pattern) (shorthand_property_identifier)] @plain
    [(member_expression) (subscript_expression)] @member
    (variable_declaration (variable_declarator name: (_) @name value: (_)? @value) (#set! in function))
    (lexical_declaration (variable_declarator name: (_) @name value: (_)? @value))
    (for_in_statement left: (_) @name) @in
    (catch_clause parameter: (_) @name) @in
    ; import('x').then((module) => …): what the callback is given is the module
    (call_expression
      function: (member_expression object: (_) @value property: (_) @then)
      arguments: (arguments [
        (arrow_function parameter: (_) @name)
        (arrow_function parameters: (formal_parameters . (_) @name))
        (function_expression parameters: (formal_parameters . (_) @name))] @in)
      (#match? @then "^then$"))
    (formal_parameters (_)* @name (#set! in parent))
    (arrow_function parameter: (_) @name) @in
    (function_expression name: (_) @name) @in
    [(function_declaration name: (_) @name) (generator_function_declaration name: (_) @name)
      (class_declaration name: (_) @name) (enum_declaration name: (_) @name)
      (function_signature name: (_) @name)]
    (assignment_expression left: (identifier) @name right: (_) @value (#set! in known) (#set! else file))
    (assignment_expression
      left: [(object_pattern) (array_pattern) (member_expression) (subscript_expression)] @name
      right: (_) @value)
    (import_statement (import_clause (identifier) @name) source: (_) @module)
    (import_statement (import_clause (namespace_import (_) @name)) source: (_) @module)
    (import_statement (import_clause (named_imports (import_specifier name: (_) @part alias: (_)? @name)))
      source: (_) @module)
    (import_statement (import_require_clause . (_) @name source: (_) @module))`),
  patterns: new Query(`
    (object_pattern (shorthand_property_identifier_pattern) @key @inner)
    (object_pattern (pair_pattern key: (_) @key value: (_) @inner))
    (object_pattern (object_assignment_pattern left: (_) @key @inner right: (_) @otherwise))
    (object_pattern (rest_pattern) @inner)
    (array_pattern (_) @inner (#set! part place))
    (rest_pattern (_) @inner (#set! value none))
    (assignment_pattern left: (_) @inner right: (_) @otherwise)
    (required_parameter pattern: (_) @inner value: (_)? @otherwise)
    (optional_parameter pattern: (_) @inner value: (_)? @otherwise)`),
  expressions: new Query(`
    [(parenthesized_expression . (_) @same) (as_expression . (_) @same) (satisfies_expression . (_) @same)
      (non_null_expression . (_) @same) (await_expression . (_) @same) (type_assertion (_) @same .)
      (sequence_expression (_) @same .)]`),
  values: new Query(`
    (member_expression object: (_) @object property: (_) @part)
    (subscript_expression object: (_) @object index: (_) @key)
    (call_expression function: (_) @target arguments: (_) @list)
    (new_expression constructor: (_) @target)
    (assignment_expression right: (_) @choice)
    (ternary_expression consequence: (_) @choice alternative: (_) @choice)
    (binary_expression left: (_) @choice right: (_) @choice)`),
  nameOf: unescaped,
};

const globals = /^(?:(?:globalThis|window|global|self|top|parent|frames|document\.defaultView)\.)+(?=.)/;
/** Of a text put together from texts put together. */
const maxSaid = 8;
const imports =
  /^(?:import|require|module\.require|process\.mainModule\.require|process\.getBuiltinModule|#module\.createRequire\(\))$/;
/** Text of what is a function for certain: written there, a global one, or a method of something written there. */
const functions =
  /=>|\bfunction\b|^(?:Object|Array|String|Number|Boolean|Symbol|Date|RegExp|Promise|Map|Set|Error|Function|parseInt|parseFloat|isNaN)$|^(?:Math|JSON|Reflect|Object|Array|\[[^\]]*\]|["'`/].*["'`/])\.(?!prototype$|length$)\w+$/s;
const maxFunction = 500;

const compilers = /^(?:Async|Generator|AsyncGenerator)?Function$/;
const execs =
  /^(?:#(?:child_process|shelljs)|child_process|childProcess|cp|shelljs)\.exec(?:Sync)?$|^execSync$/;
const spawns =
  /^(?:#(?:child_process|execa|cross-spawn|node-pty)|child_process|childProcess|cp)(?:\.(?:spawn|spawnSync|execFile|execFileSync|fork|execa|execaSync|execaCommand|execaCommandSync|sync|\$))?$|^(?:spawn|spawnSync|execFile|execFileSync|execa)$|^(?:Bun\.spawn(?:Sync)?|Deno\.(?:Command|run))$/;
/** Parts of the runtime that start processes or compile, behind its public modules. */
const bindings = /^(?:spawn_sync|process_wrap|contextify|evals)$/;
const takers =
  takersIn(`variable_declarator.value assignment_expression.right pair.value arguments return_statement
  arrow_function.body public_field_definition.value field_definition.value`);
const servers = /(?:^|\.)create(?:Secure)?Server$/;
const maxDepth = 4;
const why = {
  ...kinds,
  compiled: 'compiles a string as code',
  built: 'compiles a string as a function',
  run: 'runs a string as code',
};

/** Direct execution in JavaScript and TypeScript, under whatever name it was imported or given. */
export function javascriptHits(reading: Reading): readonly Hit[] {
  const { literal, text, isText, isWhole, tree } = reading;
  const names = readNames(reading, javascriptNaming, (match, given) => {
    const part = match.one('part');
    const name = match.one('name') ?? part;
    const module = moduleOf(literal(match.one('module')));
    const real = part && (literal(part) ?? text(part));
    const path = real === undefined || real === 'default' ? module : `${module}.${real}`;
    if (name) given.give(tree.root, given.nameOf(name), { path, at: name.start });
  });
  const { behind } = names;
  const { begin, ways, reaches } = followPaths(names, {
    free: (name) => name,
    part: waysOfPart,
    said: sayText,
    call: waysOfCall,
  });
  const always = () => true;
  // Without the rest of the file a bare `exec` may have been imported out of sight.
  const isExec = (path: string) => execs.test(path) || (path === 'exec' && !isWhole);
  const rows: readonly CallRow[] = [
    [/^eval$/, why.code],
    [compilers, why.built, always],
    [
      /^(?:setTimeout|setInterval|setImmediate|execScript)$/,
      why.code,
      ({ given }) => isText(behind(given[0])),
    ],
    [/^#?vm\.(?:compileFunction|Script|SourceTextModule)$/, why.compiled, always],
    [/^#vm\.runIn/, why.run, always],
    // Sandboxes that run a text still execute it as code.
    [
      /^#(?:vm2\.(?:VM|NodeVM)\(\)\.run|vm2\.VMScript|isolated-vm\.Isolate\(\)\.compileScript(?:Sync)?)$/,
      why.code,
      always,
    ],
    [/^(?:\$|jQuery|#jquery)\.globalEval$/, why.code, always],
    [/^(?:import|importScripts)$/, why.compiled, ({ given }) => isDataAddress(given[0])],
    [
      /^process\.binding$/,
      'reaches past the modules that start processes and compile',
      ({ given }) => bindings.test(said(given[0]) ?? ''),
    ],
    [/^(?:Worker|SharedWorker|#worker_threads\.Worker)$/, 'runs a string as a worker', workerReason],
    [
      /^exec$/,
      why.shell,
      () => /["'`]shelljs\/global["'`]/.test(text(tree.root)) && { call: 'shelljs.exec' },
    ],
    [/./, why.shell, (_, { path }) => isExec(path)],
    [spawns, why.handed, spawnReason],
    [/^#?crypto\.create(?:Cipher|Decipher)$/, 'sast/javascript-cipher-without-iv'],
    [/^(?:#jsonwebtoken|jwt|jsonwebtoken)\.(?:verify|sign)$/, 'sast/javascript-jwt-none', allowsNone],
  ];
  // Inner calls come first, so that what they reach is known when a long chain of calls is followed.
  const inner = { ...tree, nodes: tree.nodes.toReversed() };
  const hits = collectHits(inner, { call_expression: callHit, new_expression: callHit });
  const settings = collectHits(tree, {
    pair(node) {
      const key = names.keyOf(node);
      return isForServer(node) ? undefined : settingHit(node, key, childOf(node, 'value'), ':');
    },
    assignment_expression: assignmentHit,
    augmented_assignment_expression: assignmentHit,
  });
  return [...hits, ...passedTextHits(tree, hits, takers, handedOn), ...settings];

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'constructor') ?? childOf(node, 'function');
    if (!target || !childOf(node, 'arguments') || looksLikeMethod(node)) return undefined;
    const call = callOf(node, target);
    const [first] = call.given;
    const property = childOf(target, 'property')
      ? text(childOf(target, 'property'))
      : first && (said(childOf(target, 'index')) ?? '');
    const isCompiler =
      first &&
      (isText(first) || isCalled(node) || /\bconstructor["'`\]]{0,2}$/.test(text(childOf(target, 'object'))));
    const reason = /^runIn(?:New|This)?Context$/.test(property ?? '')
      ? why.run
      : property === '_compile' && call.given.length > 1
        ? 'compiles a string as a module'
        : property === 'constructor' && isCompiler
          ? why.built
          : undefined;
    const reached = ways(target);
    if (property !== undefined && reason !== undefined && !isDeclared(node))
      return {
        start: target.start,
        end: node.end,
        also: reached.flatMap(originsOf),
        call: property,
        why: reason,
      };
    const hit = hitOf(
      rows,
      call,
      reached.flatMap((way) => applied(call, way)),
    );
    return hit && !isDeclared(node)
      ? { ...hit, call: hit.call.replace('#', '').replaceAll('()', '') }
      : undefined;
  }

  /** What is called behind `.call`, `.apply` and `Reflect.apply`. */
  function applied({ given }: Call, way: Way): readonly Way[] {
    if (/^Reflect\.(?:apply|construct)$/.test(way.path))
      return ways(given[0]).filter(({ path }) => path === 'eval' || compilers.test(path));
    return [{ ...way, path: way.path.replace(/\.(?:call|apply)$/, '') }];
  }

  function workerReason({ given }: Call, { path }: Way): Partial<Hit> | undefined {
    const isEval = option(given, 'eval');
    const also = isEval?.type === 'true' ? [isEval.start] : isDataAddress(given[0]) ? [] : undefined;
    return also && { call: `new ${path.replace(/.*\./, '')}`, also };
  }

  function spawnReason({ given }: Call): boolean | Partial<Hit> {
    const shell = option(given, 'shell');
    const isOn = shell && !/^(?:false|null|undefined|["'`]0?["'`])$/.test(text(shell));
    return isOn ? { why: 'spawns through a shell', also: [shell.start] } : passesShellText(wordsOf(given));
  }

  function assignmentHit(node: SyntaxNode): Hit | undefined {
    const left = childOf(node, 'left');
    const part = childOf(left, 'property');
    const property = part ? names.nameOf(part) : literal(behind(childOf(left, 'index')));
    return settingHit(node, property, childOf(node, 'right'), ' =');
  }

  function settingHit(
    node: SyntaxNode,
    name: string | undefined,
    value: SyntaxNode | undefined,
    sign: string,
  ): Hit | undefined {
    const given = behind(value);
    const isOff = name === 'rejectUnauthorized' && given?.type === 'false';
    if (isDeclared(node) || !(isOff || (name === 'NODE_TLS_REJECT_UNAUTHORIZED' && literal(given) === '0')))
      return undefined;
    const call = `${name}${sign} ${isOff ? 'false' : '0'}`;
    return sastHit('sast/javascript-tls-unverified', node, call, sign === ':' && given ? [given.start] : []);
  }

  /** A server that does without its clients' certificates still proves its own identity. */
  function isForServer({ parent: object }: SyntaxNode): boolean {
    if (object?.children.some((one) => names.keyOf(one) === 'requestCert')) return true;
    const target =
      object?.parent?.type === 'arguments' ? childOf(object.parent.parent, 'function') : undefined;
    return servers.test(text(target)) || reaches(target, servers) !== undefined;
  }

  function allowsNone({ given }: Call): boolean {
    return ['algorithms', 'algorithm'].some((name) => {
      const value = option(given, name);
      const values = value?.type === 'array' ? value.children : [value];
      return values.some((item) => literal(behind(item))?.toLowerCase() === 'none');
    });
  }

  /** An address that holds the script itself: `data:…`, also as a `URL`, or one made for a `Blob`. */
  function isDataAddress(node: SyntaxNode | undefined, depth = 0): boolean {
    const value = behind(node);
    if (!value || depth > maxDepth) return false;
    if (/^\s*data:/i.test(said(value) ?? reading.opening(value))) return true;
    const isNew = value.type === 'new_expression';
    return ways(childOf(value, isNew ? 'constructor' : 'function')).some(({ path }) =>
      path === (isNew ? 'URL' : 'URL.createObjectURL')
        ? isDataAddress(argumentsOf(value)[0], depth + 1)
        : isNew && path === 'Blob',
    );
  }

  /** `exec(sql) {` seen without its class reads like a call. */
  function looksLikeMethod(node: SyntaxNode): boolean {
    if (isWhole || node.parent?.type === 'arguments') return false;
    const { end } = tree.root;
    const after = text({ ...tree.root, start: node.end, end: Math.min(end, node.end + 200) });
    return /^\s*(?::[^\n;(){}]*)?\{/.test(after);
  }

  /**
   * The arguments as words, with lists flattened. Handles `Deno.Command(program, { args })` and `Deno.run({ cmd })`.
   */
  function wordsOf(given: readonly SyntaxNode[]): readonly (string | undefined)[] {
    return given.flatMap((argument) => {
      if (behind(argument)?.type !== 'object') return names.wordsOf([argument]);
      const inner = option([argument], 'args') ?? option([argument], 'cmd');
      return inner ? names.wordsOf([inner]) : [];
    });
  }

  /** `const run = eval`, `rows.map(eval)`, `promisify(exec)` that no call in sight uses. */
  function handedOn(node: SyntaxNode): PassedText | undefined {
    const { parent, type } = node;
    if (!/^(?:identifier|member_expression|subscript_expression)$/.test(type) || isDeclared(node))
      return undefined;
    const outer = ways(parent?.type === 'arguments' ? childOf(parent.parent, 'function') : undefined);
    const isPromise = outer.some(({ path }) => /(?:^|\.)promisify$/.test(path));
    const isDangerous = ways(node).some(({ path }) => path === 'eval' || (isPromise && isExec(path)));
    if (!isDangerous || outer.some(({ path }) => path.startsWith('Reflect.'))) return undefined;
    const place = outermost((isPromise && parent?.parent) || node);
    return { call: text(node).slice(0, 60), why: 'hands on what evaluates strings', place };
  }

  /** The value of an option in an object among arguments, or in a variable that holds one. */
  function option(given: readonly SyntaxNode[], name: string): SyntaxNode | undefined {
    return behind(firstOf(given, (one) => names.entry(names.entriesOf(one), name)));
  }

  /** What a text comes to, where all of it is known: names, templates and `['a', 'b'].join('')` put together. */
  function said(node: SyntaxNode | undefined): string | undefined {
    return sayText(node, begin());
  }

  function sayText(node: SyntaxNode | undefined, follow: Follow, depth = 0): string | undefined {
    const value = behind(node);
    const written = literal(value);
    if (written !== undefined || !value || depth > maxSaid) return written;
    const { parts, between } = partsOf(value);
    const pieces: string[] = [];
    for (const part of parts) {
      if (!follow.step()) return undefined;
      const piece = part.type === 'string_fragment' ? text(part) : sayText(part, follow, depth + 1);
      if (piece === undefined) return undefined;
      pieces.push(piece);
    }
    return pieces.length === 0 ? undefined : pieces.join(between);
  }

  function partsOf(value: SyntaxNode): { readonly parts: readonly SyntaxNode[]; readonly between: string } {
    if (value.type.startsWith('template_')) return { parts: value.children, between: '' };
    const target = childOf(value, 'function');
    const list = text(childOf(target, 'property')) === 'join' ? childOf(target, 'object') : undefined;
    const between = list?.type === 'array' ? literal(argumentsOf(value)[0]) : undefined;
    return between === undefined
      ? { parts: reading.parts(value), between: '' }
      : { parts: list?.children ?? [], between };
  }

  /** A part of a value: of an object literal its property, of a module its export. */
  function waysOfPart(value: SyntaxNode, part: string, follow: Follow): readonly Way[] {
    const object = behind(value);
    // The constructor of every function is `Function`.
    if (part === 'constructor' && functions.test(text(object).slice(0, maxFunction)))
      return [{ path: 'Function' }];
    if (object?.type === 'object') {
      const [first = '', ...rest] = part.split('.');
      const found = names.entry(object.children, first);
      return found && rest.length > 0 ? waysOfPart(found, rest.join('.'), follow) : follow.ways(found);
    }
    if (object?.type === 'array')
      return /^\d{1,4}$/.test(part) ? follow.ways(object.children[Number(part)]) : [];
    return mapPaths(follow.ways(value), (base) => normal(`${base}.${part}`));
  }

  /** What the result of a call is, by what is called. */
  function waysOfCall(
    way: Way,
    [argument, second]: readonly SyntaxNode[],
    follow: Follow,
    { type }: SyntaxNode,
  ): readonly Way[] {
    const { path } = way;
    const as = (other: string | undefined) => mapPaths([way], () => other);
    if (type === 'new_expression') return as(path.startsWith('#') ? `${path}()` : undefined);
    if (imports.test(path)) return as(moduleOf(sayText(argument, follow)));
    if (path === 'Reflect.get') {
      const key = sayText(second, follow);
      return argument && key !== undefined ? waysOfPart(argument, key, follow) : [];
    }
    if (path === '#module.createRequire') return as(`${path}()`);
    // `Function.call.bind(f)` calls `f`.
    if (/(?:^|\.)promisify$|\.(?:call|apply)\.bind$/.test(path)) return follow.ways(argument);
    return as(path.endsWith('.bind') ? path.slice(0, -'.bind'.length) : undefined);
  }
}

/** Whether what a call returns is called there and then: `f.constructor(text)()`. */
function isCalled({ type, parent, field }: SyntaxNode): boolean {
  return type === 'call_expression' && parent?.type === 'call_expression' && field === 'function';
}

/** The declaration or assignment that a value is given in, through wrappers. */
function outermost(node: SyntaxNode): SyntaxNode | undefined {
  let at = node.parent;
  while (at && /^(?:parenthesized_expression|as_expression|non_null_expression)$/.test(at.type))
    at = at.parent;
  return at;
}

/** A name as it is meant: letters may be written as escapes. */
function unescaped(written: string): string {
  if (!written.includes('\\')) return written;
  return written.replace(
    /\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))/g,
    (_, braced: string, four: string) => String.fromCharCode(Number.parseInt(braced ?? four, 16)),
  );
}

/** Returns the module of a specifier, marked with `#`. */
function moduleOf(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `#${name.replace(/^node:/, '')}`;
}

function normal(path: string): string {
  const short = path.replace(globals, '');
  return short.startsWith('#') ? short.replace(/\.default(?=\.|$)/, '') : short;
}

/** Whether a node is inside a type annotation, a type alias or an interface, where names are not used. */
export function isDeclared(node: SyntaxNode): boolean {
  return ancestorOf(node, 'type_annotation', 'type_alias_declaration', 'interface_declaration') !== undefined;
}
