import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { originsOf } from '../../readers/source/names/paths.ts';
import { type PythonNames, pythonNames } from '../../readers/source/names/python-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit, Reason } from './hit.ts';
import { handsShellText } from './shell-words.ts';

const code = /^(?:eval|exec|execfile|six\.exec_)$/;
const shells =
  /^(?:os\.(?:system|popen[234]?)|popen2\.(?:popen[234]|Popen[34])|commands\.get(?:status)?output|subprocess\.get(?:status)?output|asyncio\.create_subprocess_shell|asyncio\.subprocess\.create_subprocess_shell|platform\.popen|ctypes\.(?:CDLL\(\)|(?:cdll|windll)\.\w+)\.(?:w?system|_?w?popen))$/;
const spawns =
  /^(?:subprocess\.(?:run|call|check_call|check_output|Popen)|sh\.Command|psutil\.Popen|gevent\.subprocess\.\w+)$/;
const launchers =
  /^(?:subprocess\.\w+|os\.(?:exec|spawn|posix_spawn)\w*|asyncio\.create_subprocess_exec|pexpect\.spawn|pty\.spawn|psutil\.Popen)$/;
const offers = {
  os: ['system', 'popen', 'execl', 'execv', 'execvp', 'spawnl', 'spawnv'],
  subprocess: ['run', 'call', 'check_call', 'check_output', 'Popen', 'getoutput', 'getstatusoutput'],
  builtins: ['eval', 'exec', 'compile'],
  commands: ['getoutput', 'getstatusoutput'],
  asyncio: ['create_subprocess_shell', 'create_subprocess_exec'],
  timeit: ['timeit', 'repeat', 'Timer'],
  runpy: ['run_path', 'run_module'],
  code: ['interact', 'InteractiveConsole', 'InteractiveInterpreter', 'compile_command'],
};

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

/** Of choices between values: which one goes on is unknown. */
const maxSteps = 50;

/** Calls that run no function which they are given: their result is followed to its call. */
const wrappers = /^(?:getattr|functools\.partial|isinstance|callable|hasattr|type|id|repr)$/;
const placeOfShell = 8;

const why = { code: 'evaluates a string as code', shell: 'runs a command line in a shell' };

/** Direct execution in Python, under whatever name it was imported or taken. */
export function pythonHits(reading: Reading): readonly Hit[] {
  const names = pythonNames(reading, offers);
  const hits: Hit[] = [];
  const called = new Set<number>();
  for (const node of reading.tree.nodes) {
    if (node.type !== 'call') continue;
    const hit = callHit(reading, names, node);
    if (!hit) continue;
    for (const at of hit.also ?? []) called.add(at);
    hits.push(hit);
  }
  for (const node of reading.tree.nodes) {
    if (node.type !== 'identifier' && node.type !== 'attribute' && node.type !== 'call') continue;
    const path = handedOn(names, node, called);
    if (path !== undefined)
      hits.push({
        start: node.start,
        call: path,
        why: `hands on what ${code.test(path) ? why.code : why.shell}`,
      });
  }
  return hits;
}

function callHit(reading: Reading, names: PythonNames, node: SyntaxNode): Hit | undefined {
  const { text } = reading;
  const target = childOf(node, 'function');
  const list = childOf(node, 'arguments');
  if (!target || !list) return undefined;
  const all = list.type === 'argument_list' ? list.children.filter(({ type }) => type !== 'comment') : [list];
  const outer = names.ways(target);
  // What is bound in advance is as good as called.
  const isBound = outer.some(({ path }) => path === 'functools.partial');
  const given = isBound ? all.slice(1) : all;
  const ways = isBound ? names.ways(all[0]) : outer;
  const hit = (call: string, why: string, also: readonly number[]): Hit => ({
    start: target.start,
    end: node.end,
    also,
    call,
    why,
  });
  const member = target.type === 'attribute' ? text(childOf(target, 'attribute')) : '';
  const origins = ways.flatMap(originsOf);
  if (member === 'subprocess_shell') return hit(member, why.shell, origins);
  const handed = handedShell(reading, names, given);
  if (handed !== undefined) return hit(`${handed}(shell=True)`, why.shell, origins);
  for (const way of ways) {
    const seen = originsOf(way);
    // `profile.run(user)` without an import is anybody's `profile`.
    const isImported = seen.length > 0 || !reading.isWhole || way.path !== text(target);
    const found = reasonOf(reading, names, { path: way.path, isImported }, given);
    if (found) return hit(found.call ?? way.path, found.why, [...seen, ...(found.also ?? [])]);
  }
  return undefined;
}

