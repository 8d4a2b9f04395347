/** What stands for a piece of a script that is only known when it runs. */
export const unknownPiece = '\0';

const maxScript = 4_000;

/**
 * Whether a `sed` script runs what it reads, or a command that is not written down: `s/…/…/e`, `e`, `1e "$command"`
 * (GNU sed). What is no script that this reads runs nothing.
 */
export function sedRunsText(script: string): boolean {
  const text = script.slice(0, maxScript);
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? '';
    if (/[\s;{}!,~+\d$]/.test(char) || char === unknownPiece) at += 1;
    else if (char === '/' || char === '\\') {
      at = pastPart(text, char === '/' ? at : at + 1);
      while (/[IM]/.test(text[at] ?? '')) at += 1;
    } else if (char === 's' || char === 'y') {
      const middle = pastPart(text, at + 1);
      const delimiter = text[at + 1] ?? '';
      if (text[middle - 1] !== delimiter) return false;
      at = pastPart(text, middle - 1);
      let isRun = false;
      for (; char === 's' && /[gpiImMe\d]/.test(text[at] ?? ''); at += 1) isRun ||= text[at] === 'e';
      if (isRun) return true;
      if (text[at] === 'w') at = lineEnd(text, at);
    } else if (char === 'e') {
      const end = lineEnd(text, at);
      const run = text.slice(at + 1, end).trim();
      if (run === '' || run.startsWith(';') || run.startsWith('}') || run.includes(unknownPiece)) return true;
      at = end;
    } else if (/[aicrwRW]/.test(char)) at = lineEnd(text, at);
    else if (/[btT:]/.test(char)) {
      while (at < text.length && !/[;\n}]/.test(text[at] ?? '')) at += 1;
    } else if (/[dDgGhHnNpPxqQlLFz=]/.test(char)) at += 1;
    else return false;
  }
  return false;
}

/** Past the delimiter that ends the part which begins behind the one at `open`. */
function pastPart(text: string, open: number): number {
  const delimiter = text[open];
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === delimiter) return at + 1;
  }
  return text.length;
}

/** Where the line ends; a break behind a backslash belongs to it. */
function lineEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}
