import type { Hit } from './hit.ts';
import { isLiteral, shellFlagHits } from './shell-flag.ts';
import type { TokenView } from './token-view.ts';

const why = { code: 'evaluates a string as code', shell: 'hands a command line to the system' };

/** What the names of a file hold, as far as its declarations tell. */
interface Held {
  readonly runtimes: ReadonlySet<string>;
  readonly engines: ReadonlySet<string>;
  /** `import java.lang.Runtime as R`, `{Runtime => R}`. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Methods and functions that the file defines. */
  readonly own: ReadonlySet<string>;
}

/** Direct execution in Kotlin, Groovy and whatever else calls the Java library. */
export function jvmHits(view: TokenView): readonly Hit[] {
  const held = readHeld(view);
  const hits: Hit[] = [...shellFlagHits(view)];
  for (let index = 0; index < view.tokens.length; index += 1) {
    if (view.at(index).kind !== 'word') continue;
    const hit = wordHit(view, held, index);
    if (hit) hits.push(hit);
  }
  return hits;
}

function readHeld(view: TokenView): Held {
  const runtimes = new Set<string>();
  const engines = new Set<string>();
  const aliases = new Map<string, string>();
  const own = new Set<string>();
  for (let index = 0; index < view.tokens.length; index += 1) {
    if (view.at(index).kind !== 'word') continue;
    if (view.isWord(index - 1, 'fun', 'def')) own.add(view.text(index));
    const isRenamed = view.isWord(index + 1, 'as') || view.isPunct(index + 1, '=>');
    if (isRenamed && view.isWord(index, 'Runtime', 'ProcessBuilder', 'GroovyShell'))
      aliases.set(view.text(index + 2), view.text(index));
    // `name: Type`, `Type name`.
    const type = view.text(index);
    const target =
      type === 'Runtime' ? runtimes : /^(?:Nashorn)?ScriptEngine$/.test(type) ? engines : undefined;
    if (target && view.isPunct(index - 1, ':')) target.add(view.text(index - 2));
    if (target && view.at(index + 1).kind === 'word' && !isRenamed) target.add(view.text(index + 1));
  }
  for (let index = 0; index < view.tokens.length; index += 1) {
    if (!view.isPunct(index, '=') || view.at(index - 1).kind !== 'word') continue;
    for (
      let at = index + 1;
      at < index + 24 && !view.isWord(at, 'val', 'var', 'def') && !view.isPunct(at, ';', '=');
      at += 1
    ) {
      // What follows the engine is no engine: `engine.eval(x)`.
      if (view.isWord(at, 'eval', 'exec')) break;
      const isEnd = view.at(view.closeOf(at + 1) + 1).text !== '.';
      if (view.isWord(at, 'getRuntime') && (isEnd || !view.isPunct(at + 1, '(')))
        runtimes.add(view.text(index - 1));
      if (/^getEngineBy\w+$/.test(view.text(at)) && isEnd) engines.add(view.text(index - 1));
    }
  }
  return { runtimes, engines, aliases, own };
}

function wordHit(view: TokenView, { runtimes, engines, aliases, own }: Held, index: number): Hit | undefined {
  const { text, start } = view.at(index);
  const isCall =
    view.isPunct(index + 1, '(') ||
    (view.at(index + 1).kind === 'string' && view.at(index + 1).start > view.at(index).end);
  const isReference = view.isPunct(index - 1, '::');
  const isMember =
    isReference ||
    view.isPunct(index - 1, '.', '?.', '!!.') ||
    (view.isPunct(index - 1, '.') && view.isPunct(index - 2, '!'));
  const hit = (call: string, reason: string): Hit => ({ start, end: endOf(view, index), call, why: reason });
  if (view.isWord(index - 1, 'fun', 'def', 'class', 'import')) return undefined;
  if (text === 'exec' && (isCall || isReference) && isMember) {
    const owner = ownerOf(view, index);
    const isRuntime =
      owner === 'getRuntime' ||
      owner === 'runtime' ||
      runtimes.has(owner) ||
      (own.size === 0 && /^(?:runtime|rt)$/i.test(owner));
    const argument = view.next(index + 1);
    const isArray =
      view.isWord(argument, 'arrayOf', 'Array', 'listOf', 'emptyArray') || view.isPunct(argument, '[');
    return isRuntime && !isArray ? hit('Runtime.exec', why.shell) : undefined;
  }
  if (text === 'eval' && isMember && (isCall || isReference)) {
    const owner = ownerOf(view, index);
    if (/^getEngineBy/.test(owner) || engines.has(owner)) return hit('ScriptEngine.eval', why.code);
    const has = (word: RegExp) => view.tokens.some((token) => token.kind === 'word' && word.test(token.text));
    if (/engine/i.test(owner) && has(/^ScriptEngine/)) return hit('ScriptEngine.eval', why.code);
    if (has(/^toScriptSource$/) && has(/^BasicJvmScriptingHost$/))
      return hit('BasicJvmScriptingHost.eval', why.code);
    return /tool_?box|^tb$/i.test(owner) && has(/^(?:mkToolBox|ToolBox)$/)
      ? hit('ToolBox.eval', why.code)
      : undefined;
  }
  const real = aliases.get(text) ?? text;
  if (real === 'GroovyShell' && view.isPunct(index + 1, '(')) return hit(real, why.code);
  if (text === 'me' && isMember && isCall && ownerOf(view, index) === 'Eval') return hit('Eval.me', why.code);
  return undefined;
}

/** The word before the dot; for a call, the name of what is called. */
export function ownerOf(view: TokenView, index: number): string {
  let at = index - 2;
  while (view.isPunct(at, '!', '!!', '?')) at -= 1;
  if (!view.isPunct(at, ')')) return view.text(at);
  const open = openOf(view, at);
  return view.text(open - 1);
}

/** The bracket that the one at `close` closes. */
export function openOf(view: TokenView, close: number): number {
  let depth = 0;
  for (let at = close; at >= Math.max(0, close - 400); at -= 1) {
    if (view.isPunct(at, ')', ']', '}')) depth += 1;
    else if (view.isPunct(at, '(', '[', '{')) depth -= 1;
    if (depth === 0) return at;
  }
  return close;
}

/** Where a call's brackets close. */
export function endOf(view: TokenView, index: number): number {
  return view.isPunct(index + 1, '(') ? view.at(view.closeOf(index + 1)).end : view.at(index).end;
}

/** Whether a call's only argument is a text that is written down. */
export function isLiteralCall(view: TokenView, open: number): boolean {
  return view.args(open).every((argument) => isLiteral(view, argument));
}
