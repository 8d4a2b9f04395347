import { openOf } from '../direct-eval/jvm.ts';
import type { TokenView } from '../direct-eval/token-view.ts';
import { bracketsAround, type CaseFinder, isDead } from './declared-case.ts';

const tests = [
  'Test',
  'ParameterizedTest',
  'RepeatedTest',
  'TestFactory',
  'TestTemplate',
  'Property',
  'Theory',
];
const skips = new Set(['Disabled', 'Ignore', 'Ignored', 'PendingFeature']);
const modifiers =
  /^(?:public|private|protected|internal|static|final|abstract|open|override|suspend|async|sealed|data|inner|case|strictfp|synchronized|mutating|implicit|def|fun|func|struct|actor|class|interface|object|record|trait|extension|void)$/;
const types = ['class', 'interface', 'object', 'record', 'trait', 'struct', 'extension', 'actor'];

/** An annotation and the bracket of its arguments. */
interface Annotation {
  readonly name: string;
  readonly open: number | undefined;
}

/**
 * JUnit, TestNG, kotlin.test and Swift Testing: an annotation before the method; Spock, Kotest and ScalaTest: a text
 * before the body.
 */
export const findAnnotated: CaseFinder = (view, index) => {
  if (view.isWord(index, 'def')) return findSpock(view, index);
  if (!view.isWord(index, ...tests) || !isAnnotationName(view, index)) return undefined;
  const method = methodAfter(view, index);
  if (method === undefined) return undefined;
  const own = annotationsBefore(view, method);
  const open = view.isPunct(method + 1, '`') ? method + 2 : method + 1;
  return {
    at: index,
    name: view.at(method),
    body: bodyAfter(view, view.closeOf(open) + 1),
    isSkipped:
      own.some((one) => leavesOut(view, one)) ||
      isHidden(view, index, method) ||
      isInSkippedType(view, index) ||
      isDead(view, index),
  };
};

/** A method that no runner calls. */
function isHidden(view: TokenView, from: number, method: number): boolean {
  for (let at = method - 1; at > from && method - at < 12; at -= 1)
    if (view.isWord(at, 'private', 'fileprivate', 'static', 'abstract')) return true;
  return false;
}

/** The name of the method behind an annotation. */
function methodAfter(view: TokenView, index: number): number | undefined {
  for (let at = index, steps = 0; steps < 80; steps += 1) {
    if (view.isPunct(at, '@')) {
      at += 1;
      while (view.isPunct(at + 1, '.')) at += 2;
    }
    if (view.at(at).kind !== 'word' && !view.isPunct(at, '(', '`', '<', '>', ',', '[', ']', '?', '.', '&'))
      if (view.at(at).kind !== 'newline') return undefined;
    if (view.isWord(at, ...types)) return undefined;
    const isAnnotation = isAnnotationName(view, at);
    const next = view.isPunct(at + 1, '`') ? at + 2 : at + 1;
    if (view.at(at).kind === 'word' && !isAnnotation && view.isPunct(next, '(')) return at;
    at = isAnnotation && view.isPunct(at + 1, '(') ? view.closeOf(at + 1) + 1 : at + 1;
  }
  return undefined;
}

function isAnnotationName(view: TokenView, index: number): boolean {
  let at = index;
  while (view.isPunct(at - 1, '.')) at -= 2;
  return view.isPunct(at - 1, '@');
}

/** Annotations right before a declaration, modifiers and types between them left aside. */
export function annotationsBefore(view: TokenView, index: number): readonly Annotation[] {
  const found: Annotation[] = [];
  for (let at = index - 1, steps = 0; steps < 120 && at >= 0; steps += 1) {
    const open = view.isPunct(at, ')') ? openOf(view, at) : undefined;
    const name = open === undefined ? at : open - 1;
    if (view.at(name).kind === 'word' && isAnnotationName(view, name)) {
      found.push({ name: view.text(name), open });
      at = name;
      while (view.isPunct(at - 1, '.')) at -= 2;
      at -= 2;
    } else if (open !== undefined || view.isPunct(at, ';', '{', '}', '=', '->')) return found;
    else if (view.at(at).kind === 'word' && !modifiers.test(view.text(at)) && !isType(view, at, index))
      return found;
    else at -= 1;
  }
  return found;
}

/** A word of the return type, which stands between the annotations and the name in Java. */
function isType(view: TokenView, at: number, index: number): boolean {
  for (let next = at + 1; next < index; next += 1)
    if (view.isWord(next, 'fun', 'def', 'func', ...types) || view.isPunct(next, '@')) return false;
  return true;
}

function leavesOut(view: TokenView, { name, open }: Annotation): boolean {
  if (skips.has(name)) return true;
  if (open === undefined || !/^(?:Test|Suite)$/.test(name)) return false;
  return view.args(open).some((at) => {
    if (view.isWord(at, 'enabled')) return view.isPunct(at + 1, '=') && view.isWord(at + 2, 'false');
    return view.isPunct(at, '.') && view.isWord(at + 1, 'disabled') && !view.isWord(at + 3, 'if');
  });
}

/** A class around the case that is left out as a whole. */
export function isInSkippedType(view: TokenView, index: number): boolean {
  for (const open of bracketsAround(view, index)) {
    for (let at = open - 1; at > open - 80 && at >= 0; at -= 1) {
      if (view.isPunct(at, ';', '}')) break;
      if (!view.isWord(at, ...types)) continue;
      if (annotationsBefore(view, at).some((one) => leavesOut(view, one))) return true;
      break;
    }
  }
  return false;
}

