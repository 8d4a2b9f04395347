/* Finds the definitions of `touchHints.symbols` in a tree. */
import { type DeclaringLanguage, declaringLanguage } from '../../../readers/source/language.ts';
import type { TreeEntry } from '../../../workspace/git/tree.ts';
import { type EachBlob, isBinary, isFile, isVendored } from '../import-graph.ts';

/** Where a symbol is defined. */
export interface DefinitionSite {
  readonly symbol: string;
  readonly path: string;
  /** From 1, inclusive. */
  readonly startLine: number;
  readonly endLine: number;
  readonly text: Uint8Array;
}

export interface FoundSymbols {
  readonly sites: readonly DefinitionSite[];
  /** Symbols without a definition that was found. */
  readonly unresolved: readonly string[];
  /** What was not looked at, in words. */
  readonly gaps: readonly string[];
}

interface Wanted {
  readonly symbol: string;
  /** The last name of it, one character per byte. */
  readonly name: string;
  /** The name before that: a class, an object, a package. */
  readonly container: string | undefined;
  readonly path: string | undefined;
  readonly needle: Buffer;
}

const maxFileBytes = 1024 * 1024;
const maxFiles = 20_000;
const maxTotalBytes = 256 * 1024 * 1024;
const maxSymbols = 256;
const maxSitesPerSymbol = 16;
const maxDeclarationsPerFile = 256;
const maxMeasured = 5000;
const maxHitsPerFile = 2000;
const maxAround = 400;
const identifier = /[A-Za-z_$\x80-\xff][\w$\x80-\xff]*/g;

/**
 * Definition sites of `touchHints.symbols` (`name`, `Container.name`, `container::name`, `path#name`), by declaration
 * forms per language, in the order of the tree. With a container, sites inside or beside it come alone where there are
 * any.
 */
export async function findSymbols(
  eachBlob: EachBlob,
  entries: readonly TreeEntry[],
  symbols: readonly string[],
): Promise<FoundSymbols> {
  const paths = new Set(entries.map(({ path }) => path));
  const wanted = symbols.slice(0, maxSymbols).flatMap((symbol) => toWanted(symbol, paths) ?? []);
  if (wanted.length === 0) return { sites: [], unresolved: symbols, gaps: [] };
  const { files, gaps } = sourcesOf(entries);
  const bySymbol = new Map<string, DefinitionSite[]>();
  let measured = 0;
  await eachBlob(files, ({ path }, bytes) => {
    if (!bytes || measured > maxMeasured || isBinary(bytes)) return;
    const here = wanted.filter(
      (one) =>
        (one.path === undefined || one.path === path) &&
        (bySymbol.get(one.symbol)?.length ?? 0) < maxSitesPerSymbol &&
        bytes.includes(one.needle),
    );
    if (here.length === 0) return;
    const lines = bytes.toString('latin1').split('\n');
    const declared = declarationsIn(path, lines, here);
    for (const site of here.flatMap((one) => sitesOf(one, declared, path, lines))) {
      const sites = bySymbol.get(site.symbol) ?? [];
      bySymbol.set(site.symbol, sites);
      if (sites.length < maxSitesPerSymbol) sites.push(site);
    }
    measured += declared.reduce((sum, { measured: isMeasured }) => sum + (isMeasured() ? 1 : 0), 0);
  });
  if (measured > maxMeasured) gaps.push(`symbols: no more than ${maxMeasured} definitions are looked into`);
  return {
    sites: symbols.flatMap((symbol) => bySymbol.get(symbol) ?? []),
    unresolved: symbols.filter((symbol) => !bySymbol.has(symbol)),
    gaps,
  };
}

function sourcesOf(entries: readonly TreeEntry[]): {
  readonly files: readonly TreeEntry[];
  readonly gaps: string[];
} {
  const sources = entries.filter(
    (entry) =>
      isFile(entry) &&
      entry.sizeBytes <= maxFileBytes &&
      declaringLanguage(entry.path) &&
      !isVendored(entry.path),
  );
  let bytes = 0;
  const files = sources.slice(0, maxFiles).filter(({ sizeBytes }) => {
    bytes += sizeBytes;
    return bytes <= maxTotalBytes;
  });
  const left = sources.length - files.length;
  return { files, gaps: left === 0 ? [] : [`symbols: ${left} of ${sources.length} source files`] };
}

