/* Direct execution, unsafe calls and settings in Python. */
import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
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
  type PassedText,
  passedTextHits,
  sastHit,
  takersIn,
  why,
} from './hits.ts';
import { passesShellText } from './shell-command.ts';

/** How Python gives names: in functions and classes, of which functions inside a class see none. */
export const pythonNaming: NamingLanguage = {
  declarations: new Query(`
    [(function_definition) (lambda)] @scope @scope.function
    (class_definition) @scope @scope.function @scope.blind
    [(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope
    (identifier) @plain
    (attribute) @member
    (import_statement name: (dotted_name . (_) @name) @module)
    (import_statement name: (aliased_import name: (_) @module alias: (_) @name))
    (import_from_statement module_name: (_) @module name: (dotted_name . (_) @name) @part)
    (import_from_statement module_name: (_) @module name: (aliased_import name: (_) @part alias: (_) @name))
    (import_from_statement module_name: (_) @module (wildcard_import))
    (function_definition name: (_) @name (#set! in function) (#set! type def))
    (class_definition name: (_) @name (#set! in function) (#set! type def))
    ; a parameter is whatever the caller gives, its default included
    ([(parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern) (tuple_pattern)]* @name)
      (lambda_parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern)]* @name)
      (parameters [(default_parameter name: (_) @name) (typed_parameter . (_) @name type: (_) @type)
        (typed_default_parameter name: (_) @name type: (_) @type)])
      (lambda_parameters (default_parameter name: (_) @name))] (#set! in parent))
    (assignment left: [(identifier) (attribute)] @name right: (_)? @value (#set! in function))
    (assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @names
      right: [(expression_list) (tuple) (list)]? @values (#set! in function))
    (named_expression name: (_) @name value: (_) @value (#set! in function))
    (for_statement left: (_) @name (#set! in function))
    (for_in_clause left: (_) @name)
    (as_pattern_target . (_) @name (#set! in function))`),
  patterns: new Query(`
    [(pattern_list (_) @inner) (tuple_pattern (_) @inner) (list_pattern (_) @inner)
      (list_splat_pattern (_) @inner) (dictionary_splat_pattern (_) @inner)]`),
  expressions: new Query(`
    [(parenthesized_expression . (_) @same) (await . (_) @same) (assignment right: (_) @same)
      (named_expression value: (_) @same)]`),
  values: new Query(`
    (attribute object: (_) @object attribute: (_) @part)
    (subscript value: (_) @object subscript: (_) @key)
    (call function: (_) @target arguments: (_) @list)
    [(conditional_expression (_)* @choice) (boolean_operator (_)* @choice)]`),
  // Python reads a name in its compatibility form: full-width `ｅｖａｌ` is `eval`.
  nameOf: (written) =>
    /[^\x00-\x7f]/.test(written)
      ? Buffer.from(written, 'latin1').toString('utf8').normalize('NFKC')
      : written,
};

const builtins =
  /^(?:builtins|__builtins__|__builtin__|six\.moves\.builtins)\.(?:__dict__\.)?(?!__dict__$)(?=.)/;
/** Classes with objects that execute text: a method call on them is known by its name. */
const made =
  /^(?:code\.Interactive(?:Interpreter|Console)|(?:cProfile|profile)\.Profile|pdb\.Pdb|bdb\.Bdb|trace\.Trace)$/;
const libraries = /^ctypes\.(?:CDLL|PyDLL|WinDLL|OleDLL|(?:cdll|windll|pydll)\.LoadLibrary)$/;

const code = /^(?:eval|exec|execfile|six\.exec_)$/;
const shells =
  /^(?:os\.(?:system|popen[234]?)|popen2\.(?:popen[234]|Popen[34])|commands\.get(?:status)?output|subprocess\.get(?:status)?output|asyncio\.create_subprocess_shell|asyncio\.subprocess\.create_subprocess_shell|platform\.popen|ctypes\.(?:CDLL\(\)|(?:cdll|windll)\.\w+)\.(?:w?system|_?w?popen))$/;
const spawns =
  /^(?:subprocess\.(?:run|call|check_call|check_output|Popen)|sh\.Command|psutil\.Popen|gevent\.subprocess\.\w+)$/;
const launchers =
  /^(?:subprocess\.\w+|os\.(?:exec|spawn|posix_spawn)\w*|asyncio\.create_subprocess_exec|pexpect\.spawn|pty\.spawn|psutil\.Popen)$/;
const pickles =
  /^(?:(?:(?:six\.moves\.)?c?Pickle|_?pickle|pickle5|dill|cloudpickle)\.(?:loads?|Unpickler)|marshal\.loads?|jsonpickle\.(?:decode|loads)|joblib\.load|(?:pandas|pd)\.read_pickle)$/;
