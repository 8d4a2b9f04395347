import type { TokenView } from '../direct-eval/token-view.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import type { DeclaredCase } from './declared-case.ts';

/** A statement's line: brackets and texts may make it several. */
interface Line {
  readonly first: number;
  /** Behind its last token. */
  readonly end: number;
  readonly indent: number;
}

/** Decorators that leave out what they stand on. */
const leftOut =
  /^@ (?:\w+ \. )*(?:(?:skip|xfail|expectedFailure)(?: |$)|skip[iI]f \( (?:True|1) |skipUnless \( (?:False|0) |parametrize \( "" , (?:\[ \]|\( \)) )/;
const fixture = /^@ (?:\w+ \. )*fixture(?: |$)/;
const never = /^(?:if|while) (?:False|0) :/;

/** `def test_…(`, in classes and modules that run. */
export function pythonCases(view: TokenView, source: ChangedSource): readonly DeclaredCase[] {
  const lines = linesOf(view, source);
  const said = (line: Line | undefined, count = 40): string =>
    line
      ? view.tokens
          .slice(line.first, Math.min(line.end, line.first + count))
          .map(textOf)
          .join(' ')
      : '';
  const outer = outerLines(lines);
  const idle = new Map<number, boolean>();
  const isModuleLeftOut =
    source.whole && lines.some((line) => line.indent === 0 && leavesModuleOut(said(line)));
  const removed = removedNames(source.text);
  const declared = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const at = view.isWord(line.first, 'async') ? line.first + 1 : line.first;
    if (view.isWord(at, 'def')) declared.set(`${outer[index]} ${view.text(at + 1)}`, index);
  }
  return lines.flatMap((line, index) => {
    const at = view.isWord(line.first, 'async') ? line.first + 1 : line.first;
    const name = view.at(at + 1);
    if (!view.isWord(at, 'def') || !/^test/.test(name.text) || isDecorated(index, fixture)) return [];
    const isSkipped =
      isModuleLeftOut ||
      (removed.get(name.text) ?? -1) > name.start ||
      // Another of its name in the same place takes it.
      (source.whole && declared.get(`${outer[index]} ${name.text}`) !== index) ||
      isDecorated(index, leftOut) ||
      (source.whole && isAroundLeftOut(index)) ||
      testsNothing(bodyOf(index, at));
    return [{ at, name, isSkipped }];
  });

  function isDecorated(index: number, form: RegExp): boolean {
    const { indent } = lines[index] ?? { indent: 0 };
    for (let before = index - 1; before >= 0; before -= 1) {
      const line = lines[before];
      if (line?.indent !== indent || !view.isPunct(line.first, '@')) return false;
      if (form.test(said(line))) return true;
    }
    return false;
  }

  /** In a class that is left out, in a branch that never runs, or in a function, where nobody looks for tests. */
  function isAroundLeftOut(index: number): boolean {
    for (let at = outer[index] ?? -1, depth = 0; at >= 0 && depth < 100; at = outer[at] ?? -1, depth += 1) {
      const known = idle.get(at) ?? isIdle(at);
      idle.set(at, known);
      if (known) return true;
    }
    return false;
  }

  function isIdle(at: number): boolean {
    const line = lines[at];
    const header = said(line);
    if (!line || never.test(header) || /^(?:async )?def /.test(header)) return true;
    if (!header.startsWith('class ')) return false;
    if (isDecorated(at, leftOut) || !isCollected(header)) return true;
    for (let inner = at + 1; inner < lines.length; inner += 1) {
      const member = lines[inner];
      if (!member || member.indent <= line.indent) break;
      if (member.indent !== lines[at + 1]?.indent) continue;
      if (leavesModuleOut(said(member))) return true;
      if (
        isPlainClass(header) &&
        view.isWord(member.first, 'def') &&
        view.isWord(member.first + 1, '__init__')
      )
        return true;
    }
    return false;
  }

  /** The first statements of a function, documentation left aside. */
  function bodyOf(index: number, at: number): readonly string[] {
    const header = lines[index];
    if (!header) return [];
    const close = view.closeOf(at + 2);
    let colon = close;
    while (colon < header.end && !view.isPunct(colon, ':')) colon += 1;
    const rest = view.tokens.slice(colon + 1, Math.min(header.end, colon + 20));
    const found = rest.length > 0 ? [rest.map(textOf).join(' ')] : [];
    for (let next = index + 1; next < lines.length && found.length < 4; next += 1) {
      const line = lines[next];
      if (!line || line.indent <= header.indent) break;
      const isText = line.end - line.first === 1 && view.at(line.first).kind === 'string';
      if (!isText) found.push(said(line));
    }
    return found;
  }
}

/** For each line the nearest one before it that is indented less; -1 where none is. */
function outerLines(lines: readonly Line[]): readonly number[] {
  const open: number[] = [];
  return lines.map(({ indent }, index) => {
    while (open.length > 0 && (lines[open.at(-1) ?? 0]?.indent ?? 0) >= indent) open.pop();
    const outer = open.at(-1) ?? -1;
    open.push(index);
    return outer;
  });
}

/** `class A:`, `class A(object):`. */
function isPlainClass(header: string): boolean {
  return /^class \w+ (?:\( (?:object )?\) )?:/.test(header);
}

/** What inherits something may be a `TestCase`; else the name says it. */
function isCollected(header: string): boolean {
  return !isPlainClass(header) || /^class Test/.test(header);
}

/** Where names of tests are last taken away: deleted, or given to something else. */
function removedNames(text: string): ReadonlyMap<string, number> {
  const form =
    /^[ \t]*(?:del\s+(?:\w{1,80}\.)?(test\w{0,80})|(?:\w{1,80}\.)?(test\w{0,80})(?:\.__test__\s*=\s*False|\s*=\s*None)|(?:del\s+)?globals\(\)(?:\.pop\(|\[)\s*["'](test\w{0,80})|(?:del|set)attr\(\s*\w{1,80}\s*,\s*["'](test\w{0,80}))/gm;
  return new Map(
    [...text.matchAll(form)].map((match) => [
      match.slice(1).find((one) => one !== undefined) ?? '',
      match.index,
    ]),
  );
}

function testsNothing(body: readonly string[]): boolean {
  if (body.every((line) => /^(?:pass|\. ?\. ?\.)(?: |$)/.test(line))) return true;
  return /^(?:return$|return None$|(?:\w+ \. )?(?:skip|skipTest|xfail) \(|raise (?:\w+ \. )*(?:SkipTest|Skipped)\b)/.test(
    body[0] ?? '',
  );
}

/** `pytestmark = pytest.mark.skip`, `__test__ = False`, `pytest.skip(…, allow_module_level=True)`. */
function leavesModuleOut(line: string): boolean {
  if (/^__test__ = False/.test(line)) return true;
  if (/^pytestmark = /.test(line))
    return /\bmark \. skip(?![\w])(?! if)/.test(line) || /\bskipif \( (?:True|1) /.test(line);
  return /^(?:pytest \. skip \(.* allow_module_level = True|raise (?:\w+ \. )*SkipTest\b)/.test(line);
}

function textOf({ kind, text }: { readonly kind: string; readonly text: string }): string {
  return kind === 'string' ? '""' : text;
}

function linesOf(view: TokenView, source: ChangedSource): readonly Line[] {
  const lines: Line[] = [];
  let first = -1;
  for (let index = 0; index <= view.tokens.length; index += 1) {
    const { kind, start } = view.at(index);
    const isEnd = kind === 'newline' && (view.openerOf(index) === -1 || !source.whole);
    if (!isEnd) {
      if (first === -1 && kind !== 'newline') first = index;
      continue;
    }
    if (first !== -1) {
      const { start: from } = view.at(first);
      lines.push({ first, end: index, indent: from - (source.text.lastIndexOf('\n', from - 1) + 1) });
    }
    first = -1;
    if (start === 0 && index >= view.tokens.length) break;
  }
  return lines;
}