function toWanted(symbol: string, paths: ReadonlySet<string>): Wanted | undefined {
  const hash = Math.max(symbol.lastIndexOf('#'), symbol.lastIndexOf(':'));
  const path = hash > 0 && paths.has(symbol.slice(0, hash)) ? symbol.slice(0, hash) : undefined;
  const names = symbol
    .slice(path === undefined ? 0 : hash + 1)
    .replace(/\(.*$/s, '')
    .split(/::|[.#:]/)
    .map((name) => Buffer.from(name.trim()).toString('latin1'));
  const name = names.at(-1) ?? '';
  identifier.lastIndex = 0;
  if (identifier.exec(name)?.[0] !== name) return undefined;
  return { symbol, name, container: names.at(-2), path, needle: Buffer.from(name, 'latin1') };
}

/** A declared name. The end of its definition is measured only on demand. */
interface Declared {
  readonly name: string;
  readonly first: number;
  last(): number;
  measured(): boolean;
}

function declarationsIn(
  path: string,
  lines: readonly string[],
  wanted: readonly Wanted[],
): readonly Declared[] {
  const language = declaringLanguage(path);
  if (language === undefined) return [];
  const syntax = declarationSyntax[language];
  const names = new Set(wanted.flatMap(({ name, container }) => [name, container ?? name]));
  const found: Declared[] = [];
  let hits = 0;
  for (const [first, line] of lines.entries()) {
    identifier.lastIndex = 0;
    for (let mark = identifier.exec(line); mark && hits < maxHitsPerFile; mark = identifier.exec(line)) {
      const name = mark[0];
      if (!names.has(name)) continue;
      hits += 1;
      const column = mark.index + name.length;
      const before = line.slice(Math.max(0, mark.index - maxAround), mark.index);
      const after = line.slice(column, column + maxAround).trimEnd();
      if (found.length >= maxDeclarationsPerFile || !isDeclaration({ before, after }, syntax)) continue;
      let end: number | undefined;
      found.push({
        name,
        first,
        last: () => {
          end ??= definitionEnd(lines, first, column, syntax);
          return end;
        },
        measured: () => end !== undefined,
      });
    }
  }
  return found;
}

function sitesOf(
  { symbol, name, container }: Wanted,
  declared: readonly Declared[],
  path: string,
  lines: readonly string[],
): readonly DefinitionSite[] {
  const sites = declared.filter((one) => one.name === name);
  const kept = container === undefined ? sites : inContainer(container, sites, declared, path, lines);
  return kept.slice(0, maxSitesPerSymbol).map((site) => ({
    symbol,
    path,
    startLine: site.first + 1,
    endLine: site.last() + 1,
    text: Buffer.from(`${lines.slice(site.first, site.last() + 1).join('\n')}\n`, 'latin1'),
  }));
}

/**
 * Searches inside a definition of that name first. Then it searches a line that names it (`func (r *T) Name`,
 * `T::name`), then a file or directory of that name.
 */
function inContainer(
  container: string,
  sites: readonly Declared[],
  declared: readonly Declared[],
  path: string,
  lines: readonly string[],
): readonly Declared[] {
  if (sites.length === 0) return [];
  const outers = declared.filter(({ name }) => name === container);
  const inside = sites.filter(({ first }) =>
    outers.some((outer) => outer.first < first && first <= outer.last()),
  );
  if (inside.length > 0) return inside;
  const beside = sites.filter(({ first }) => saysWord(lines[first] ?? '', container));
  if (beside.length > 0) return beside;
  return path.split('/').some((part) => part.replace(/\..*$/s, '') === container) ? sites : [];
}

function saysWord(line: string, name: string): boolean {
  return [...line.slice(0, 2 * maxAround).matchAll(identifier)].some(([word]) => word === name);
}

const maxLines = 200;
const maxCharacters = 40_000;

/**
 * Returns the last line (index) of the definition with its name ending at `column` of line `first`. That is the end
 * of its block or statement, at most 200 lines. It estimates by brackets, indentation or `end`, and never parses.
 */
function definitionEnd(
  lines: readonly string[],
  first: number,
  column: number,
  syntax: DeclarationSyntax,
): number {
  const last = Math.min(lines.length, first + maxLines) - 1;
  if (syntax.block === 'braces') return bracketEnd(lines, first, column, last, syntax.quotes);
  const indent = indentOf(lines[first] ?? '');
  let end = first;
  for (let at = first + 1; at <= last; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '') continue;
    const isInside = indentOf(line) > indent;
    if (!isInside && syntax.block === 'end') return /^\s*end\b/.test(line) ? at : end;
    if (!isInside && !/^\s*[)\]}]/.test(line)) return end;
    end = at;
  }
  return end;
}

