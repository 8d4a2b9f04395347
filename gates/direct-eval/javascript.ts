import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import { isDeclared, type JavascriptNames, javascriptNames } from './javascript-names.ts';
import type { Reading } from './reading.ts';
import { handsShellText } from './shell-words.ts';

const compilers = /^(?:Async|Generator|AsyncGenerator)?Function$/;
const timers = /^(?:setTimeout|setInterval|setImmediate|execScript)$/;
const machines = /^#vm\.(?:compileFunction|Script|SourceTextModule)$/;
const execs =
  /^(?:#(?:child_process|shelljs)|child_process|childProcess|cp|shelljs)\.exec(?:Sync)?$|^execSync$/;
const spawns =
  /^(?:#(?:child_process|execa|cross-spawn|node-pty)|child_process|childProcess|cp)(?:\.(?:spawn|spawnSync|execFile|execFileSync|fork|execa|execaSync|execaCommand|execaCommandSync|sync))?$|^(?:spawn|spawnSync|execFile|execFileSync|execa)$/;

const why = {
  code: 'evaluates a string as code',
  compiled: 'compiles a string as code',
  shell: 'runs a command line in a shell',
};

/** Direct execution in JavaScript and TypeScript, under whatever name it was imported or taken. */
export function javascriptHits(reading: Reading): readonly Hit[] {
  const names = javascriptNames(reading);
  const hits: Hit[] = [];
  /** Places at which a function was given a name under which a hit calls it. */
  const called = new Set<number>();
  for (const node of reading.tree.nodes) {
    if (node.type !== 'call_expression' && node.type !== 'new_expression') continue;
    const hit = callHit(reading, names, node);
    if (!hit) continue;
    for (const at of hit.also ?? []) called.add(at);
    hits.push(hit);
  }
  for (const node of reading.tree.nodes) {
    const hit =
      node.type === 'identifier' || node.type === 'member_expression' || node.type === 'subscript_expression';
    if (hit && isHandedOn(reading, names, node, called))
      hits.push({
        start: node.start,
        call: reading.text(node).slice(0, 60),
        why: 'hands on what evaluates strings',
      });
  }
  return hits;
}

function callHit(reading: Reading, names: JavascriptNames, node: SyntaxNode): Hit | undefined {
  const { literal, text, isText } = reading;
  const target = childOf(node, node.type === 'new_expression' ? 'constructor' : 'function');
  const given = childOf(node, 'arguments');
  if (!target || !given || isDeclared(node)) return undefined;
  const list = given.type === 'arguments' ? given.children.filter(({ type }) => type !== 'comment') : [given];
  const seen: number[] = [];
  const whole = names.resolve(target, seen);
  const hit = (call: string, reason: string, ...also: readonly number[]): Hit => ({
    start: target.start,
    end: node.end,
    also: [...seen, ...also],
    call,
    why: reason,
  });
  if (looksLikeMethod(reading, node)) return undefined;
  const property = target.type === 'member_expression' ? text(childOf(target, 'property')) : '';
  if (/^runIn(?:New|This)?Context$/.test(property)) return hit(property, 'runs a string as code');
  if (property === '_compile' && list.length > 1) return hit(property, 'compiles a string as a module');
  if (
    property === 'constructor' &&
    (isText(list[0]) || /\bconstructor$/.test(text(childOf(target, 'object')))) &&
    list.length > 0
  )
    return hit('constructor', 'compiles a string as a function');
  if (whole === undefined) return undefined;
  if (/^Reflect\.(?:apply|construct)$/.test(whole)) {
    const path = names.resolve(list[0], seen);
    return path === 'eval' || (path && compilers.test(path)) ? hit(path, why.code) : undefined;
  }
  const path = whole.replace(/\.(?:call|apply)$/, '');
  if (path === 'eval' && list.length > 0) return hit('eval', why.code);
  if (compilers.test(path)) return hit(path, 'compiles a string as a function');
  if (timers.test(path)) return isText(names.behind(list[0])) ? hit(path, why.code) : undefined;
  if (machines.test(path) || (path.startsWith('vm.') && machines.test(`#${path}`)))
    return hit(path.replace('#', ''), why.compiled);
  if (/^#vm\.runIn/.test(path)) return hit(path.slice(1), 'runs a string as code');
  if (path === 'import' && /^\s*data:/i.test(reading.opening(list[0]))) return hit('import', why.compiled);
  if (path === 'Worker' || path === '#worker_threads.Worker') {
    const option = optionOf(reading, names, list, 'eval');
    return option?.type === 'true' ? hit('new Worker', 'runs a string as a worker', option.start) : undefined;
  }
  // Without the rest of the file a bare `exec` may have been imported out of sight.
  if (execs.test(path) || (path === 'exec' && !reading.isWhole)) return hit(path.replace('#', ''), why.shell);
  if (!spawns.test(path)) return undefined;
  const shell = optionOf(reading, names, list, 'shell');
  if (shell && isTruthy(shell, literal(shell)))
    return hit(path.replace('#', ''), 'spawns through a shell', shell.start);
  return handsShellText(wordsOf(reading, names, list))
    ? hit(path.replace('#', ''), 'hands a command line to a shell')
    : undefined;
}

/** `exec(sql) {` seen without its class reads like a call. */
function looksLikeMethod(reading: Reading, node: SyntaxNode): boolean {
  const next = reading.tree.root;
  if (reading.isWhole || node.parent?.type === 'arguments') return false;
  return /^\s*(?::[^\n;(){}]*)?\{/.test(
    reading.text({ ...next, start: node.end, end: Math.min(next.end, node.end + 200) }),
  );
}

/** The value of an option in an object among the arguments, or in a variable that holds one. */
function optionOf(
  { text, literal }: Reading,
  names: JavascriptNames,
  list: readonly SyntaxNode[],
  name: string,
): SyntaxNode | undefined {
  const seek = (object: SyntaxNode | undefined, depth: number): SyntaxNode | undefined => {
    if (object?.type !== 'object' || depth > 4) return undefined;
    for (const entry of object.children) {
      const key = childOf(entry, 'key');
      if (entry.type === 'pair' && (literal(key) ?? text(key)) === name)
        return names.behind(childOf(entry, 'value'));
      if (entry.type === 'shorthand_property_identifier' && text(entry) === name) return entry;
      if (entry.type === 'spread_element') {
        const found = seek(names.behind(entry.children[0]), depth + 1);
        if (found) return found;
      }
    }
    return undefined;
  };
  for (const argument of list) {
    const found = seek(names.behind(argument), 0);
    if (found) return found;
  }
  return undefined;
}

function isTruthy({ type }: SyntaxNode, said: string | undefined): boolean {
  if (said !== undefined) return said !== '' && said !== '0';
  return !/^(?:false|null|undefined)$/.test(type);
}

/** The arguments as words, lists taken apart. */
function wordsOf(
  { literal }: Reading,
  names: JavascriptNames,
  list: readonly SyntaxNode[],
): readonly (string | undefined)[] {
  return list.flatMap((argument) => {
    const value = names.behind(argument);
    if (value?.type === 'array') return value.children.map((item) => literal(names.behind(item)));
    return value?.type === 'object' ? [] : [literal(value)];
  });
}

/** `const run = eval`, `rows.map(eval)`, `promisify(exec)` that no call in sight uses: what evaluates strings leaves our sight. */
function isHandedOn(
  reading: Reading,
  names: JavascriptNames,
  node: SyntaxNode,
  called: ReadonlySet<number>,
): boolean {
  const { parent, field } = node;
  if (!parent || isDeclared(node)) return false;
  const isValue =
    (parent.type === 'variable_declarator' && field === 'value') ||
    (parent.type === 'assignment_expression' && field === 'right') ||
    (parent.type === 'pair' && field === 'value') ||
    parent.type === 'arguments' ||
    parent.type === 'return_statement' ||
    (parent.type === 'arrow_function' && field === 'body') ||
    (/field_definition$/.test(parent.type) && field === 'value');
  if (!isValue) return false;
  const call = parent.type === 'arguments' ? childOf(parent.parent, 'function') : undefined;
  const isPromise = call !== undefined && /(?:^|\.)promisify$/.test(names.resolve(call) ?? '');
  const path = names.resolve(node);
  if (
    path === undefined ||
    !(path === 'eval' || (isPromise && (execs.test(path) || (path === 'exec' && !reading.isWhole))))
  )
    return false;
  if (call && /^Reflect\./.test(names.resolve(call) ?? '')) return false;
  const owner = isPromise ? parent.parent : node;
  const place = outermost(owner ?? node);
  const name = childOf(place, 'name') ?? childOf(place, 'left');
  return !(name && called.has(name.start));
}

/** The declaration or assignment that a value is given in, through wrappers. */
function outermost(node: SyntaxNode): SyntaxNode | undefined {
  let at: SyntaxNode | undefined = node.parent;
  while (at && /^(?:parenthesized_expression|as_expression|non_null_expression)$/.test(at.type))
    at = at.parent;
  return at;
}
