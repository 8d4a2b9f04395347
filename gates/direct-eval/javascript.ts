import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import {
  isDeclared,
  type JavascriptNames,
  javascriptNames,
} from '../../readers/source/names/javascript-names.ts';
import { originsOf } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit, Reason } from './hit.ts';
import { handsShellText } from './shell-words.ts';

const compilers = /^(?:Async|Generator|AsyncGenerator)?Function$/;
const timers = /^(?:setTimeout|setInterval|setImmediate|execScript)$/;
const machines = /^#vm\.(?:compileFunction|Script|SourceTextModule)$/;
const execs =
  /^(?:#(?:child_process|shelljs)|child_process|childProcess|cp|shelljs)\.exec(?:Sync)?$|^execSync$/;
const spawns =
  /^(?:#(?:child_process|execa|cross-spawn|node-pty)|child_process|childProcess|cp)(?:\.(?:spawn|spawnSync|execFile|execFileSync|fork|execa|execaSync|execaCommand|execaCommandSync|sync|\$))?$|^(?:spawn|spawnSync|execFile|execFileSync|execa)$|^(?:Bun\.spawn(?:Sync)?|Deno\.(?:Command|run))$/;
/** Sandboxes that run a text: it is code all the same. */
const sandboxes =
  /^#(?:vm2\.(?:VM|NodeVM)\(\)\.run|vm2\.VMScript|isolated-vm\.Isolate\(\)\.compileScript(?:Sync)?)$/;
const workers = /^(?:Worker|SharedWorker|#worker_threads\.Worker)$/;
/** Parts of the runtime that start processes or compile, behind its public modules. */
const bindings = /^(?:spawn_sync|process_wrap|contextify|evals)$/;

/** What a value can be handed to. */
const takers =
  /^(?:variable_declarator|assignment_expression|pair|arguments|return_statement|arrow_function|public_field_definition|field_definition)$/;

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
  const values: SyntaxNode[] = [];
  for (const node of reading.tree.nodes) {
    const { type, parent } = node;
    if (type === 'identifier' || type === 'member_expression' || type === 'subscript_expression') {
      if (parent && takers.test(parent.type)) values.push(node);
      continue;
    }
    if (type !== 'call_expression' && type !== 'new_expression') continue;
    const hit = callHit(reading, names, node);
    if (!hit || isDeclared(node)) continue;
    for (const at of hit.also ?? []) called.add(at);
    hits.push(hit);
  }
  for (const node of values) {
    if (isHandedOn(reading, names, node, called))
      hits.push({
        start: node.start,
        call: reading.text(node).slice(0, 60),
        why: 'hands on what evaluates strings',
      });
  }
  return hits;
}

function callHit(reading: Reading, names: JavascriptNames, node: SyntaxNode): Hit | undefined {
  const { text, isText } = reading;
  const target = childOf(node, node.type === 'new_expression' ? 'constructor' : 'function');
  const given = childOf(node, 'arguments');
  if (!target || !given || looksLikeMethod(reading, node)) return undefined;
  const list = given.type === 'arguments' ? given.children.filter(({ type }) => type !== 'comment') : [given];
  const ways = names.ways(target);
  const hit = (call: string, why: string, also: readonly number[] = ways.flatMap(originsOf)): Hit => ({
    start: target.start,
    end: node.end,
    also,
    call,
    why,
  });
  const property =
    target.type === 'member_expression'
      ? text(childOf(target, 'property'))
      : target.type === 'subscript_expression' && list.length > 0
        ? (names.said(childOf(target, 'index')) ?? '')
        : '';
  if (/^runIn(?:New|This)?Context$/.test(property)) return hit(property, 'runs a string as code');
  if (property === '_compile' && list.length > 1) return hit(property, 'compiles a string as a module');
  if (
    property === 'constructor' &&
    list.length > 0 &&
    (isText(list[0]) || isCalled(node) || /\bconstructor["'`\]]{0,2}$/.test(text(childOf(target, 'object'))))
  )
    return hit('constructor', 'compiles a string as a function');
  for (const way of ways) {
    const found = reasonOf(reading, names, way.path, list);
    if (found)
      return hit(found.call ?? way.path.replace('#', ''), found.why, [
        ...originsOf(way),
        ...(found.also ?? []),
      ]);
  }
  return undefined;
}

/** Why a call of what is reached by a path executes text. */
function reasonOf(
  reading: Reading,
  names: JavascriptNames,
  whole: string,
  list: readonly SyntaxNode[],
): Reason | undefined {
  const { literal, text, isText } = reading;
  if (/^Reflect\.(?:apply|construct)$/.test(whole)) {
    const way = names.ways(list[0]).find(({ path }) => path === 'eval' || compilers.test(path));
    return way && { call: way.path, why: why.code, also: originsOf(way) };
  }
  const path = whole.replace(/\.(?:call|apply)$/, '');
  const call = path.replace('#', '');
  if (path === 'eval' && list.length > 0) return { call, why: why.code };
  if (compilers.test(path)) return { call, why: 'compiles a string as a function' };
  if (timers.test(path)) return isText(names.behind(list[0])) ? { call, why: why.code } : undefined;
  if (machines.test(path) || (path.startsWith('vm.') && machines.test(`#${path}`)))
    return { call, why: why.compiled };
  if (/^#vm\.runIn/.test(path)) return { call, why: 'runs a string as code' };
  if (sandboxes.test(path)) return { call: call.replaceAll('()', ''), why: why.code };
  if (/^(?:\$|jQuery|#jquery)\.globalEval$/.test(path)) return { call, why: why.code };
  if (/^(?:import|importScripts)$/.test(path) && isDataAddress(reading, names, list[0]))
    return { call, why: why.compiled };
  if (path === 'process.binding' && bindings.test(names.said(list[0]) ?? ''))
    return { call, why: 'reaches past the modules that start processes and compile' };
  if (workers.test(path)) {
    const option = optionOf(reading, names, list, 'eval');
    if (option?.type !== 'true' && !isDataAddress(reading, names, list[0])) return undefined;
    const also = option?.type === 'true' ? [option.start] : [];
    return { call: `new ${path.replace(/.*\./, '')}`, why: 'runs a string as a worker', also };
  }
  if (path === 'exec' && /["'`]shelljs\/global["'`]/.test(text(reading.tree.root)))
    return { call: 'shelljs.exec', why: why.shell };
  // Without the rest of the file a bare `exec` may have been imported out of sight.
  if (execs.test(path) || (path === 'exec' && !reading.isWhole)) return { call, why: why.shell };
  if (!spawns.test(path)) return undefined;
  const shell = optionOf(reading, names, list, 'shell');
  if (shell && isTruthy(shell, literal(shell)))
    return { call, why: 'spawns through a shell', also: [shell.start] };
  return handsShellText(wordsOf(reading, names, list))
    ? { call, why: 'hands a command line to a shell' }
    : undefined;
}

/** Whether what a call answers is called there and then: `f.constructor(text)()`. */
function isCalled(node: SyntaxNode): boolean {
  return (
    node.type === 'call_expression' && node.parent?.type === 'call_expression' && node.field === 'function'
  );
}

/** An address that holds the script itself: `data:…`, also as a `URL`, or one made for a `Blob`. */
function isDataAddress(
  reading: Reading,
  names: JavascriptNames,
  node: SyntaxNode | undefined,
  depth = 0,
): boolean {
  const value = names.behind(node);
  if (!value || depth > 4) return false;
  if (/^\s*data:/i.test(names.said(value) ?? reading.opening(value))) return true;
  const target = childOf(value, 'constructor') ?? childOf(value, 'function');
  const first = childOf(value, 'arguments')?.children[0];
  return names
    .ways(target)
    .some(({ path }) =>
      value.type === 'new_expression'
        ? path === 'Blob' || (path === 'URL' && isDataAddress(reading, names, first, depth + 1))
        : path === 'URL.createObjectURL' && isDataAddress(reading, names, first, depth + 1),
    );
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
  reading: Reading,
  names: JavascriptNames,
  list: readonly SyntaxNode[],
): readonly (string | undefined)[] {
  const { literal } = reading;
  return list.flatMap((argument) => {
    const value = names.behind(argument);
    if (value?.type === 'array') return value.children.map((item) => literal(names.behind(item)));
    // `Deno.Command(program, { args })`, `Deno.run({ cmd })`.
    const inner =
      value?.type === 'object'
        ? names.behind(optionOf(reading, names, [value], 'args') ?? optionOf(reading, names, [value], 'cmd'))
        : undefined;
    if (inner) return inner.type === 'array' ? wordsOf(reading, names, [inner]) : [undefined];
    return value?.type === 'object' ? [] : [literal(value)];
  });
}

/**
 * `const run = eval`, `rows.map(eval)`, `promisify(exec)` that no call in sight uses: what evaluates strings leaves our
 * sight.
 */
function isHandedOn(
  reading: Reading,
  names: JavascriptNames,
  node: SyntaxNode,
  called: ReadonlySet<number>,
): boolean {
  const { parent, field } = node;
  if (!parent) return false;
  const isValue =
    (parent.type === 'variable_declarator' && field === 'value') ||
    (parent.type === 'assignment_expression' && field === 'right') ||
    (parent.type === 'pair' && field === 'value') ||
    parent.type === 'arguments' ||
    parent.type === 'return_statement' ||
    (parent.type === 'arrow_function' && field === 'body') ||
    (/field_definition$/.test(parent.type) && field === 'value');
  if (!isValue || isDeclared(node)) return false;
  const call = parent.type === 'arguments' ? childOf(parent.parent, 'function') : undefined;
  const outer = names.ways(call);
  const isPromise = outer.some(({ path }) => /(?:^|\.)promisify$/.test(path));
  const isDangerous = names
    .ways(node)
    .some(
      ({ path }) =>
        path === 'eval' || (isPromise && (execs.test(path) || (path === 'exec' && !reading.isWhole))),
    );
  if (!isDangerous || outer.some(({ path }) => path.startsWith('Reflect.'))) return false;
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