const dumps =
  /^(?:(?:six\.moves\.)?cPickle|_?pickle|pickle5|dill|cloudpickle|marshal|jsonpickle)\.(?:dumps|encode)$/;
const yamlLoads = /^yaml\.(?:load|load_all|unsafe_load|unsafe_load_all|full_load|full_load_all)$/;
const loaders = /^(?:yaml\.(?:loader\.|cyaml\.)?)?C?(?:Loader|UnsafeLoader|FullLoader)$/;
const certNone = /^ssl\.CERT_NONE$/;
const temporary = /^(?:tempfile\.mktemp|os\.(?:tempnam|tmpnam))$/;
const verbs = /^(?:get|post|put|patch|delete|head|options|request|send|stream)$/;
const clients =
  /^(?:requests|httpx|niquests)(?:\.api|\.sessions)?\.(?:get|post|put|patch|delete|head|options|request|send|stream|Client|AsyncClient)$/;
const connectors = /^aiohttp\.(?:TCPConnector|request)$/;

/**
 * Functions of the standard library that execute their first argument, which is a text or what was compiled from one.
 */
const runners =
  /^(?:(?:cProfile|profile)\.(?:Profile\(\)\.)?(?:run|runctx)|(?:pdb\.(?:Pdb\(\)\.)?|bdb\.Bdb\(\)\.)(?:run|runeval|runctx)|trace\.Trace\(\)\.(?:run|runctx)|code\.Interactive(?:Interpreter|Console)\(\)\.(?:runsource|runcode|push)|code(?:op)?\.compile_command)$/;
/** Functions that execute the file or module which their first argument names. */
const scripts = /^runpy\.run_(?:path|module)$/;
/** They read code from the terminal, and need no argument for that. */
const consoles = /^code\.(?:interact|InteractiveConsole\(\)\.interact)$/;
/** Functions that execute `stmt` and `setup`, each a text or a function. */
const timers = /^timeit\.(?:timeit|repeat|Timer)$/;
const named = /^(?:stmt|setup|cmd|statement|expression|source|code|path_name|mod_name)$/;
const textMethods =
  /^(?:format|format_map|join|read|readline|strip|rstrip|lstrip|replace|decode|getvalue|read_text|lower|upper|removeprefix|dedent|substitute)$/;
const textFunctions = /^(?:input|str|repr|chr|textwrap\.dedent|os\.getenv|os\.environ\.get)$/;
/** What a parameter without a type is called where it is a function. */
const functionLike =
  /^_*(?:f|g|fn|cb|op|\w*(?:func|function|callable|callback|method|target|task|impl|benchmark|bench|handler|fn))\d*$/;

/** Of choices within choices. */
const maxDepth = 5;

/** Calls that run no function which they are given: their result is followed to its call. */
const wrappers = /^(?:getattr|functools\.partial|isinstance|callable|hasattr|type|id|repr)$/;
const unverified = 'sast/python-tls-unverified';
const placeOfShell = 8;

