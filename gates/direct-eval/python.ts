import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { type PythonNames, pythonNames } from '../../readers/source/names/python-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit } from './hit.ts';
import { consoles, statementReason } from './python-statements.ts';
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
  const { literal, text } = reading;
  const target = childOf(node, 'function');
  const list = childOf(node, 'arguments');
  if (!target || !list) return undefined;
  const all = list.type === 'argument_list' ? list.children.filter(({ type }) => type !== 'comment') : [list];
  const seen: number[] = [];
  const outer = names.resolve(target, seen);
  // What is bound in advance is as good as called.
  const isBound = outer === 'functools.partial';
  const given = isBound ? all.slice(1) : all;
  const path = isBound ? names.resolve(all[0], seen) : outer;
  const hit = (call: string, reason: string, ...also: readonly number[]): Hit => ({
    start: target.start,
    end: node.end,
    also: [...seen, ...also],
    call,
    why: reason,
  });
  const member = target.type === 'attribute' ? text(childOf(target, 'attribute')) : '';
  if (member === 'subprocess_shell') return hit(member, why.shell);
  const handed = handedShell(reading, names, given);
  if (handed !== undefined) return hit(`${handed}(shell=True)`, why.shell);
  if (path === undefined || (given.length === 0 && !consoles.test(path))) return undefined;
  const method = /^operator\.methodcaller\((.+)\)$/.exec(path)?.[1];
  if (method !== undefined) {
    const reached = `${names.resolve(given[0])}.${method}`;
    return shells.test(reached) ? hit(reached, why.shell) : undefined;
  }
  // `profile.run(user)` without an import is anybody's `profile`.
  const isImported = seen.length > 0 || !reading.isWhole || path !== text(target);
  const statement = isImported ? statementReason(reading, names, path, given) : undefined;
  if (statement !== undefined) return hit(path, statement);
  if (code.test(path)) return hit(path, why.code);
  if (path === 'compile')
    return compilesCode(reading, names, given) ? hit(path, 'compiles a string as code') : undefined;
  if (shells.test(path)) return hit(path, why.shell);
  const isBare = !reading.isWhole && /^(?:Popen|check_output|check_call)$/.test(path);
  if (spawns.test(path) || isBare) {
    const shell = optionOf(reading, names, given) ?? shellByPlace(given);
    if (shell && isTruthy(shell, text(shell))) return hit(`${path}(shell=True)`, why.shell, shell.start);
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
  return handsShellText(words) ? hit(path, 'hands a command line to a shell') : undefined;
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
    .map((one) => names.resolve(one.type === 'keyword_argument' ? childOf(one, 'value') : one))
    .find((path) => path !== undefined && spawns.test(path));
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
  if (node?.type !== 'call' || names.resolve(childOf(node, 'function')) !== 'dict') return undefined;
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
  const path = names.resolve(node);
  if (path === undefined || !(code.test(path) || shells.test(path))) return undefined;
  // What only wraps a function is followed to where it is called.
  if (parent.type === 'argument_list') {
    const outer = names.resolve(childOf(parent.parent, 'function'));
    if (
      outer !== undefined &&
      /^(?:getattr|functools\.partial|isinstance|callable|hasattr|type|id|repr)$/.test(outer)
    )
      return undefined;
  }
  const given = childOf(parent, 'left') ?? childOf(parent, 'name');
  return given && called.has(given.start) ? undefined : path;
}