/** The brace of a method's body, behind its parameters. */
function bodyAfter(view: TokenView, after: number): number | undefined {
  for (let at = after; at < after + 40; at += 1) {
    if (view.isPunct(at, '{')) return at;
    if (view.isPunct(at, ';', '}', '=', '@')) return undefined;
  }
  return undefined;
}

/** `def "adds two numbers"() { … }`. */
const findSpock: CaseFinder = (view, index) => {
  const name = view.at(index + 1);
  if (name.kind !== 'string') return undefined;
  let open = index + 2;
  while (view.at(open).start < name.end && open < index + 60) open += 1;
  if (!view.isPunct(open, '(')) return undefined;
  return {
    at: index,
    name,
    body: bodyAfter(view, view.closeOf(open) + 1),
    isSkipped:
      annotationsBefore(view, index).some((one) => leavesOut(view, one)) || isInSkippedType(view, index),
  };
};

/** Kotest: `test("…") { … }`, `"…" { … }`, `should("…") { … }`, with or without `.config(…)`. */
export const findKotlin: CaseFinder = (view, index) => {
  const annotated = findAnnotated(view, index);
  if (annotated) return annotated;
  const isText = view.at(index).kind === 'string';
  const isCall =
    view.isWord(index, 'test', 'should', 'it', 'expect', 'then', 'Then', 'scenario') &&
    view.isPunct(index + 1, '(') &&
    view.at(index + 2).kind === 'string';
  if ((!isText && !isCall) || view.isPunct(index - 1, '.') || view.isWord(index - 1, 'fun')) return undefined;
  if (!view.tokens.some(({ kind, text }) => kind === 'word' && /^\w+Spec$/.test(text))) return undefined;
  const name = view.at(isText ? index : index + 2);
  let open = isText ? pastText(view, index) : view.closeOf(index + 1) + 1;
  let isSkipped = name.text.startsWith('!');
  if (view.isPunct(open, '.') && view.isWord(open + 1, 'config') && view.isPunct(open + 2, '(')) {
    isSkipped ||= view
      .args(open + 2)
      .some((at) => view.isWord(at, 'enabled') && view.isWord(at + 2, 'false'));
    open = view.closeOf(open + 2) + 1;
  }
  if (!view.isPunct(open, '{')) return undefined;
  return { at: index, name, body: open, isSkipped: isSkipped || isInSkippedBlock(view, index) };
};

function pastText(view: TokenView, index: number): number {
  let at = index + 1;
  while (at < view.tokens.length && view.at(at).start < view.at(index).end) at += 1;
  return at;
}

/** `xdescribe("…") { … }`, `ignore("…") { … }`, a class that is left out. */
function isInSkippedBlock(view: TokenView, index: number): boolean {
  for (const open of bracketsAround(view, index)) {
    const before = view.previous(open);
    const word = view.isPunct(before, ')') ? openOf(view, before) - 1 : before;
    if (/^(?:x(?:describe|context|given|when|should|feature|expect)|ignore)$/.test(view.text(word)))
      return true;
  }
  return isInSkippedType(view, index) || isDead(view, index);
}

/** ScalaTest, munit and specs2: `test("…") { … }`, `"…" should "…" in { … }`. */
export const findScala: CaseFinder = (view, index) => {
  const annotated = findAnnotated(view, index);
  if (annotated) return annotated;
  if (view.isWord(index, 'in') || view.isPunct(index, '>>')) {
    const name = view.at(index - 1);
    if (name.kind !== 'string' || view.at(index + 1).kind === 'string') return undefined;
    const isIgnored = view.isWord(index - 3, 'ignore');
    const body = view.isPunct(index + 1, '{') ? index + 1 : undefined;
    const isPending = view.isWord(index + 1, 'pending');
    return { at: index, name, body, isSkipped: isIgnored || isPending || isInSkippedBlock(view, index) };
  }
  const isCall =
    view.isWord(index, 'test', 'it', 'they', 'scenario', 'Scenario', 'property') &&
    view.isPunct(index + 1, '(');
  const name = view.at(index + 2);
  if (!isCall || name.kind !== 'string' || view.isPunct(index - 1, '.')) return undefined;
  const after = view.closeOf(index + 1) + 1;
  const isIgnored = view.isPunct(index + 3, '.') && view.isWord(index + 4, 'ignore', 'pending');
  if (!view.isPunct(view.next(after - 1), '{', '=')) return undefined;
  const body = view.isPunct(view.next(after - 1), '{') ? view.next(after - 1) : undefined;
  return { at: index, name, body, isSkipped: isIgnored || isInSkippedBlock(view, index) };
};

/** XCTest by name and Swift Testing by attribute. */
export const findSwift: CaseFinder = (view, index) => {
  if (!view.isWord(index, 'func') || view.at(index + 1).kind !== 'word') return undefined;
  const own = annotationsBefore(view, index);
  const isMarked = own.some(({ name }) => name === 'Test');
  const open = index + 2;
  // XCTest hands a method nothing.
  if (
    !isMarked &&
    !(/^test/.test(view.text(index + 1)) && view.isPunct(open, '(') && view.args(open).length === 0)
  )
    return undefined;
  return {
    at: index,
    name: view.at(index + 1),
    body: view.isPunct(open, '(') ? bodyAfter(view, view.closeOf(open) + 1) : undefined,
    isSkipped:
      own.some((one) => leavesOut(view, one)) ||
      (!isMarked && view.isWord(index - 1, 'private', 'fileprivate', 'static')) ||
      isInSkippedType(view, index),
  };
};