/** Direct execution in Python, under whatever name it was imported or given. */
export function pythonHits(reading: Reading): readonly Hit[] {
  const { text, literal, isWhole, tree } = reading;
  /** Modules with all names imported. */
  const stars: string[] = [];
  const names = readNames(reading, pythonNaming, (match, given) => {
    const module = text(match.one('module')).replace(/\s/g, '');
    const part = match.one('part');
    const name = match.one('name');
    // `import a.b` gives `a`.
    const isFirst = name?.parent?.type === 'dotted_name';
    const path = part ? plainPath(`${module}.${text(part)}`) : isFirst ? text(name) : module;
    if (!name) stars.push(module);
    else
      given.give(given.scopeOf(match.node, 'scope.function'), given.nameOf(name), { path, at: name.start });
  });
  const { behind } = names;
  const { ways, reaches } = followPaths(names, {
    free: (name) => stars.map((module) => `${module}.${name}`).find(isKnown) ?? name,
    said: (key) => literal(behind(key)),
    part: (value, part, follow, isKey) =>
      isKey
        ? mapPaths(follow.ways(value), (base) => entryOf(base, part))
        : memberOf(follow.ways(value), part),
    call: waysOfCall,
  });
  const isKnown = (path: string) =>
    [made, loaders, certNone, ...rows.map(([form]) => form)].some((form) => form.test(path));
  const spawnsShell = (call: Call, { path }: Way) => {
    const shell = option(call.given, 'shell') ?? byPlace(call.given);
    if (shell && isTruthy(shell)) return { call: `${path}(shell=True)`, why: why.shell, also: [shell.start] };
    return passesShellText(names.wordsOf(call.given));
  };
  const isStatement = (call: Call, way: Way) => isImported(call, way) && hasOpen(call.given, 1);
  const rows: readonly CallRow[] = [
    [consoles, 'evaluates what is typed', isImported],
    [/^operator\.methodcaller\(/, why.shell, callsMethod],
    [timers, why.code, (call, way) => isImported(call, way) && hasOpen(call.given, 2, mayBeText)],
    [runners, why.code, isStatement],
    [scripts, 'runs a file whose name is not written down', isStatement],
    [code, why.code],
    [/^compile$/, 'compiles a string as code', compilesCode],
    [shells, why.shell],
    [
      isWhole ? spawns : new RegExp(`${spawns.source}|^(?:Popen|check_output|check_call)$`),
      why.handed,
      spawnsShell,
    ],
    [
      pickles,
      'sast/python-unsafe-deserialization',
      ({ given }, { path }) => given.length > 0 && !isOwnData(path, given),
    ],
    [/^shelve\.(?:open|DbfilenameShelf)$/, 'sast/python-shelve', () => true],
    [
      yamlLoads,
      'sast/python-yaml-load',
      ({ given }, { path }) => given.length > 0 && isUnsafeYaml(path, given),
    ],
    // Windows makes the name of a pipe for its server alone.
    [temporary, 'sast/python-mktemp', ({ given }) => !/\.\\{1,2}pipe\\/.test(text(option(given, 'prefix')))],
    [/^ssl\._create_unverified_context$/, unverified, () => true],
    [launchers, why.handed, ({ given }) => passesShellText(names.wordsOf(given))],
  ];
  const hits = collectHits(tree, { call: callHit });
  return [
    ...hits,
    ...passedTextHits(tree, hits, takers, handedOn),
    ...collectHits(tree, { assignment: assignmentHit }),
  ];

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    if (!target) return undefined;
    const call = callOf(node, target);
    const outer = ways(target);
    // What is bound in advance is as good as called.
    const isBound = outer.some(({ path }) => path === 'functools.partial');
    const given = isBound ? call.given.slice(1) : call.given;
    const reached = isBound ? ways(call.given[0]) : outer;
    const member = text(childOf(target, 'attribute'));
    const handed = member === 'subprocess_shell' ? member : handedShell(given);
    if (handed === undefined)
      return hitOf(rows, { ...call, given }, reached) ?? optionHit({ ...call, given }, reached);
    return {
      start: target.start,
      end: node.end,
      call: handed,
      why: why.shell,
      also: reached.flatMap(originsOf),
    };
  }

  function optionHit({ node, target, given }: Call, ways: readonly Way[]): Hit | undefined {
    const member = text(childOf(target, 'attribute'));
    const path = ways[0]?.path ?? '';
    const isConnector = verbs.test(member) || connectors.test(path);
    const isUnverified = ({ type }: SyntaxNode) => type === 'false' && (isConnector || clients.test(path));
    const isDebug = ({ type }: SyntaxNode) =>
      type === 'true' && member === 'run' && isFlask(childOf(target, 'object'));
    const tests: readonly (readonly [name: string, said: string, isBad: (value: SyntaxNode) => boolean])[] = [
      ['verify', 'verify=False', isUnverified],
      ['verify_ssl', 'verify=False', isUnverified],
      ['ssl', 'ssl=False', ({ type }) => type === 'false' && isConnector],
      ['cert_reqs', 'cert_reqs=CERT_NONE', isCertNone],
      ['debug', 'debug=True', isDebug],
    ];
    for (const [name, said, isBad] of tests) {
      const value = option(given, name);
      if (!value || !isBad(value)) continue;
      const row = name === 'debug' ? 'sast/python-flask-debug' : unverified;
      const call = `${name === 'debug' ? member : path || member}(${said})`;
      return sastHit(row, node, call, [...ways.flatMap(originsOf), value.start], target.start);
    }
    return undefined;
  }

  /** Literal bytes, or bytes that the same expression just serialized, are trusted. */
  function isOwnData(path: string, given: readonly SyntaxNode[]): boolean {
    if (/Unpickler|read_pickle|joblib/.test(path)) return false;
    const first = given.find(({ type }) => !/^(?:keyword_argument|dictionary_splat)$/.test(type));
    return literal(behind(first)) !== undefined || reaches(childOf(first, 'function'), dumps) !== undefined;
  }

  function isUnsafeYaml(path: string, given: readonly SyntaxNode[]): boolean {
    if (!/\.load(?:_all)?$/.test(path)) return true;
    const positional = given.filter(({ type }) => type !== 'keyword_argument');
    if (given.some(({ type }) => type === 'dictionary_splat' || type === 'list_splat')) return false;
    const loader = option(given, 'Loader') ?? positional[1];
    if (!loader) return true;
    // A loader of the file's own may be a safe one: only those that are known not to be count.
    return reaches(loader, loaders) !== undefined;
  }

  function assignmentHit(node: SyntaxNode): Hit | undefined {
    const left = childOf(node, 'left');
    const right = childOf(node, 'right');
    if (!left || !right) return undefined;
    if (right.type !== 'call' && reaches(right, /^ssl\._create_unverified_context$/))
      return sastHit(unverified, node, 'ssl._create_unverified_context');
    const member = text(childOf(left, 'attribute'));
    const object = childOf(left, 'object');
    const value = behind(right)?.type;
    if (member === 'verify_mode' && isCertNone(right))
      return sastHit(unverified, node, 'verify_mode = CERT_NONE');
    if (member === 'verify' && value === 'false' && isSession(object))
      return sastHit(unverified, node, 'verify = False');
    return member === 'debug' && value === 'true' && isFlask(object)
      ? sastHit('sast/python-flask-debug', node, 'debug = True')
      : undefined;
  }

  function isSession(node: SyntaxNode | undefined): boolean {
    const made = behind(node);
    if (made?.type === 'call')
      return reaches(childOf(made, 'function'), /^(?:requests|httpx|niquests)\./) !== undefined;
    return /(?:^|\.)_?(?:http_?)?session$/i.test(text(node).slice(0, 200));
  }

  /**
   * A Flask application for certain, or what everybody calls one where the file speaks of Flask or is not seen whole.
   */
  function isFlask(node: SyntaxNode | undefined): boolean {
    const made = behind(node);
    if (made?.type === 'call') {
      const maker = childOf(made, 'function');
      const makes = (form: RegExp) => form.test(text(maker)) || reaches(maker, form) !== undefined;
      if (makes(/(?:^|\.)Flask$/)) return true;
      if (!makes(/(?:^|\.)(?:create|make)_app$/)) return false;
    }
    const isCalledSo = /^(?:app|application|flask_app)$/.test(text(node));
    return isCalledSo && (!reading.isWhole || /\bflask\b/i.test(text(tree.root)));
  }

  function isCertNone(node: SyntaxNode): boolean {
    return reaches(node, certNone) !== undefined || literal(behind(node)) === 'CERT_NONE';
  }

  /** `profile.run(user)` without an import is any object called `profile`. */
  function isImported({ target }: Call, way: Way): boolean {
    return way.origin !== undefined || !isWhole || way.path !== text(target);
  }

  function callsMethod({ given }: Call, { path }: Way): Partial<Hit> | undefined {
    const method = path.slice('operator.methodcaller('.length, -1);
    const call = ways(given[0])
      .map((way) => `${way.path}.${method}`)
      .find((one) => shells.test(one));
    return call === undefined ? undefined : { call, why: why.shell };
  }

  /** A function that is passed on and later runs a shell: `pool.submit(subprocess.run, line, shell=True)`. */
  function handedShell(given: readonly SyntaxNode[]): string | undefined {
    const shell = option(given, 'shell') ?? option(names.entriesOf(option(given, 'kwargs')), 'shell');
    if (!shell || !isTruthy(shell)) return undefined;
    const found = given
      .flatMap((one) => ways(one.type === 'keyword_argument' ? childOf(one, 'value') : one))
      .find(({ path }) => spawns.test(path));
    return found && `${found.path}(shell=True)`;
  }

  /** What is not known to be false may be true. */
  function isTruthy(node: SyntaxNode): boolean {
    return !/^(?:False|None|0|""|'')$/.test(text(node));
  }

  function compilesCode({ given }: Call): boolean {
    // With this flag `compile` returns a syntax tree, not runnable code.
    if (given.some((one) => text(one).slice(0, 200).includes('PyCF_ONLY_AST'))) return false;
    return /^(?:exec|eval|single)$/.test(literal(option(given, 'mode') ?? behind(given[2])) ?? '');
  }

  /** Whether a statement among the first arguments, or a named one, is not written down. */
  function hasOpen(
    given: readonly SyntaxNode[],
    places: number,
    also: (node: SyntaxNode) => boolean = () => true,
  ): boolean {
    const isNamed = ({ type }: SyntaxNode) => type === 'keyword_argument';
    return [
      ...given.filter((one) => !isNamed(one)).slice(0, places),
      ...given
        .filter((one) => isNamed(one) && named.test(text(childOf(one, 'name'))))
        .map((one) => childOf(one, 'value')),
    ].some((one) => one && literal(behind(one)) === undefined && also(one));
  }

  /** Whether a value that could also be a function is a text, or may be one. */
  function mayBeText(given: SyntaxNode, depth = 0): boolean {
    const node = behind(given);
    if (!node || depth > maxDepth) return depth > maxDepth;
    switch (node.type) {
      case 'string':
      case 'binary_operator':
      case 'subscript':
        return true;
      case 'conditional_expression':
        return node.children.some((child) => mayBeText(child, depth + 1));
      case 'call': {
        const target = childOf(node, 'function');
        const member = text(childOf(target, 'attribute'));
        return textMethods.test(member) || reaches(target, textFunctions) !== undefined;
      }
      case 'identifier': {
        const given = names.find(names.nameOf(node), node) ?? [];
        const type = (given.find((one) => one.type !== undefined) ?? given.find((one) => one.path))?.type;
        return type === undefined ? !functionLike.test(text(node)) : /\bstr\b/.test(type);
      }
    }
    return false;
  }

  /** `map(eval, rows)`, `run = os.system` that no call in sight uses. */
  function handedOn(node: SyntaxNode): PassedText | undefined {
    if (!/^(?:identifier|attribute|call)$/.test(node.type)) return undefined;
    const path = ways(node).find((way) => code.test(way.path) || shells.test(way.path))?.path;
    const call = node.parent?.type === 'argument_list' ? node.parent.parent : undefined;
    if (path === undefined || ways(childOf(call, 'function')).some((way) => wrappers.test(way.path)))
      return undefined;
    return { call: path, why: `hands on what ${code.test(path) ? why.code : why.shell}` };
  }

  /** The value of a keyword among arguments, also out of a dictionary that is spread. */
  function option(given: readonly SyntaxNode[], name: string): SyntaxNode | undefined {
    return behind(names.entry(given, name));
  }

  /** What the result of a call is: `getattr(os, 'system')`, `__import__('os')`. */
  function waysOfCall(way: Way, given: readonly SyntaxNode[], follow: Follow): readonly Way[] {
    const { path } = way;
    const said = (index: number) => literal(behind(given[index]));
    const as = (other: string | undefined) => mapPaths([way], () => other);
    if (/^(?:__import__|importlib\.(?:import_module|__import__))$/.test(path)) return as(said(0));
    if (path === 'functools.partial') return follow.ways(given[0]);
    if (path === 'getattr') return memberOf(follow.ways(given[0]), said(1));
    if (path === 'vars' && given[0]) return memberOf(follow.ways(given[0]), '__dict__');
    if (/^(?:globals|locals|vars)$/.test(path)) return as('globals()');
    if (/^operator\.(?:attrgetter|methodcaller)$/.test(path)) return as(said(0) && `${path}(${said(0)})`);
    if (libraries.test(path)) return as('ctypes.CDLL()');
    if (made.test(path)) return as(`${path}()`);
    const part = /^operator\.attrgetter\((.+)\)$/.exec(path)?.[1];
    return memberOf(part === undefined ? [] : follow.ways(given[0]), part);
  }
}

