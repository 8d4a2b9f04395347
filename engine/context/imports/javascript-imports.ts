/* Reads the imports of JavaScript and TypeScript. */
const moduleWord = /\b(?:import|require|from)\b/g;
const landmark = /["'`/]|\b(?:import|require|from)\b/g;
const wordsBeforeRegex = /\b(?:return|typeof|case|in|of|do|else|void|delete|throw|yield|await)$/;

/**
 * The module specifiers of TypeScript or JavaScript source: `import`, `export … from`, `require("…")`, `import("…")`;
 * those that are computed are left out. `text` holds one character per byte, and so do the answers. One pass; comments,
 * strings, templates and regular expressions are stepped over, and a quote that never closes costs its line only.
 */
export function javascriptImports(text: string): readonly string[] {
  const found: string[] = [];
  // Most files have their imports at the top, so the text after the last of these words is not scanned.
  let last = -1;
  for (const { index } of text.matchAll(moduleWord)) last = index;
  landmark.lastIndex = 0;
  for (let mark = landmark.exec(text); mark && mark.index <= last; mark = landmark.exec(text)) {
    const at = mark.index;
    const word = mark[0];
    if (word === '"' || word === "'") landmark.lastIndex = skipString(text, at);
    else if (word === '`') landmark.lastIndex = skipTemplate(text, at);
    else if (word === '/') landmark.lastIndex = skipSlash(text, at);
    else if (!/[.$]/.test(text[at - 1] ?? '')) {
      const specifier = specifierAfter(text, at + word.length, word);
      if (specifier === undefined) continue;
      found.push(text.slice(specifier.from, specifier.to));
      landmark.lastIndex = specifier.to + 1;
    }
  }
  return found;
}

function specifierAfter(
  text: string,
  after: number,
  word: string,
): { readonly from: number; readonly to: number } | undefined {
  let at = skipSpace(text, after);
  const isCall = text[at] === '(';
  if (isCall ? word === 'from' : word === 'require') return undefined;
  if (isCall) at = skipSpace(text, at + 1);
  const quote = text[at] ?? '';
  if (quote !== '"' && quote !== "'" && !(quote === '`' && isCall)) return undefined;
  const to = skipString(text, at) - 1;
  const inner = text.slice(at + 1, to);
  if (text[to] !== quote || /[\\\n]|\$\{/.test(inner)) return undefined;
  if (isCall && !/[),]/.test(text[skipSpace(text, to + 1)] ?? '')) return undefined;
  return { from: at + 1, to };
}

/** Past blanks and comments. */
function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (text.charCodeAt(at) <= 32) at += 1;
    const end = text[at] === '/' ? commentEnd(text, at) : undefined;
    if (end === undefined) return at;
    at = end;
  }
}

function commentEnd(text: string, at: number): number | undefined {
  const isLine = text[at + 1] === '/';
  if (!isLine && text[at + 1] !== '*') return undefined;
  const end = text.indexOf(isLine ? '\n' : '*/', at + 2);
  return end < 0 ? text.length : end + (isLine ? 1 : 2);
}

/** Past a comment, a regular expression or a division sign. */
function skipSlash(text: string, at: number): number {
  const comment = commentEnd(text, at);
  if (comment !== undefined) return comment;
  let before = at - 1;
  while (text[before] === ' ' || text[before] === '\t') before -= 1;
  const opensRegex =
    before < 0 ||
    /[(,=:[!&|?{;+\-*%~^>\r\n]/.test(text[before] ?? '') ||
    wordsBeforeRegex.test(text.slice(Math.max(0, before - 9), before + 1));
  return opensRegex ? regexEnd(text, at) : at + 1;
}

/** One that does not close on its line costs the line: trying again behind each slash would be quadratic. */
function regexEnd(text: string, at: number): number {
  let inClass = false;
  for (let index = at + 1; index < text.length; index += 1) {
    const char = text[index];
    if (char === '\n') return index;
    if (char === '\\') index += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return index + 1;
  }
  return text.length;
}

/** Past a template, what it interpolates included; one that never closes ends with the text. */
function skipTemplate(text: string, open: number): number {
  const inTemplate = /[`\\]|\$\{/g;
  const inCode = /[`{}"']|\/[/*]/g;
  /** Braces open in each interpolation that is open; empty while in the outermost template. */
  const braces: number[] = [];
  let isCode = false;
  for (let at = open + 1; ; ) {
    const landmarks = isCode ? inCode : inTemplate;
    landmarks.lastIndex = at;
    const mark = landmarks.exec(text);
    if (!mark) return text.length;
    const depth = braces.length - 1;
    at = mark.index + mark[0].length;
    if (!isCode) {
      if (mark[0] === '\\') at += 1;
      else if (mark[0] === '${') {
        braces.push(0);
        isCode = true;
      } else if (braces.length === 0) return at;
      else isCode = true;
    } else if (mark[0] === '`') isCode = false;
    else if (mark[0] === '{') braces[depth] = (braces[depth] ?? 0) + 1;
    else if (mark[0] === '}') {
      if (braces[depth] === 0) {
        braces.pop();
        isCode = false;
      } else braces[depth] = (braces[depth] ?? 1) - 1;
    } else if (mark[0].startsWith('/')) at = commentEnd(text, mark.index) ?? at;
    else at = skipString(text, mark.index);
  }
}

const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json', '.d.ts'] as const;
/** What TypeScript source is called where the specifier names its output. */
const sourceOf: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.d.ts'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts', '.d.mts'],
  '.cjs': ['.cts', '.d.cts'],
};

/**
 * Returns the file of the tree that a relative specifier resolves to, or `undefined` for a package or a missing file.
 */
export function resolveJavascript(
  specifier: string,
  from: string,
  paths: Pick<ReadonlySet<string>, 'has'>,
): string | undefined {
  if (!/^\.{1,2}(?:\/|$)/.test(specifier)) return undefined;
  const target = joinPath(from, specifier.replace(/[?#].*$/s, ''));
  if (target === undefined) return undefined;
  const isDirectory = target === '' || /(?:^|\/)\.{0,2}$/.test(specifier);
  const directory = target === '' ? '' : `${target}/`;
  return (isDirectory ? undefined : fileAt(target, paths)) ?? firstOf(`${directory}index`, extensions, paths);
}

/** Most specifiers name a file that is there, or the output of one. */
function fileAt(target: string, paths: Pick<ReadonlySet<string>, 'has'>): string | undefined {
  if (paths.has(target)) return target;
  const ending = /\.[cm]?jsx?$/.exec(target)?.[0] ?? '';
  const stem = target.slice(0, target.length - ending.length);
  return firstOf(stem, sourceOf[ending] ?? [], paths) ?? firstOf(target, extensions, paths);
}

function firstOf(
  stem: string,
  endings: readonly string[],
  paths: Pick<ReadonlySet<string>, 'has'>,
): string | undefined {
  const ending = endings.find((one) => paths.has(stem + one));
  return ending === undefined ? undefined : stem + ending;
}

/** `specifier` seen from the file `from`; `undefined` where it leaves the tree. */
function joinPath(from: string, specifier: string): string | undefined {
  const segments = from.split('/').slice(0, -1);
  for (const segment of specifier.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.join('/');
}

/**
 * Past the string that opens at `at`: behind its closing quote, or at the end of the line where it does not close on
 * it.
 */
export function skipString(text: string, at: number): number {
  const quote = text.charCodeAt(at);
  for (let index = at + 1; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === quote) return index + 1;
    if (unit === 0x0a) return index;
    if (unit === 0x5c) index += 1;
  }
  return text.length;
}
