import { posix } from 'node:path';
import { SyntaxKind } from 'typescript/unstable/ast';
import { createScanner } from 'typescript/unstable/ast/scanner';
import { findCycles } from '../../test/architecture/cycles.ts';
import retired from '../retired-words.json' with { type: 'json' };

/** A file of the repository; `path` is relative to its root, POSIX. */
export interface SizedFile {
  readonly path: string;
  readonly text: string;
}

/** The figures of one module, or of all files together. */
export interface Size {
  readonly files: number;
  /** All lines: code, comments and blank ones. */
  readonly lines: number;
  /** Lines that hold code, beside a comment or alone. */
  readonly code: number;
  /** Lines that hold a comment and nothing else. */
  readonly comments: number;
  /** Lines per file. */
  readonly median: number;
  /** Nine of ten files have at most so many lines. */
  readonly p90: number;
  /** Files that exactly one file imports, from their own folder. */
  readonly lonely: number;
  /** Groups of files that import each other in a circle. */
  readonly cycles: number;
  /** Retired words of the style guide in comments and strings, by word; words that do not occur are left out. */
  readonly retired: Readonly<Record<string, number>>;
}

const words: Readonly<Record<string, { readonly forms: string }>> = retired.words;
const retiredForms = Object.entries(words).map(
  ([word, { forms }]) => [word, new RegExp(`(?<![\\w-])(?:${forms})(?![\\w-])`, 'gi')] as const,
);

/** Product code by module: the first folder, and one row more for each folder directly in `engine`. */
export function measureProduct(files: readonly SizedFile[]): Readonly<Record<string, Size>> {
  const read = files.filter(isProduct).map(readFile);
  const edges = edgesOf(read);
  const row = (isIn: (path: string) => boolean): Size =>
    sizeOf(
      read.filter(({ path }) => isIn(path)),
      edges,
    );
  const modules = new Set(read.map(({ path }) => moduleOf(path)));
  const rows = [...modules].sort().flatMap((module) => {
    const parts = new Set(read.flatMap(({ path }) => (moduleOf(path) === module ? partOf(path) : [])));
    return [
      [module, row((path) => moduleOf(path) === module)] as const,
      ...[...parts].sort().map((part) => [part, row((path) => path.startsWith(`${part}/`))] as const),
    ];
  });
  return { ...Object.fromEntries(rows), total: row(() => true) };
}

/** Tests, scripts and pages; of pages only lines and words are counted. */
export function measureRest(files: readonly SizedFile[]): Readonly<Record<string, Size>> {
  const below = (folder: string, pattern: RegExp): Size => {
    const read = files
      .filter(({ path }) => path.startsWith(`${folder}/`) && pattern.test(path))
      .map(readFile);
    return sizeOf(read, edgesOf(read));
  };
  return {
    test: below('test', /\.[jt]s$/),
    scripts: below('scripts', /\.[jt]s$/),
    docs: below('docs', /\.md$/),
  };
}

const outside = /^(?:test|fixtures|bench|scripts|docs|site)\//;