/** Why a call of what is reached by a path executes text. */
function reasonOf(
  reading: Reading,
  names: PythonNames,
  { path, isImported }: { readonly path: string; readonly isImported: boolean },
  given: readonly SyntaxNode[],
): Reason | undefined {
  const { literal, text } = reading;
  if (given.length === 0 && !consoles.test(path)) return undefined;
  const method = /^operator\.methodcaller\((.+)\)$/.exec(path)?.[1];
  if (method !== undefined) {
    const reached = names.ways(given[0]).map((way) => `${way.path}.${method}`);
    const call = reached.find((one) => shells.test(one));
    return call === undefined ? undefined : { call, why: why.shell };
  }
  const statement = isImported ? statementReason(reading, names, path, given) : undefined;
  if (statement !== undefined) return { why: statement };
  if (code.test(path)) return { why: why.code };
  if (path === 'compile')
    return compilesCode(reading, names, given) ? { why: 'compiles a string as code' } : undefined;
  if (shells.test(path)) return { why: why.shell };
  const isBare = !reading.isWhole && /^(?:Popen|check_output|check_call)$/.test(path);
  if (spawns.test(path) || isBare) {
    const shell = optionOf(reading, names, given) ?? shellByPlace(given);
    if (shell && isTruthy(shell, text(shell)))
      return { call: `${path}(shell=True)`, why: why.shell, also: [shell.start] };
  }
  if (!launchers.test(path) && !isBare) return undefined;
  const words = given
    .filter(({ type }) => type !== 'keyword_argument')
    .map((argument) => names.behind(argument))
    .flatMap((value) =>
      value && /^(?:list|tuple)$/.test(value.type)
        ? value.children.map((item) => literal(names.behind(item)))
        : [literal(value)],
    );
  return handsShellText(words) ? { why: 'hands a command line to a shell' } : undefined;
}

/**
 * `pool.submit(subprocess.run, line, shell=True)`, `Thread(target=subprocess.run, kwargs={'shell': True})`: what is
 * handed on and will meet a shell.
 */
function handedShell(reading: Reading, names: PythonNames, given: readonly SyntaxNode[]): string | undefined {
  const { text } = reading;
  if (!given.some(({ type }) => type === 'keyword_argument' || type === 'dictionary_splat')) return undefined;
  const kept = given.find(
    (one) => one.type === 'keyword_argument' && text(childOf(one, 'name')) === 'kwargs',
  );
  const shell =
    optionOf(reading, names, given) ?? entryOf(reading, names, names.behind(childOf(kept, 'value')));
  if (!shell || !isTruthy(shell, text(shell))) return undefined;
  return given
    .flatMap((one) => names.ways(one.type === 'keyword_argument' ? childOf(one, 'value') : one))
    .find(({ path }) => spawns.test(path))?.path;
}

/** The value of `shell=`, also out of a dictionary that is spread. */
function optionOf(
  reading: Reading,
  names: PythonNames,
  given: readonly SyntaxNode[],
): SyntaxNode | undefined {
  for (const argument of given) {
    if (argument.type === 'keyword_argument') {
      if (reading.text(childOf(argument, 'name')) === 'shell')
        return names.behind(childOf(argument, 'value'));
    } else if (argument.type === 'dictionary_splat') {
      const value = entryOf(reading, names, names.behind(argument.children[0]));
      if (value) return value;
    }
  }
  return undefined;
}

/** What a dictionary (`{'shell': True}`, `dict(shell=True)`) holds under `shell`. */
function entryOf(
  { text, literal }: Reading,
  names: PythonNames,
  node: SyntaxNode | undefined,
): SyntaxNode | undefined {
  if (node?.type === 'dictionary')
    return childOf(
      node.children.find((one) => one.type === 'pair' && literal(childOf(one, 'key')) === 'shell'),
      'value',
    );
  if (node?.type !== 'call' || !names.ways(childOf(node, 'function')).some(({ path }) => path === 'dict'))
    return undefined;
  const entry = childOf(node, 'arguments')?.children.find(
    (one) => one.type === 'keyword_argument' && text(childOf(one, 'name')) === 'shell',
  );
  return childOf(entry, 'value');
}

/** The ninth value of `Popen` and what hands its values on. */
function shellByPlace(given: readonly SyntaxNode[]): SyntaxNode | undefined {
  const before = given.slice(0, placeOfShell + 1);
  const isPlain = before.every(
    ({ type }) => !/^(?:keyword_argument|list_splat|dictionary_splat)$/.test(type),
  );
  return isPlain ? before[placeOfShell] : undefined;
}

