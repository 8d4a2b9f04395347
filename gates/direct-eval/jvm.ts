import { why } from './calls.ts';
import type { Hit } from './hit.ts';
import { engineOf, isEngineMethod, isEngineType, madeBy } from './jvm-engines.ts';
import { isLiteral, shellFlagHits } from './shell-words.ts';
import type { TokenView } from './token-view.ts';

const maxBody = 400;

/** What the names of a file hold, as far as its declarations tell. */
interface Held {
  /** Simple types by name. */
  readonly types: ReadonlyMap<string, string>;
  /** `import java.lang.Runtime as R`, `{Runtime => R}`. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Methods and functions that the file defines. */
  readonly own: ReadonlySet<string>;
  readonly imports: readonly string[];
  /** Bodies of `fun Runtime.run(…)`, in which a bare name is a member of that type. */
  readonly bodies: readonly { readonly from: number; readonly to: number; readonly type: string }[];
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
  const types = new Map<string, string>();
  const aliases = new Map<string, string>();
  const own = new Set<string>();
  const imports: string[] = [];
  const bodies: { from: number; to: number; type: string }[] = [];
  const held: Held = { types, aliases, own, imports, bodies };
  for (let index = 0; index < view.tokens.length; index += 1) {
    if (view.at(index).kind !== 'word') continue;
    if (view.isWord(index, 'import')) imports.push(dottedAt(view, index + 1));
    if (view.isWord(index - 1, 'fun', 'def')) own.add(view.text(index));
    const isRenamed = view.isWord(index + 1, 'as') || view.isPunct(index + 1, '=>');
    const type = view.text(index);
    if (isRenamed && (isEngineType(type) || type === 'ProcessBuilder'))
      aliases.set(view.text(index + 2), type);
    if (!isEngineType(type)) continue;
    // `name: Type`, `Type name`.
    if (view.isPunct(index - 1, ':')) types.set(view.text(index - 2), type);
    if (view.at(index + 1).kind === 'word' && !isRenamed) types.set(view.text(index + 1), type);
    if (view.isWord(index - 1, 'fun') && view.isPunct(index + 1, '.') && view.isPunct(index + 3, '('))
      bodies.push({ from: index, to: nextDeclaration(view, index), type });
  }
  for (let index = 0; index < view.tokens.length; index += 1) {
    if (!view.isPunct(index, '=') || view.at(index - 1).kind !== 'word') continue;
    const type = typeAt(view, held, expressionEnd(view, index + 1));
    if (type !== undefined && isEngineType(type)) types.set(view.text(index - 1), type);
  }
  return held;
}

/** `a.b.C`, as far as it goes. */
function dottedAt(view: TokenView, from: number): string {
  let said = '';
  for (let at = from; at < from + 40; at += 1) {
    const { kind, text } = view.at(at);
    if (kind === 'word' ? said !== '' && !said.endsWith('.') : text !== '.') break;
    said += text;
  }
  return said;
}

/** The next declaration beside or around the one at an index. */
function nextDeclaration(view: TokenView, from: number): number {
  let at = from + 1;
  const isInside = () =>
    !view.isWord(at, 'fun', 'class', 'val', 'var') || view.openerOf(at) > view.openerOf(from);
  while (at < from + maxBody && isInside()) at += 1;
  return at;
}

/** The last token of a chain of names and calls. */
function expressionEnd(view: TokenView, from: number): number {
  let at = view.isWord(from, 'new') ? from + 1 : from;
  for (let steps = 0; steps < 24; steps += 1) {
    if (view.isPunct(at + 1, '(')) at = view.closeOf(at + 1);
    let next = view.next(at);
    while (view.isPunct(next, '!', '!!', '?')) next += 1;
    if (view.isWord(next, 'as')) next += view.isPunct(next + 1, '?') ? 1 : 0;
    else if (!view.isPunct(next, '.', '?.', '!!.')) return at;
    at = view.next(next);
  }
  return at;
}

/** The simple type of the expression that ends at a token, as far as the file tells. */
function typeAt(view: TokenView, held: Held, end: number, depth = 0): string | undefined {
  let at = end;
  while (view.isPunct(at, '!', '!!', '?')) at -= 1;
  if (depth > 20) return undefined;
  // `runtime.also { … }` is the runtime.
  const scope = view.isPunct(at, '}') ? view.previous(openOf(view, at)) : at;
  if (view.isWord(scope, 'also', 'apply') && scope !== at && isMemberAt(view, scope))
    return typeAt(view, held, ownerEnd(view, scope), depth + 1);
  if (!view.isPunct(at, ')')) return typeOfName(view, held, at);
  const open = openOf(view, at);
  const callee = open - 1;
  if (view.at(callee).kind !== 'word') return typeAt(view, held, at - 1, depth + 1);
  const method = view.text(callee);
  if (isEngineType(held.aliases.get(method) ?? method)) return held.aliases.get(method) ?? method;
  const target = isMemberAt(view, callee) ? typeAt(view, held, ownerEnd(view, callee), depth + 1) : undefined;
  return madeBy(target, method);
}