/** `shell` as the ninth positional argument of `Popen` and its wrappers. */
function byPlace(given: readonly SyntaxNode[]): SyntaxNode | undefined {
  const before = given.slice(0, placeOfShell + 1);
  return before.some(({ type }) => /^(?:keyword_argument|list_splat|dictionary_splat)$/.test(type))
    ? undefined
    : before[placeOfShell];
}

const takers = takersIn(`assignment.right named_expression.value argument_list list tuple pair.value
  keyword_argument.value default_parameter.value typed_default_parameter.value decorator return_statement`);

function memberOf(ways: readonly Way[], part: string | undefined): readonly Way[] {
  return part === undefined ? [] : mapPaths(ways, (base) => plainPath(`${base}.${part}`));
}

/** `globals()['eval']`, `sys.modules['os']`, `builtins.__dict__['eval']`. */
function entryOf(base: string, key: string): string | undefined {
  if (/^(?:globals\(\)|sys\.modules)$/.test(base)) return key;
  return /^(?:builtins|__builtins__|__builtin__)$|__dict__$/.test(base)
    ? plainPath(`${base.replace(/\.__dict__$/, '')}.${key}`)
    : undefined;
}

/** Returns a path without the builtins module, which names in it do not need. */
function plainPath(path: string): string {
  return path.replace(builtins, '');
}
