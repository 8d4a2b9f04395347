/** Modules that provide declarations and assertions to JavaScript tests. */
export const testLibrary =
  /^(?:node:)?(?:assert(?:\/strict)?|test)$|^(?:chai|expect|should|power-assert|unexpected|vitest|mocha|jasmine|ava|tap|tape|zora|qunit|earl|sinon|cypress|uvu(?:\/assert)?|bun:test|@jest\/globals|@vitest\/\S+|@playwright\/\S+|@tapjs\/\S+|@japa\/\S+|@hapi\/(?:code|lab)|@open-wc\/testing|@std\/(?:assert|expect|testing)\S*|(?:jsr:)?@std\/\S+|https:\/\/deno\.land\/std\S*)$/;

/** A name that a file imports from a module. */
export interface Binding {
  readonly name: string;
  readonly module: string;
  readonly at: number;
}

const imports =
  /\bimport\s+(?!type\b)([\w$*{},\s]{1,500}?)\s*\bfrom\s*["'`]([^"'`\n]{1,200})["'`]|\b(?:const|let|var)\s+([\w$]{1,60}|\{[^}]{0,400}\})\s*=\s*(?:await\s+import\s*\(|require\s*\()\s*["'`]([^"'`\n]{1,200})["'`]\s*\)/g;

/** Names that a text imports from modules, in order. `code` is the text without the content of strings and comments. */
export function bindingsOf(text: string, code: string): readonly Binding[] {
  return [...text.matchAll(imports)].flatMap((match) => {
    if (!/\S/.test(code[match.index] ?? ' ')) return [];
    const names = namesIn(match[1] ?? match[3] ?? '');
    return names.map((name) => ({ name, module: match[2] ?? match[4] ?? '', at: match.index }));
  });
}

/** Local names in `a, { b as c, d: e }, * as f`. */
function namesIn(clause: string): readonly string[] {
  return clause
    .split(/[{},]/)
    .map((part) => /([\w$]+)\s*(?:=[^=]*)?$/.exec(part.trim())?.[1] ?? '')
    .filter((name) => /^[A-Za-z_$]/.test(name));
}

/** Names by which code reaches a test library: imports and their aliases. */
export function libraryNames(text: string, code: string): ReadonlySet<string> {
  const names = new Set(
    bindingsOf(text, code)
      .filter(({ module }) => testLibrary.test(module))
      .map(({ name }) => name),
  );
  const alias =
    /\b(?:const|let|var)\s+([\w$]{1,60}|\{[^}]{0,400}\})\s*=\s*([\w$]{1,60})(?:\.(?:strict|assert|expect|default))?\s*(?:[;,\n]|$)/g;
  for (const [, given = '', from = ''] of code.matchAll(alias))
    if (names.has(from)) for (const name of namesIn(given)) names.add(name);
  return names;
}

/** Resolves a relative specifier to a path without its extension. */
export function resolveFrom(path: string, specifier: string): string {
  const parts = path.split('/').slice(0, -1);
  for (const part of specifier.split('/'))
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  return withoutEnding(parts.join('/'));
}

/** A path of a module without its ending, `index` included. */
function withoutEnding(path: string): string {
  return path.replace(/\.[cm]?[jt]sx?$/, '').replace(/\/index$/, '');
}

/** Names that declare a test and do not assert. */
const declaring =
  /^(?:test|it|describe|suite|context|before|after|beforeEach|afterEach|beforeAll|afterAll|mock|vi|jest|sinon|t|run|chai|AssertionError)$/;

/** Offsets of calls to functions imported from a test library: `equal(a, b)`. */
export function judgingCalls(text: string, code: string): readonly number[] {
  const names = [...libraryNames(text, code)].filter((name) => /^\w+$/.test(name) && !declaring.test(name));
  if (names.length === 0) return [];
  const form = new RegExp(String.raw`(?<![\w.$])(?:${names.slice(0, 60).join('|')})\s*\(`, 'g');
  return [...code.matchAll(form)].map(({ index }) => index);
}