/** What is not known to be false may be true. */
function isTruthy({ type }: SyntaxNode, written: string): boolean {
  return !(type === 'false' || type === 'none' || written === '0' || written === '""' || written === "''");
}

function compilesCode({ text, literal }: Reading, names: PythonNames, given: readonly SyntaxNode[]): boolean {
  // A tree is built, and nothing that could be run.
  if (given.some((one) => text(one).slice(0, 200).includes('PyCF_ONLY_AST'))) return false;
  const named = given.find((one) => one.type === 'keyword_argument' && text(childOf(one, 'name')) === 'mode');
  const mode = named ? childOf(named, 'value') : given[2];
  return /^(?:exec|eval|single)$/.test(literal(names.behind(mode)) ?? '');
}

type Role = (field: string | undefined) => boolean;
const inList: Role = (field) => field !== 'name' && field !== 'key';
const asValue: Role = (field) => field === 'value';
const always: Role = () => true;
/** By the syntax around an expression: whether it is a value there that is handed on. */
const holders: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['assignment', (field) => field === 'right'],
  ['named_expression', asValue],
  ['argument_list', (field) => field === undefined],
  ['list', inList],
  ['tuple', inList],
  ['pair', inList],
  ['keyword_argument', inList],
  ['default_parameter', asValue],
  ['typed_default_parameter', asValue],
  ['decorator', always],
  ['return_statement', always],
]);

/** `map(eval, rows)`, `run = os.system` that no call in sight uses. */
function handedOn(names: PythonNames, node: SyntaxNode, called: ReadonlySet<number>): string | undefined {
  const { parent, field } = node;
  if (!parent) return undefined;
  const isValue = holders.get(parent.type);
  if (!isValue?.(field)) return undefined;
  const path = names.ways(node).find((way) => code.test(way.path) || shells.test(way.path))?.path;
  if (path === undefined) return undefined;
  if (parent.type === 'argument_list') {
    const outer = names.ways(childOf(parent.parent, 'function'));
    if (outer.some(({ path: by }) => wrappers.test(by))) return undefined;
  }
  const given = childOf(parent, 'left') ?? childOf(parent, 'name');
  return given && called.has(given.start) ? undefined : path;
}

/**
 * Why a call executes text that is not written down, of the functions that take a statement; a literal statement is no
 * finding.
 */
function statementReason(
  reading: Reading,
  names: PythonNames,
  path: string,
  given: readonly SyntaxNode[],
): string | undefined {
  if (consoles.test(path)) return 'evaluates what is typed';
  const isTimer = timers.test(path);
  if (!isTimer && !runners.test(path) && !scripts.test(path)) return undefined;
  const positional = given.filter(({ type }) => type !== 'keyword_argument');
  const texts = [
    ...positional.slice(0, isTimer ? 2 : 1),
    ...given
      .filter(
        ({ type, ...one }) =>
          type === 'keyword_argument' && named.test(reading.text(childOf({ type, ...one }, 'name'))),
      )
      .map((one) => childOf(one, 'value')),
  ];
  const isOpen = texts.some(
    (one) =>
      one && reading.literal(names.behind(one)) === undefined && (!isTimer || mayBeText(reading, names, one)),
  );
  if (!isOpen) return undefined;
  return scripts.test(path) ? 'runs a file whose name is not written down' : 'evaluates a string as code';
}

/** Whether a value that could also be a function is a text, or may be one. */
function mayBeText(reading: Reading, names: PythonNames, given: SyntaxNode, walked = { steps: 0 }): boolean {
  const { text } = reading;
  const node = names.behind(given);
  walked.steps += 1;
  if (walked.steps > maxSteps) return true;
  if (!node) return false;
  switch (node.type) {
    case 'string':
    case 'concatenated_string':
    case 'binary_operator':
    case 'subscript':
      return true;
    case 'conditional_expression':
      return node.children.some((child) => mayBeText(reading, names, child, walked));
    case 'call': {
      const target = childOf(node, 'function');
      const member = target?.type === 'attribute' ? text(childOf(target, 'attribute')) : '';
      return textMethods.test(member) || names.ways(target).some(({ path }) => textFunctions.test(path));
    }
    case 'identifier': {
      const type = names.typeOf(node);
      return type === undefined ? !functionLike.test(text(node)) : /\bstr\b/.test(type);
    }
  }
  return false;
}
