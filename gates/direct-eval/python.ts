import type { Hit } from './hit.ts';
import { shellFlagHits } from './shell-flag.ts';
import type { TokenView } from './token-view.ts';

const builtins = ['builtins', '__builtins__', '__builtin__'];
const why = { code: 'evaluates a string as code', shell: 'runs a command line in a shell' };

/** Direct execution in Python. */
export function pythonHits(view: TokenView): readonly Hit[] {
  const fromOs = importedFrom(view, 'os', ['system', 'popen']);
  const fromSubprocess = importedFrom(view, 'subprocess', ['getoutput', 'getstatusoutput']);
  const osNames = aliasesOf(view, 'os');
  const subprocessNames = aliasesOf(view, 'subprocess').add('commands');
  const hits: Hit[] = [...shellFlagHits(view)];
  for (let index = 0; index < view.tokens.length; index += 1) {
    if (view.at(index).kind !== 'word') {
      if (isBuiltinSubscript(view, index))
        hits.push({ start: view.at(index).start, call: view.text(index), why: why.code });
      continue;
    }
    const { text: word, start } = view.at(index);
    const isMember = view.isPunct(index - 1, '.');
    const owner = isMember ? view.text(index - 2) : '';
    const isCall = view.isPunct(index + 1, '(');
    const isDefined = view.isWord(index - 1, 'def', 'class', 'import', 'as');
    if (
      (word === 'eval' || word === 'exec' || word === 'execfile') &&
      !isDefined &&
      (!isMember || builtins.includes(owner))
    ) {
      if (isCall || isAlias(view, index)) hits.push({ start, call: word, why: why.code });
    } else if (
      word === 'compile' &&
      isCall &&
      !isDefined &&
      (!isMember || builtins.includes(owner)) &&
      compilesCode(view, index + 1)
    ) {
      hits.push({ start, call: word, why: 'compiles a string as code' });
    } else if ((word === 'system' || word === 'popen') && isCall && !isDefined) {
      const isOs = isMember ? osNames.has(owner) || isDunderImport(view, index - 2) : fromOs.has(word);
      if (isOs) hits.push({ start, call: `os.${word}`, why: why.shell });
    } else if (
      /^get(?:status)?output$/.test(word) &&
      isCall &&
      !isDefined &&
      (isMember ? subprocessNames.has(owner) : fromSubprocess.has(word))
    ) {
      hits.push({ start, call: word, why: why.shell });
    } else if (/^(?:create_)?subprocess_shell$/.test(word) && isCall && !isDefined)
      hits.push({ start, call: word, why: why.shell });
    else if (word === 'shell' && view.isPunct(index + 1, '=')) {
      const hit = shellKeyword(view, index);
      if (hit) hits.push(hit);
    }
  }
  return hits;
}

/** `shell=True` (or another truthy constant) as an argument of a call. */
function shellKeyword(view: TokenView, index: number): Hit | undefined {
  const value = view.at(index + 2);
  if (value.text !== 'True' && !(value.kind === 'number' && Number(value.text) !== 0)) return undefined;
  const open = view.openerOf(index);
  const callee = view.at(open - 1);
  if (!view.isPunct(open, '(') || callee.kind !== 'word' || view.isWord(open - 2, 'def', 'class'))
    return undefined;
  return {
    start: callee.start,
    also: [view.at(index).start],
    call: `${callee.text}(shell=True)`,
    why: why.shell,
  };
}

function compilesCode(view: TokenView, open: number): boolean {
  return view
    .args(open)
    .slice(1)
    .some((argument) => {
      const value = view.isPunct(argument + 1, '=') ? argument + 2 : argument;
      return view.at(value).kind === 'string' && /^(?:exec|eval|single)$/.test(view.text(value));
    });
}

/** `f = eval` or `map(eval, …)`: the function is handed on. */
function isAlias(view: TokenView, index: number): boolean {
  const next = view.at(index + 1);
  const ends =
    next.text === '' || next.kind === 'newline' || view.isPunct(index + 1, ',', ')', ']', '}', ';');
  if (!ends) return false;
  if (view.isPunct(index - 1, '=') || view.isWord(index - 1, 'return')) return true;
  if (!view.isPunct(index - 1, '(', ',')) return false;
  let open = index - 1;
  for (let depth = 0, stop = Math.max(0, index - 100); open >= stop; open -= 1) {
    if (view.isPunct(open, ')', ']', '}')) depth += 1;
    else if (view.isPunct(open, '(', '[', '{')) {
      if (depth === 0) break;
      depth -= 1;
    }
  }
  return (
    view.isPunct(open, '(') &&
    view.at(open - 1).kind === 'word' &&
    !view.isWord(open - 2, 'def', 'class') &&
    !view.isWord(open - 1, 'import')
  );
}

/** `__builtins__['eval']`. */
function isBuiltinSubscript(view: TokenView, index: number): boolean {
  const token = view.at(index);
  return (
    token.kind === 'string' &&
    /^(?:eval|exec)$/.test(token.text) &&
    view.isPunct(index - 1, '[') &&
    view.isWord(index - 2, ...builtins)
  );
}

/** `__import__('os').system(…)`. */
function isDunderImport(view: TokenView, close: number): boolean {
  return view.isPunct(close, ')') && view.at(close - 1).kind === 'string' && view.text(close - 1) === 'os';
}

function aliasesOf(view: TokenView, module: string): Set<string> {
  const names = new Set([module]);
  for (let index = 0; index < view.tokens.length; index += 1) {
    if (view.isWord(index, module) && view.isWord(index + 1, 'as')) names.add(view.text(index + 2));
  }
  return names;
}

/** Local names of `from module import …`. */
function importedFrom(view: TokenView, module: string, wanted: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (let index = 0; index < view.tokens.length; index += 1) {
    if (!view.isWord(index, 'from') || !view.isWord(index + 1, module) || !view.isWord(index + 2, 'import'))
      continue;
    for (let at = index + 3; at < index + 60; at += 1) {
      if (view.at(at).kind === 'newline' && !view.isPunct(index + 3, '(')) break;
      if (view.isPunct(at, ')')) break;
      if (view.isPunct(at, '*')) for (const name of wanted) names.add(name);
      else if (view.isWord(at, ...wanted))
        names.add(view.isWord(at + 1, 'as') ? view.text(at + 2) : view.text(at));
    }
  }
  return names;
}