function typeOfName(view: TokenView, held: Held, at: number): string | undefined {
  const name = view.text(at);
  const known = held.types.get(name) ?? held.aliases.get(name) ?? madeBy(undefined, name);
  if (known !== undefined) return known;
  if (name === 'runtime' || (held.own.size === 0 && /^(?:runtime|rt)$/i.test(name) && name !== 'Runtime'))
    return 'Runtime';
  return isEngineType(name) ? name : undefined;
}

function isMemberAt(view: TokenView, index: number): boolean {
  return view.isPunct(index - 1, '.', '?.', '!!.', '::');
}

function ownerEnd(view: TokenView, index: number): number {
  return view.previous(index - 1);
}

/**
 * The type whose member a name is: of what stands before the dot, or of what the code around it is about
 * (`with(runtime) { … }`).
 */
function receiverOf(view: TokenView, held: Held, index: number): string | undefined {
  const isMember = isMemberAt(view, index);
  const end = ownerEnd(view, index);
  const type = isMember ? typeAt(view, held, end) : undefined;
  const isThis = !isMember || view.isWord(end, 'this');
  if (type !== undefined) return type;
  for (let open = view.openerOf(index), depth = 0; open >= 0 && depth < 60; depth += 1) {
    if (view.isPunct(open, '{')) {
      const before = view.previous(open);
      const isScope = view.isWord(before, 'apply', 'run', 'let', 'also', 'use') && isMemberAt(view, before);
      const word = isScope ? view.text(before) : isWith(view, before) ? 'with' : '';
      const isAbout = word === 'apply' || word === 'run' || word === 'with';
      const named = view.isPunct(view.next(view.next(open)), '->') ? view.text(view.next(open)) : 'it';
      const about = word === 'with' ? view.previous(before) : ownerEnd(view, before);
      if (isAbout && isThis) return typeAt(view, held, about);
      if (!isAbout && word !== '' && !isThis && view.isWord(end, named)) return typeAt(view, held, about);
    }
    open = view.openerOf(open);
  }
  return isThis ? held.bodies.find(({ from, to }) => index > from && index <= to)?.type : undefined;
}

function isWith(view: TokenView, close: number): boolean {
  return view.isPunct(close, ')') && view.isWord(openOf(view, close) - 1, 'with');
}

function wordHit(view: TokenView, held: Held, index: number): Hit | undefined {
  const { text, start } = view.at(index);
  const isCall =
    view.isPunct(index + 1, '(') ||
    (view.at(index + 1).kind === 'string' && view.at(index + 1).start > view.at(index).end);
  const isReference = view.isPunct(index - 1, '::');
  if (!isCall && !isReference) return undefined;
  const hit = (call: string, reason: string): Hit => ({ start, end: endOf(view, index), call, why: reason });
  if (view.isWord(index - 1, 'fun', 'def', 'class', 'import')) return undefined;
  const real = held.aliases.get(text) ?? text;
  if (real === 'GroovyShell' && view.isPunct(index + 1, '(')) return hit(real, why.code);
  if (!isEngineMethod(text) || (!isMemberAt(view, index) && held.own.has(text))) return undefined;
  const type = receiverOf(view, held, index);
  if (text === 'exec' && type === 'Runtime') {
    const argument = view.next(index + 1);
    const isArray =
      view.isWord(argument, 'arrayOf', 'Array', 'listOf', 'emptyArray') || view.isPunct(argument, '[');
    return isArray ? undefined : hit('Runtime.exec', why.system);
  }
  const engine = engineOf(type, text, (space) => held.imports.some((path) => space.test(path)));
  if (engine) {
    const said = view.isPunct(index + 1, '(') ? view.args(index + 1)[engine[2] ?? 0] : index + 1;
    const isWritten = engine[2] !== undefined && said !== undefined && isLiteral(view, said);
    return isWritten ? undefined : hit(`${type}.${text}`, why.code);
  }
  if (!isMemberAt(view, index) || !/^(?:eval|compile)$/.test(text)) return undefined;
  const owner = ownerOf(view, index);
  const has = (word: RegExp) => view.tokens.some((token) => token.kind === 'word' && word.test(token.text));
  if (/tool_?box$|^tb$/i.test(owner) && has(/^(?:mkToolBox|ToolBox)$/))
    return hit(`ToolBox.${text}`, why.code);
  if (text !== 'eval') return undefined;
  if (/engine/i.test(owner) && has(/^ScriptEngine/)) return hit('ScriptEngine.eval', why.code);
  return has(/^toScriptSource$/) && has(/^BasicJvmScriptingHost$/)
    ? hit('BasicJvmScriptingHost.eval', why.code)
    : undefined;
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
