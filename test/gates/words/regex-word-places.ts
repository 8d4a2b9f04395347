/** An alternative of a pattern that holds a word, and how the pattern says that it is none. */
export interface RegexWordPlace {
  readonly word: string;
  /** Offsets in the pattern. */
  readonly start: number;
  readonly end: number;
  readonly to: string;
}

/** What nothing matches. */
const never = '(?!)';

/** The alternatives of a pattern that hold a word of their own, and groups that may be left out; looks are no words. */
export function regexWordPlaces(pattern: string): readonly RegexWordPlace[] {
  const places: RegexWordPlace[] = [];
  const add = (start: number, end: number): void => {
    const word = pattern.slice(start, end);
    if (/[A-Za-z]{2}/.test(ownText(word))) places.push({ word, start, end, to: never });
  };
  /** Reads an alternation from `at`, and says where it ends. */
  const read = (at: number): number => {
    const alternatives: number[] = [at];
    let index = at;
    while (index < pattern.length && pattern[index] !== ')') {
      const sign = pattern[index];
      if (sign === '\\') index += 2;
      else if (sign === '[') index = classEnd(pattern, index);
      else if (sign === '|') {
        index += 1;
        alternatives.push(index);
      } else if (sign === '(') {
        const head = /^\((?:\?(?::|<?[=!]|<\w+>))?/.exec(pattern.slice(index))?.[0] ?? '(';
        const from = index + head.length;
        const before = places.length;
        const end = read(from);
        const isOptional = /^[?*]|^\{0,/.test(pattern.slice(end + 1));
        if (isOptional && places.length === before && !/[=!]$/.test(head)) add(from, end);
        index = end + 1;
      } else index += 1;
    }
    if (alternatives.length > 1)
      alternatives.forEach((from, nth) => {
        const next = alternatives[nth + 1];
        add(from, next === undefined ? index : next - 1);
      });
    return index;
  };
  read(0);
  return places.toSorted((a, b) => a.start - b.start);
}

function classEnd(pattern: string, at: number): number {
  for (let index = at + 1; index < pattern.length; index += 1) {
    if (pattern[index] === '\\') index += 1;
    else if (pattern[index] === ']') return index + 1;
  }
  return pattern.length;
}

/** What an alternative says outside of its groups, classes and escapes. */
function ownText(part: string): string {
  let text = part.replace(/\\(?:[pP]\{[^}]*\}|.)/g, ' ').replace(/\[[^\]]*\]/g, ' ');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/\([^()]*\)/g, ' ');
  }
  return text;
}