function bracketEnd(
  lines: readonly string[],
  first: number,
  column: number,
  last: number,
  quotes: string,
): number {
  let depth = 0;
  let budget = maxCharacters;
  let inComment = false;
  const indent = indentOf(lines[first] ?? '');
  for (let at = first; at <= last; at += 1) {
    const line = lines[at] ?? '';
    // If a regular expression or a lone quote upsets the count, the layout still shows the end of the block.
    if (at > first && indentOf(line) === indent && /^\s*\}(?!.*[{(,]\s*$)/.test(line)) return at;
    for (let index = at === first ? column : 0; index < line.length && budget > 0; index += 1, budget -= 1) {
      const char = line[index] ?? '';
      if (inComment) {
        if (char === '*' && line[index + 1] === '/') inComment = false;
      } else if (char === '/' && line[index + 1] === '/') break;
      else if (char === '/' && line[index + 1] === '*') inComment = true;
      else if (quotes.includes(char)) index = closingQuote(line, index, char);
      else if (char === '(' || char === '[' || char === '{') depth += 1;
      else if (char === ')' || char === ']' || char === '}') {
        depth -= 1;
        if (depth < 0 || (depth === 0 && char === '}')) return at;
      } else if (char === ';' && depth === 0) return at;
    }
    if (budget <= 0) return at;
    const isOpen = depth > 0 || inComment || /(?:[=|&,+?:.(]|=>)\s*$/.test(line.slice(-40));
    if (!isOpen && !/^\s*[{.|&=?:+,)]/.test((lines[at + 1] ?? '').slice(0, 200))) return at;
  }
  return last;
}

function closingQuote(line: string, open: number, quote: string): number {
  for (let index = open + 1; index < line.length; index += 1) {
    if (line[index] === '\\') index += 1;
    else if (line[index] === quote) return index;
  }
  return line.length;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The text before and after a name on its line, both cut to a bounded length. */
interface NameInLine {
  readonly before: string;
  readonly after: string;
}

const statementWords = new Set(
  'return new throw await yield else case if while for switch do goto in not and or assert delete'.split(' '),
);

/** Returns whether the words around a name show that the name is declared there. */
function isDeclaration({ before, after }: NameInLine, syntax: DeclarationSyntax): boolean {
  const start = before.trimStart();
  if (syntax.lineComment.some((mark) => (mark === '*' ? start.startsWith('*') : before.includes(mark))))
    return false;
  const words = before.trim().split(/\s+/);
  const keyword = (words.at(-1) ?? '').replace(/^[({;]+/, '').replace(/[&*]$/, '');
  const isAtStart = before === start;
  if (syntax.keywords.has(keyword) || syntax.keywords.has(words.at(-1) ?? '')) return !/^\s*\.\w/.test(after);
  if (syntax.topKeywords.has(keyword)) return isAtStart;
  if (isQualified(words, syntax)) return true;
  if (syntax.assignment && before === '' && /^\s*(?::[^=]*)?=(?!=)/.test(after)) return true;
  if (syntax.block === 'braces' && /^(?:\}|typedef\b.*)\s*$/.test(start) && /^\s*;/.test(after)) return true;
  return syntax.bareFunction !== undefined && isBareFunction(words, after, syntax.bareFunction);
}

/** `func (r *T) Name`, `def self.name`, `function M.name`, `fun String.name`. */
function isQualified(words: readonly string[], { keywords }: DeclarationSyntax): boolean {
  const last = words.at(-1) ?? '';
  if (last.endsWith(')') && words[0] === 'func' && (words[1] ?? '').startsWith('(')) return true;
  return /^[\w:]+[.:]$/.test(last) && words.slice(0, -1).some((word) => keywords.has(word));
}

/** `name(…) {`, `name = (…) => …`, and with types in front where the language has them. */
function isBareFunction(
  words: readonly string[],
  after: string,
  allowed: ReadonlySet<string> | 'any',
): boolean {
  const prefix = words.filter((word) => word !== '');
  if (allowed === 'any') {
    if (prefix.length === 0 || prefix.some((word) => statementWords.has(word))) return false;
    if (
      !prefix.every((word) => /^[\w:<>,[\]*&~?@.]+$/.test(word)) ||
      !/[\w>\]*&:~]$/.test(prefix.at(-1) ?? '')
    )
      return false;
    return /^\s*(?:<[^(]*)?\(/.test(after) && !after.includes(';');
  }
  if (!prefix.every((word) => allowed.has(word.replace(/[*#]$/, '')) || word === '*' || word === '#'))
    return false;
  const behind = behindParameters(after);
  if (behind !== undefined) return /^\s*(?::[^={;]*)?\{/.test(behind);
  return /^\s*[=:]\s*(?:async\b\s*)?(?:function\b|[(\w<])/.test(after) && /=>|\bfunction\b/.test(after);
}

/** What follows `(…)` where the text begins with it; `undefined` where it does not, or does not close. */
function behindParameters(after: string): string | undefined {
  const open = /^\s*[?!]?\s*(?:<[^(]*)?\(/.exec(after)?.[0].length;
  if (open === undefined) return undefined;
  let depth = 1;
  for (let at = open; at < after.length; at += 1) {
    if (after[at] === '(') depth += 1;
    else if (after[at] === ')') depth -= 1;
    if (depth === 0) return after.slice(at + 1);
  }
  return '';
}

/** How a language declares names. */
interface DeclarationSyntax {
  /** Words that come directly before a declared name. */
  readonly keywords: ReadonlySet<string>;
  /** Words that declare a name only at the start of a line: inside a block they make locals. */
  readonly topKeywords: ReadonlySet<string>;
  /**
   * Words that may come before `name(…) {` in a declaration; `any` also allows a type. Absent: the language has no
   * such form.
   */
  readonly bareFunction?: ReadonlySet<string> | 'any';
  /** `NAME = …` at the start of a line. */
  readonly assignment: boolean;
  readonly block: 'braces' | 'indent' | 'end';
  readonly lineComment: readonly string[];
  /** Quotes that open a string. */
  readonly quotes: string;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const none: ReadonlySet<string> = new Set();
const braces = {
  topKeywords: none,
  assignment: false,
  block: 'braces',
  lineComment: ['//', '*'],
  quotes: '"\'`',
} as const;

/**
 * One row per language. This is data, not a grammar: a definition that matches none of these forms is not found, and
 * is reported as not found.
 */
const declarationSyntax: Readonly<Record<DeclaringLanguage, DeclarationSyntax>> = {
  javascript: {
    ...braces,
    keywords: set('function function* class interface type enum namespace module'),
    topKeywords: set('const let var'),
    bareFunction: set(
      'public private protected static async get set readonly override abstract export default declare accessor',
    ),
  },
  python: {
    keywords: set('def class'),
    topKeywords: set('type'),
    assignment: true,
    block: 'indent',
    lineComment: ['#'],
    quotes: '"\'',
  },
  go: { ...braces, keywords: set('func type'), topKeywords: set('var const') },
  rust: {
    ...braces,
    keywords: set('fn struct enum trait union mod macro_rules! type const static'),
    quotes: '"',
  },
  java: { ...braces, keywords: set('class interface enum record @interface def'), bareFunction: 'any' },
  kotlin: { ...braces, keywords: set('fun class interface object typealias'), topKeywords: set('val var') },
  csharp: {
    ...braces,
    keywords: set('class struct interface enum record delegate namespace'),
    bareFunction: 'any',
  },
  scala: { ...braces, keywords: set('def class trait object enum type'), topKeywords: set('val var') },
  c: {
    ...braces,
    keywords: set('struct class enum union namespace concept #define using'),
    bareFunction: 'any',
    quotes: '"\'',
  },
  swift: {
    ...braces,
    keywords: set('func class struct enum protocol actor extension typealias'),
    topKeywords: set('let var'),
  },
  ruby: {
    keywords: set('def class module'),
    topKeywords: none,
    assignment: true,
    block: 'end',
    lineComment: ['#'],
    quotes: '"\'',
  },
  php: {
    ...braces,
    keywords: set('function class interface trait enum const'),
    lineComment: ['//', '*', '#'],
    quotes: '"\'',
  },
  shell: {
    ...braces,
    keywords: set('function'),
    bareFunction: none,
    assignment: true,
    lineComment: ['#'],
    quotes: '"\'',
  },
  elixir: {
    keywords: set('def defp defmacro defmodule defprotocol defstruct'),
    topKeywords: none,
    assignment: false,
    block: 'end',
    lineComment: ['#'],
    quotes: '"',
  },
  lua: {
    keywords: set('function'),
    topKeywords: set('local'),
    assignment: true,
    block: 'end',
    lineComment: ['--'],
    quotes: '"\'',
  },
};
