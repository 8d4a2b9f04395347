import type { Hit } from './hit.ts';
import { shellFlagHits } from './shell-flag.ts';
import type { TokenView } from './token-view.ts';

const globals = ['window', 'globalThis', 'global', 'self', 'top', 'parent', 'frames'];
const modifiers = [
  'async',
  'static',
  'get',
  'set',
  'public',
  'private',
  'protected',
  'abstract',
  'readonly',
  'override',
  'declare',
];
const execs = ['exec', 'execSync'];
const spawns = [
  'spawn',
  'spawnSync',
  'execFile',
  'execFileSync',
  'fork',
  'execa',
  'execaSync',
  'execaCommand',
];
const timers = ['setTimeout', 'setInterval', 'setImmediate', 'execScript'];
const constructors = ['Function', 'AsyncFunction', 'GeneratorFunction', 'AsyncGeneratorFunction'];
const shellModules = /^(?:node:)?child_process$|^shelljs$/;

/** Names under which a file can reach `child_process`. */
interface Bindings {
  readonly modules: ReadonlySet<string>;
  /** Local name → exported name. */
  readonly functions: ReadonlyMap<string, string>;
  /** Names that the file defines or imports from elsewhere. */
  readonly own: ReadonlySet<string>;
}

/** Direct execution in JavaScript and TypeScript. `isWhole` false: imports may stand outside what is seen. */
export function javascriptHits(view: TokenView, isWhole: boolean): readonly Hit[] {
  const bindings = readBindings(view);
  const hits: Hit[] = [...shellFlagHits(view)];
  for (let index = 0; index < view.tokens.length; index += 1) {
    const token = view.at(index);
    const found =
      token.kind === 'word'
        ? wordHit(view, index, bindings, isWhole)
        : token.kind === 'string'
          ? memberHit(view, index)
          : undefined;
    if (found) hits.push(found);
  }
  return hits;
}

function wordHit(view: TokenView, index: number, bindings: Bindings, isWhole: boolean): Hit | undefined {
  const { at, isPunct, isWord } = view;
  const { text: word, start } = at(index);
  const isMember = isPunct(index - 1, '.', '?.');
  const isGlobalMember = isMember && isWord(index - 2, ...globals) && !isPunct(index - 3, '.', '?.');
  const isBare = !isMember || isGlobalMember;
  const open = isPunct(index + 1, '?.') ? index + 2 : index + 1;
  const isCall = isPunct(open, '(');
  if (
    word === 'eval' &&
    isBare &&
    !isDefinition(view, index) &&
    !isWord(index - 1, 'typeof', 'import', 'interface', 'type', 'class')
  ) {
    const isOption = isPunct(index + 1, ':');
    if (isOption && !isWord(index + 2, 'true')) return undefined;
    if (isPunct(index + 1, '=') && !isCall) return undefined;
    return {
      start,
      call: 'eval',
      why: isOption ? 'runs a string as a worker' : 'evaluates a string as code',
    };
  }
  if (constructors.includes(word) && isBare) {
    const isIndirect =
      isPunct(index + 1, '.') && isWord(index + 2, 'apply', 'call', 'bind') && isPunct(index + 3, '(');
    if ((isCall && !isDefinition(view, index)) || isIndirect)
      return { start, call: word, why: 'compiles a string as a function' };
    return undefined;
  }
  if (word === 'constructor' && isMember && isCall && at(open + 1).kind === 'string') {
    return { start, call: 'constructor', why: 'compiles a string as a function' };
  }
  if (
    timers.includes(word) &&
    isBare &&
    isCall &&
    at(open + 1).kind === 'string' &&
    !isDefinition(view, index)
  ) {
    return { start, call: word, why: 'evaluates a string as code' };
  }
  if (/^runIn(?:New|This)?Context$/.test(word) && isCall && !isDefinition(view, index))
    return { start, call: word, why: 'runs a string as code' };
  if (
    word === 'vm' &&
    isPunct(index + 1, '.') &&
    isWord(index + 2, 'Script', 'compileFunction') &&
    isPunct(index + 3, '(')
  ) {
    return { start, call: `vm.${view.text(index + 2)}`, why: 'compiles a string as code' };
  }
  if (word === '_compile' && isMember && isCall)
    return { start, call: word, why: 'compiles a string as a module' };
  return shellHit(view, index, open, bindings, isWhole);
}

/** `child_process.exec` in its plain forms, and spawning with `shell` set. */
function shellHit(
  view: TokenView,
  index: number,
  open: number,
  bindings: Bindings,
  isWhole: boolean,
): Hit | undefined {
  const { isPunct } = view;
  const { text: word, start } = view.at(index);
  const isMember = isPunct(index - 1, '.', '?.');
  const real = isMember ? word : (bindings.functions.get(word) ?? word);
  if (execs.includes(real) && (isPunct(open, '(') || isPromisified(view, index))) {
    const why = 'runs a command line in a shell';
    if (isMember) {
      const owner = view.text(index - 2);
      const isModule = isPunct(index - 2, ')')
        ? isModuleCall(view, index - 2)
        : bindings.modules.has(owner) || /^(?:cp|child_?process)$/i.test(owner);
      return isModule ? { start, call: real, why } : undefined;
    }
    if (isDefinition(view, index)) return undefined;
    if (bindings.functions.has(word) || !bindings.own.has(word) || (!isWhole && !bindings.own.has(word)))
      return { start, call: real, why };
    return undefined;
  }
  return real === 'shell' && isPunct(index + 1, ':') ? shellOption(view, index, bindings) : undefined;
}

