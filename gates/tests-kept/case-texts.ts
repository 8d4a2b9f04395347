const maxCases = 20;
const maxCaseLines = 2_000;

/** Only what closes or opens a body. */
const brackets = /^[\s(){}[\];,:<>]*(?:end|done|fi|esac)?[\s(){}[\];,:]*$/;

/**
 * The texts of what bears a name: the line on which it stands, without the name, and the lines below that are indented
 * more, by which a body is told in nearly every language.
 */
export function caseTexts(text: string, own: string): readonly string[] {
  if (!text.includes(own)) return [];
  const lines = text.split('\n');
  const found: string[] = [];
  for (let at = 0; at < lines.length && found.length < maxCases; at += 1) {
    const line = lines[at] ?? '';
    if (!standsIn(line, own)) continue;
    const indent = indentOf(isAlone(line, own) ? (lines[at - 1] ?? '') : line);
    const body = [line.replace(own, '')];
    for (let next = at + 1; next < lines.length && body.length < maxCaseLines; next += 1) {
      const below = lines[next] ?? '';
      if (!brackets.test(below) && indentOf(below) <= indent) break;
      body.push(below);
    }
    found.push(body.join('\n'));
  }
  return found;
}

/**
 * What a test that a report names may be called in its file: groups, files and parameters stand around it there. The
 * likeliest first.
 */
export function namesIn(reported: string): readonly string[] {
  const tails = [' > ', ' › ', '::', '/'].map((sign) => lastOf(reported, sign));
  const method = /[.#](\w+)(?:[[(].*)?$/s.exec(reported)?.[1] ?? '';
  // Names of groups stand before it, with nothing between that tells them from it.
  const words = reported.split(' ');
  const ends = words.slice(1, 7).map((_, at) => words.slice(at + 1).join(' '));
  const all = [reported, ...tails, method, ...ends.filter((end) => end.includes(' '))];
  const heads = all.flatMap((name) => [name.replace(/[[(].*$/s, ''), name.split('/')[0] ?? '']);
  return [...new Set([...all, ...heads].map((name) => name.trim()))].filter(({ length }) => length >= 3);
}

function lastOf(name: string, sign: string): string {
  return name.slice(name.lastIndexOf(sign) + (name.includes(sign) ? sign.length : 0));
}

/** A name counts as a whole: `test_a` is no part of `test_ab`. */
function standsIn(line: string, name: string): boolean {
  const at = line.indexOf(name);
  return at >= 0 && !(/\w/.test(line[at - 1] ?? ' ') && /\w/.test(name[0] ?? '')) && !isWord(line, at, name);
}

function isWord(line: string, at: number, name: string): boolean {
  return /\w/.test(line[at + name.length] ?? ' ') && /\w/.test(name.at(-1) ?? '');
}

/** A name on a line of its own belongs to the call above it. */
function isAlone(line: string, name: string): boolean {
  return /^\s*["'`]?["'`]?,?\s*$/.test(line.replace(name, ''));
}

function indentOf(line: string): number {
  return line.search(/\S|$/);
}
