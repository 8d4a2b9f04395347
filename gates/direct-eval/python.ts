import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import { type PythonNames, pythonNames } from './python-names.ts';
import type { Reading } from './reading.ts';
import { handsShellText } from './shell-words.ts';

const code = /^(?:eval|exec|execfile|six\.exec_)$/;
const shells =
  /^(?:os\.(?:system|popen[234]?)|popen2\.popen[234]|commands\.get(?:status)?output|subprocess\.get(?:status)?output|asyncio\.create_subprocess_shell|asyncio\.subprocess\.create_subprocess_shell|platform\.popen)$/;
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
};

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
  const given =
    list.type === 'argument_list' ? list.children.filter(({ type }) => type !== 'comment') : [list];
  const seen: number[] = [];
  const path = names.resolve(target, seen);
  const hit = (call: string, reason: string, ...also: readonly number[]): Hit => ({
    start: target.start,
    end: node.end,
    also: [...seen, ...also],
    call,
    why: reason,
  });
  const member = target.type === 'attribute' ? text(childOf(target, 'attribute')) : '';
  if (member === 'subprocess_shell') return hit(member, why.shell);
  if (path === undefined || given.length === 0) return undefined;
  if (code.test(path)) return hit(path, why.code);
  if (path === 'compile')
    return compilesCode(reading, names, given) ? hit(path, 'compiles a string as code') : undefined;
  if (shells.test(path)) return hit(path, why.shell);
  const isBare = !reading.isWhole && /^(?:Popen|check_output|check_call)$/.test(path);
  if (spawns.test(path) || isBare) {
    const shell = optionOf(reading, names, given);
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

/** The value of `shell=`, also out of a dictionary that is spread. */
function optionOf(
  { text, literal }: Reading,
  names: PythonNames,
  given: readonly SyntaxNode[],
): SyntaxNode | undefined {
  for (const argument of given) {
    if (argument.type === 'keyword_argument' && text(childOf(argument, 'name')) === 'shell')
      return names.behind(childOf(argument, 'value'));
    if (argument.type !== 'dictionary_splat') continue;
    const spread = names.behind(argument.children[0]);
    const entry = spread?.children.find(
      ({ type, ...pair }) => type === 'pair' && literal(childOf({ type, ...pair }, 'key')) === 'shell',
    );
    if (spread?.type === 'dictionary' && entry) return childOf(entry, 'value');
  }
  return undefined;
}

/** What is not known to be false may be true. */
function isTruthy({ type }: SyntaxNode, written: string): boolean {
  return !(type === 'false' || type === 'none' || written === '0' || written === '""' || written === "''");
}

function compilesCode({ text, literal }: Reading, names: PythonNames, given: readonly SyntaxNode[]): boolean {
  const named = given.find((one) => one.type === 'keyword_argument' && text(childOf(one, 'name')) === 'mode');
  const mode = named ? childOf(named, 'value') : given[2];
  return /^(?:exec|eval|single)$/.test(literal(names.behind(mode)) ?? '');
}

/** `map(eval, rows)`, `run = os.system` that no call in sight uses. */
function handedOn(names: PythonNames, node: SyntaxNode, called: ReadonlySet<number>): string | undefined {
  const { parent, field } = node;
  if (!parent) return undefined;
  const place =
    parent.type === 'list' ||
    parent.type === 'tuple' ||
    parent.type === 'pair' ||
    parent.type === 'keyword_argument';
  const isValue =
    (parent.type === 'assignment' && field === 'right') ||
    (parent.type === 'named_expression' && field === 'value') ||
    (parent.type === 'argument_list' && field === undefined) ||
    (place && field !== 'name' && field !== 'key') ||
    parent.type === 'return_statement';
  if (!isValue) return undefined;
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
