/* Reads the imports of Python. */
import { skipString } from './javascript-imports.ts';

/** One module that Python source imports. */
export interface PythonImport {
  /** Leading dots. */
  readonly level: number;
  /** Dotted; '' for `from . import x`. */
  readonly module: string;
  /** Imported names, which may be modules; empty for `import module` and for `*`. */
  readonly names: readonly string[];
}

const landmark = /"""|'''|["'#]|(?:^|[\n;:])[ \t]*(?:from|import)(?=[ \t.\\])/g;
const dottedName = /[\w.\x80-\xff]+/y;
const alias = /as[ \t]+[\w\x80-\xff]+/y;

/**
 * The imports of Python source: `import a.b as c, d`, `from .a import (b, c)`. `text` holds one character per byte, and
 * so do the answers. One pass; comments and strings are stepped over.
 */
export function pythonImports(text: string): readonly PythonImport[] {
  const found: PythonImport[] = [];
  landmark.lastIndex = 0;
  for (let mark = landmark.exec(text); mark; mark = landmark.exec(text)) {
    const at = mark.index;
    const word = mark[0];
    if (word === '#') landmark.lastIndex = lineEnd(text, at);
    else if (word.length === 3 && /["']/.test(word)) landmark.lastIndex = tripleEnd(text, at, word);
    else if (word === '"' || word === "'") landmark.lastIndex = skipString(text, at);
    else landmark.lastIndex = readStatement(text, at + word.length, word.endsWith('from'), found);
  }
  return found;
}

/** Adds one statement to `found`; answers where it ends. */
function readStatement(text: string, from: number, isFrom: boolean, found: PythonImport[]): number {
  const cursor = { text, at: from };
  if (!isFrom) {
    for (const module of readNames(cursor, false)) found.push({ level: 0, module, names: [] });
    return cursor.at;
  }
  skipSpace(cursor, false);
  const dotted = take(cursor, dottedName);
  skipSpace(cursor, false);
  if (dotted === '' || !text.startsWith('import', cursor.at)) return cursor.at;
  cursor.at += 'import'.length;
  skipSpace(cursor, false);
  const inParentheses = text[cursor.at] === '(';
  if (inParentheses) cursor.at += 1;
  const module = dotted.replace(/^\.+/, '');
  const names = readNames(cursor, inParentheses);
  found.push({ level: dotted.length - module.length, module, names });
  return cursor.at;
}

interface Cursor {
  readonly text: string;
  at: number;
}

function readNames(cursor: Cursor, inParentheses: boolean): readonly string[] {
  const names: string[] = [];
  for (;;) {
    skipSpace(cursor, inParentheses);
    const name = take(cursor, dottedName);
    if (name === '') return names;
    names.push(name);
    skipSpace(cursor, inParentheses);
    if (take(cursor, alias) !== '') skipSpace(cursor, inParentheses);
    if (cursor.text[cursor.at] !== ',') return names;
    cursor.at += 1;
  }
}

/** Past blanks and continued lines; inside parentheses past line ends and comments too. */
function skipSpace(cursor: Cursor, inParentheses: boolean): void {
  const { text } = cursor;
  for (;;) {
    const char = text[cursor.at];
    if (char === ' ' || char === '\t' || char === '\f') cursor.at += 1;
    else if (char === '\\' && /^\r?\n/.test(text.slice(cursor.at + 1, cursor.at + 3))) cursor.at += 2;
    else if (inParentheses && (char === '\n' || char === '\r')) cursor.at += 1;
    else if (inParentheses && char === '#') cursor.at = lineEnd(text, cursor.at);
    // What is left of a continued line that ends in CR LF.
    else if (char === '\n' && text[cursor.at - 1] === '\r' && text[cursor.at - 2] === '\\') cursor.at += 1;
    else return;
  }
}

function take(cursor: Cursor, form: RegExp): string {
  form.lastIndex = cursor.at;
  const taken = form.exec(cursor.text)?.[0] ?? '';
  cursor.at += taken.length;
  return taken;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function tripleEnd(text: string, at: number, quotes: string): number {
  for (let end = text.indexOf(quotes, at + 3); end >= 0; end = text.indexOf(quotes, end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 3;
  }
  return text.length;
}

const maxClimb = 64;

/**
 * Returns the files of the tree that one import resolves to. An imported name that is a module of the package
 * resolves to that module; otherwise the package itself is returned. Absolute imports are searched at the file's
 * package root, beside the file, at the root of the tree and in `src/`.
 */
export function resolvePython(
  request: PythonImport,
  from: string,
  paths: Pick<ReadonlySet<string>, 'has'>,
): readonly string[] {
  const directory = from.slice(0, from.lastIndexOf('/') + 1);
  for (const base of basesOf(request.level, directory, paths)) {
    const stem = base + request.module.replaceAll('.', '/');
    const itself = stem === base ? initOf(base, paths) : moduleAt(stem, paths);
    const parts = request.names.map((name) =>
      moduleAt(stem === base ? base + name : `${stem}/${name}`, paths),
    );
    const found = new Set(request.names.length === 0 ? [itself] : parts.map((part) => part ?? itself));
    found.delete(undefined);
    if (found.size > 0) return [...found] as string[];
  }
  return [];
}

/** Directories with their slash, '' for the root. */
function basesOf(
  level: number,
  directory: string,
  paths: Pick<ReadonlySet<string>, 'has'>,
): readonly string[] {
  if (level === 0) return [...new Set([packageRoot(directory, paths), directory, '', 'src/'])];
  let base = directory;
  for (let climbed = 1; climbed < level; climbed += 1) {
    if (base === '') return [];
    base = parentOf(base);
  }
  return [base];
}

function packageRoot(directory: string, paths: Pick<ReadonlySet<string>, 'has'>): string {
  let root = directory;
  for (let climbed = 0; root !== '' && climbed < maxClimb && initOf(root, paths); climbed += 1)
    root = parentOf(root);
  return root;
}

function parentOf(directory: string): string {
  return directory.slice(0, directory.lastIndexOf('/', directory.length - 2) + 1);
}

function moduleAt(stem: string, paths: Pick<ReadonlySet<string>, 'has'>): string | undefined {
  return [`${stem}.py`, `${stem}.pyi`, `${stem}/__init__.py`, `${stem}/__init__.pyi`].find((path) =>
    paths.has(path),
  );
}

function initOf(directory: string, paths: Pick<ReadonlySet<string>, 'has'>): string | undefined {
  return [`${directory}__init__.py`, `${directory}__init__.pyi`].find((path) => paths.has(path));
}