/** `shell: true` or a named shell, in an object or array among the arguments of a call that spawns. */
function shellOption(view: TokenView, index: number, bindings: Bindings): Hit | undefined {
  const value = view.at(index + 2);
  if (value.text !== 'true' && !(value.kind === 'string' && value.text !== '')) return undefined;
  let open = view.openerOf(index);
  for (let depth = 0; depth < 4 && view.isPunct(open, '{', '['); depth += 1) open = view.openerOf(open);
  const callee = view.at(view.isPunct(open - 1, '?.') ? open - 2 : open - 1);
  const real = bindings.functions.get(callee.text) ?? callee.text;
  if (!view.isPunct(open, '(') || callee.kind !== 'word' || !spawns.includes(real)) return undefined;
  return { start: callee.start, also: [view.at(index).start], call: real, why: 'spawns through a shell' };
}

/** `window['eval'](…)`. */
function memberHit(view: TokenView, index: number): Hit | undefined {
  const { text } = view.at(index);
  if (text !== 'eval' && !constructors.includes(text)) return undefined;
  if (!view.isPunct(index - 1, '[') || !view.isPunct(index + 1, ']') || !view.isWord(index - 2, ...globals))
    return undefined;
  return { start: view.at(index).start, call: text, why: 'evaluates a string as code' };
}

/** A function, method or signature of that name, not a use of it. */
function isDefinition(view: TokenView, index: number): boolean {
  const { isPunct, isWord } = view;
  if (isWord(index - 1, 'function') || (isPunct(index - 1, '*') && isWord(index - 2, 'function')))
    return true;
  if (!isPunct(index + 1, '(')) return false;
  if (isWord(index - 1, ...modifiers)) return true;
  if (index > 0 && !isPunct(index - 1, '{', '}', ';', ',', '*', ')')) return false;
  const close = view.closeOf(index + 1);
  if (isPunct(close + 1, '{')) return !isPunct(index - 1, ')') || isPunct(close, ')');
  return isPunct(close + 1, ':') && index > 0;
}

function isPromisified(view: TokenView, index: number): boolean {
  let from = index;
  while (view.isPunct(from - 1, '.')) from -= 2;
  return view.isPunct(from - 1, '(') && view.isWord(from - 2, 'promisify');
}

/** `require('child_process')` or `await import('child_process')` that ends at this bracket. */
function isModuleCall(view: TokenView, close: number): boolean {
  const inner = view.isPunct(close - 1, ')') ? close - 1 : close;
  return view.at(inner - 1).kind === 'string' && shellModules.test(view.text(inner - 1));
}

function readBindings(view: TokenView): Bindings {
  const modules = new Set<string>();
  const functions = new Map<string, string>();
  const own = new Set<string>();
  for (let index = 0; index < view.tokens.length; index += 1) {
    const token = view.at(index);
    if (token.kind === 'string' && shellModules.test(token.text)) readImport(view, index, modules, functions);
    else if (token.kind === 'word' && execs.includes(token.text) && isOwnName(view, index))
      own.add(token.text);
  }
  return { modules, functions, own };
}

/** Reads backwards from the module's name: `import … from 'x'`, `const … = require('x')`. */
function readImport(
  view: TokenView,
  index: number,
  modules: Set<string>,
  functions: Map<string, string>,
): void {
  const { isPunct, isWord, text } = view;
  let at = index - 1;
  if (isWord(at, 'from')) at -= 1;
  else if (isPunct(at, '(') && isWord(at - 1, 'require', 'import')) {
    at -= 2;
    while (isWord(at, 'await') || isPunct(at, '(')) at -= 1;
    if (isPunct(index + 2, '.') && isPunct(at, '=') && view.at(at - 1).kind === 'word')
      functions.set(text(at - 1), text(index + 3));
    if (isPunct(index + 2, '.')) return;
    if (!isPunct(at, '=')) return;
    at -= 1;
  } else return;
  if (view.at(at).kind === 'word') modules.add(text(at));
  if (!isPunct(at, '}')) return;
  const stop = Math.max(0, at - 200);
  for (at -= 1; at > stop && !isPunct(at, '{'); at -= 1) {
    if (view.at(at).kind !== 'word' || isWord(at, 'as')) continue;
    const isRenamed = isWord(at - 1, 'as') || isPunct(at - 1, ':');
    functions.set(text(at), isRenamed ? text(at - 2) : text(at));
    if (isRenamed) at -= 2;
  }
  if (isPunct(at - 1, ',') && view.at(at - 2).kind === 'word') modules.add(text(at - 2));
}

function isOwnName(view: TokenView, index: number): boolean {
  if (view.isPunct(index - 1, '.', '?.')) return false;
  if (
    view.isWord(index - 1, 'function', 'const', 'let', 'var', 'import', 'class') ||
    view.isWord(index - 1, 'as')
  )
    return true;
  // A name among those of an import or a destructuring, or a parameter.
  const isListed = view.isPunct(index - 1, '{', ',', '(') && view.isPunct(index + 1, '}', ',', ')');
  if (!isListed) return false;
  let at = index + 1;
  for (const stop = at + 100; at < stop && !view.isPunct(at, '}', ')', ';'); at += 1);
  return (
    view.isWord(at + 1, 'from') ||
    view.isPunct(at + 1, '=', '=>') ||
    (view.isPunct(at, ')') && view.isPunct(at + 1, '{'))
  );
}
