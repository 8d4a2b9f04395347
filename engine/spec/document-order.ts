import { appendPointer, parentPointer } from '../../core/base/json-pointer.ts';
import type { Issue } from '../../core/contract/issue.ts';

/**
 * Issues in the order in which their paths appear in the author's text; what is missing counts at its nearest
 * parent that is there. Issues on the same path keep the order they came in. `text` is JSON that has been parsed.
 */
export function inDocumentOrder(issues: readonly Issue[], text: string): readonly Issue[] {
  if (issues.length < 2) return issues;
  const wanted = new Set<string>();
  for (const { path } of issues) {
    for (let at = path; !wanted.has(at); at = parentPointer(at)) wanted.add(at);
  }
  const offsets = locate(text, wanted);
  const offsetOf = (path: string): number => {
    for (let at = path; ; at = parentPointer(at)) {
      const offset = offsets.get(at);
      if (offset !== undefined) return offset;
      if (at === '') return 0;
    }
  };
  return issues
    .map((issue) => ({ issue, offset: offsetOf(issue.path) }))
    .sort((a, b) => a.offset - b.offset)
    .map(({ issue }) => issue);
}

interface Level {
  readonly pointer: string;
  /** `undefined` in an object; the index of the next item in an array. */
  index: number | undefined;
  /** The pointer of the member being read. */
  member: string;
}

/** Offsets of the wanted pointers: of the key for a member, of the value for an item. One pass, no recursion. */
function locate(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>([['', 0]]);
  const levels: Level[] = [];
  let expectKey = false;
  for (let at = 0; at < text.length; ) {
    const level = levels.at(-1);
    const letter = text.charAt(at);
    const end = letter === '"' ? endOfString(text, at) : at + 1;
    if (letter === '}' || letter === ']') {
      levels.pop();
    } else if (letter === ',') {
      expectKey = level?.index === undefined;
    } else if (letter === ':') {
      expectKey = false;
    } else if (!' \t\r\n'.includes(letter)) {
      if (level?.index !== undefined && isItemStart(text, at)) {
        level.member = appendPointer(level.pointer, level.index);
        level.index += 1;
        note(level.member, at);
      } else if (level && expectKey) {
        level.member = appendPointer(level.pointer, JSON.parse(text.slice(at, end)) as string);
        note(level.member, at);
      }
      if (letter === '{' || letter === '[') {
        levels.push({ pointer: level?.member ?? '', index: letter === '[' ? 0 : undefined, member: '' });
        expectKey = letter === '{';
      }
    }
    at = end;
  }
  return offsets;

  function note(pointer: string, offset: number): void {
    if (wanted.has(pointer)) offsets.set(pointer, offset);
  }
}

/** Numbers and words are walked letter by letter: only the first letter starts an item. */
function isItemStart(text: string, at: number): boolean {
  return '[, \t\r\n'.includes(text.charAt(at - 1)) || '{["'.includes(text.charAt(at));
}

function endOfString(text: string, quoteAt: number): number {
  let at = quoteAt + 1;
  while (text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}