function isProduct({ path, text }: SizedFile): boolean {
  if (!/\.(?:ts|js|scm)$/.test(path) || outside.test(path)) return false;
  const [first = ''] = text.split('\n', 1);
  return !/\.gen\.[jt]s$/.test(path) && !/^(?:\/[/*]|;|#).*\bgenerated\b/i.test(first);
}

function moduleOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : 'entry points';
}

function partOf(path: string): readonly string[] {
  const [, part] = /^(engine\/[^/]+)\//.exec(path) ?? [];
  return part === undefined ? [] : [part];
}

interface ReadFile {
  readonly path: string;
  readonly lines: number;
  readonly code: number;
  readonly comments: number;
  /** Comments and strings, without the specifiers of imports. */
  readonly words: string;
  /** Relative specifiers of imports of every kind. */
  readonly imports: readonly string[];
}

function readFile({ path, text }: SizedFile): ReadFile {
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  if (path.endsWith('.md')) return { path, lines, code: 0, comments: 0, words: text, imports: [] };
  const { comments, words, imports } = path.endsWith('.scm') ? scanQueries(text) : scanSource(text);
  const isCode = markLines(text, comments);
  return {
    path,
    lines,
    code: isCode.filter((is) => is === 'code').length,
    comments: isCode.filter((is) => is === 'comment').length,
    words: words.join('\n'),
    imports: imports.filter((specifier) => specifier.startsWith('.')),
  };
}

type Range = readonly [start: number, end: number];

interface Scanned {
  readonly comments: readonly Range[];
  readonly words: readonly string[];
  readonly imports: readonly string[];
}

/** Tokens after which a slash divides; after all others it begins a regular expression. */
const endsExpression = new Set<SyntaxKind>([
  SyntaxKind.Identifier,
  SyntaxKind.PrivateIdentifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.ThisKeyword,
  SyntaxKind.SuperKeyword,
  SyntaxKind.TrueKeyword,
  SyntaxKind.FalseKeyword,
  SyntaxKind.NullKeyword,
]);
const strings = new Set<SyntaxKind>([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);

/** Scans TypeScript or JavaScript with the scanner of the compiler, and says what only a parser knows. */
function scanSource(text: string): Scanned {
  const scanner = createScanner(false);
  scanner.setText(text);
  const comments: Range[] = [];
  const words: string[] = [];
  const imports: string[] = [];
  /** What each open brace is: a template goes on behind the one that closes its `${`. */
  const braces: ('brace' | 'template')[] = [];
  let [last, before]: SyntaxKind[] = [SyntaxKind.Unknown, SyntaxKind.Unknown];
  for (let token = scanner.scan(); token !== SyntaxKind.EndOfFile; token = scanner.scan()) {
    if (token === SyntaxKind.WhitespaceTrivia || token === SyntaxKind.NewLineTrivia) continue;
    if (token === SyntaxKind.SingleLineCommentTrivia || token === SyntaxKind.MultiLineCommentTrivia) {
      comments.push([scanner.getTokenStart(), scanner.getTokenEnd()]);
      words.push(scanner.getTokenText());
      continue;
    }
    const isSlash = token === SyntaxKind.SlashToken || token === SyntaxKind.SlashEqualsToken;
    if (isSlash && !endsExpression.has(last ?? SyntaxKind.Unknown)) token = scanner.reScanSlashToken();
    if (token === SyntaxKind.OpenBraceToken) braces.push('brace');
    if (token === SyntaxKind.CloseBraceToken && braces.pop() === 'template') {
      token = scanner.reScanTemplateToken(false);
      if (token === SyntaxKind.TemplateMiddle) braces.push('template');
    }
    if (token === SyntaxKind.TemplateHead) braces.push('template');
    if (strings.has(token)) {
      const isCall = last === SyntaxKind.OpenParenToken && before === SyntaxKind.ImportKeyword;
      const isSpecifier = last === SyntaxKind.FromKeyword || last === SyntaxKind.ImportKeyword || isCall;
      (isSpecifier ? imports : words).push(scanner.getTokenValue());
    }
    [before, last] = [last, token];
  }
  return { comments, words, imports };
}

/** Tree-sitter queries: a semicolon outside of a string begins a comment. */
function scanQueries(text: string): Scanned {
  const comments: Range[] = [];
  const words: string[] = [];
  for (const found of text.matchAll(/"(?:[^"\\]|\\.)*"|;.*/g)) {
    const [token] = found;
    if (token.startsWith(';')) comments.push([found.index, found.index + token.length]);
    words.push(token);
  }
  return { comments, words, imports: [] };
}

/** What each line holds, blank ones apart. */
function markLines(text: string, comments: readonly Range[]): readonly ('code' | 'comment' | 'blank')[] {
  let bare = '';
  let at = 0;
  for (const [start, end] of comments) {
    // A mark in each line of a comment: it is not blank, and no code either.
    bare += text.slice(at, start) + text.slice(start, end).replaceAll(/\S+/g, '\0');
    at = end;
  }
  return (bare + text.slice(at)).split('\n').map((line) => {
    if (/[^\s\0]/.test(line)) return 'code';
    return line.includes('\0') ? 'comment' : 'blank';
  });
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly specifier: string;
}

function edgesOf(files: readonly ReadFile[]): readonly Edge[] {
  const paths = new Set(files.map(({ path }) => path));
  return files.flatMap(({ path, imports }) =>
    imports.flatMap((specifier) => {
      const to = posix.join(posix.dirname(path), specifier);
      return paths.has(to) ? [{ from: path, to, specifier }] : [];
    }),
  );
}

function sizeOf(files: readonly ReadFile[], edges: readonly Edge[]): Size {
  const paths = new Set(files.map(({ path }) => path));
  const importers = new Map<string, Set<string>>();
  for (const { from, to } of edges) importers.set(to, (importers.get(to) ?? new Set()).add(from));
  const isLonely = (path: string): boolean => {
    const [only, ...more] = importers.get(path) ?? [];
    return only !== undefined && more.length === 0 && posix.dirname(only) === posix.dirname(path);
  };
  const lengths = files.map(({ lines }) => lines).sort((a, b) => a - b);
  const words = files.map((file) => file.words).join('\n');
  const counted = retiredForms.map(([word, forms]) => [word, words.match(forms)?.length ?? 0] as const);
  const sum = (of: (file: ReadFile) => number): number => files.reduce((total, file) => total + of(file), 0);
  return {
    files: files.length,
    lines: sum(({ lines }) => lines),
    code: sum(({ code }) => code),
    comments: sum(({ comments }) => comments),
    median: lengths[Math.ceil(lengths.length / 2) - 1] ?? 0,
    p90: lengths[Math.ceil(lengths.length * 0.9) - 1] ?? 0,
    lonely: files.filter(({ path }) => isLonely(path)).length,
    cycles: findCycles(edges.filter(({ from, to }) => paths.has(from) && paths.has(to))).length,
    retired: Object.fromEntries(counted.filter(([, count]) => count > 0)),
  };
}
