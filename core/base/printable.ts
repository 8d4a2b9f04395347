/** Paths for messages, the first `most` of them: `` `a`, `b` and 3 more paths ``. */
export function namePaths(paths: readonly string[], most = 1): string {
  const named = paths.slice(0, most).map((path) => `\`${printable(path)}\``);
  const more = paths.length - named.length;
  return `${named.join(', ')}${more === 0 ? '' : ` and ${more} more paths`}`;
}

/** Text of unknown origin, short and without control characters, for messages. */
export function printable(text: string): string {
  const flat = text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
  return flat.length <= 200 ? flat : `${flat.slice(0, 200)}…`;
}

/** Formats input for a message or a terminal: in backticks, no control characters, at most 80 characters. */
export function quoted(input: string): string {
  const head = [...input.slice(0, 162)];
  const clipped = head.length > 80 ? `${head.slice(0, 79).join('')}…` : head.join('');
  return `\`${clipped.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`]/g, '?')}\``;
}

/**
 * DCS, SOS, PM, APC and OSC sequences (ECMA-48, 5.6) with all that they hold, which terminals do not print; to the end
 * of the line if they do not end. No start is in the text of another one, so the search is linear.
 */
const terminalStrings =
  /(?:\u001b[PX^_\]]|[\u0090\u0098\u009d-\u009f])(?:[^\u0007\u001b\u0090\u0098\u009c-\u009f]*(?:\u0007|\u001b\\|\u009c)|[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*)/g;

/** Removes DCS, SOS, PM, APC and OSC sequences: terminals interpret their content instead of printing it. */
export function withoutTerminalStrings(text: string): string {
  return text.replace(terminalStrings, '');
}

/**
 * Matches every character that is invisible or changes how other characters appear: control, formatting and
 * bidirectional characters, line separators, lone surrogates, private use, unassigned, and all spaces except U+0020.
 */
export const unseen =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}|\u2800/gu;

const longest = 64;

/**
 * Returns the known name that is closest to a mistyped one, or `undefined`. Accepts at most a third of the letters
 * wrong, or a sufficiently long prefix.
 */
export function nearestName(typed: string, candidates: Iterable<string>): string | undefined {
  if (typed.length === 0 || typed.length > longest) return undefined;
  const allowed = Math.min(3, Math.ceil(typed.length / 3));
  const known = [...candidates].filter((name) => name.length <= longest);
  let best: string | undefined;
  let bestDistance = allowed + 1;
  for (const candidate of known) {
    const distance = editDistance(typed.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? (typed.length >= 3 ? known.find((candidate) => candidate.startsWith(typed)) : undefined);
}

/** Damerau-Levenshtein (optimal string alignment): insertions, deletions, substitutions, swaps of neighbours. */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1]
      ) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current[column] = cost;
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}
