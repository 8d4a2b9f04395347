/* Recognises the language of a file. */
import type { GrammarName } from './grammar/syntax-tree.ts';

/** Languages with source that writ parses, token by token or with a grammar. */
export type Language =
  | 'javascript'
  | 'python'
  | 'shell'
  | 'ruby'
  | 'php'
  | 'perl'
  | 'java'
  | 'kotlin'
  | 'scala'
  | 'go'
  | 'csharp'
  | 'rust'
  | 'c'
  | 'swift'
  | 'elixir';

/** What is known of a language by the names of files. Extensions are in lower case, apart by blanks. */
interface LanguageRow {
  /** Of its source. */
  readonly source: string;
  /** Extensions of files that contain it among other content, or configure a tool in it. */
  readonly holders?: string;
  /** Extensions of markup with elements that contain it. */
  readonly markup?: string;
  /** Of source in which declarations alone are looked for. */
  readonly declarations?: string;
  /** Whole names of files. */
  readonly names?: readonly string[];
  /** What the first line of a script names. */
  readonly interpreter?: RegExp;
  readonly grammar?: GrammarName;
  /** By `.` and extension, or by name: what is read by another grammar. */
  readonly grammars?: Readonly<Record<string, GrammarName>>;
}

/** The only table of languages; a module that knows more about one keeps that knowledge itself. */
const rows: Readonly<Record<Language | 'lua', LanguageRow>> = {
  javascript: {
    source: 'js mjs cjs jsx ts mts cts tsx',
    markup: 'vue svelte astro html htm',
    interpreter: /\b(?:node|deno|bun|tsx|ts-node)\b/,
    grammar: 'javascript',
    grammars: {
      ...endingIn('ts mts cts vue svelte astro html htm', 'typescript'),
      ...endingIn('jsx tsx', 'tsx'),
    },
  },
  python: { source: 'py pyw pyi', interpreter: /\bpython[\d.]*\b/, grammar: 'python' },
  shell: {
    source: 'sh bash zsh',
    holders: 'ksh dash bats',
    interpreter: /\b(?:ba|z|da|k|a)?sh\b/,
    grammar: 'bash',
  },
  ruby: {
    source: 'rb rake',
    holders: 'gemspec ru',
    names: ['Rakefile', 'Gemfile'],
    interpreter: /\bruby\b/,
    grammar: 'ruby',
  },
  php: { source: 'php', holders: 'phtml php5 phpt inc', interpreter: /\bphp\b/, grammar: 'php' },
  perl: { source: '', holders: 'pl pm t cgi', interpreter: /\bperl\b/ },
  java: {
    source: 'java groovy',
    holders: 'gradle',
    names: ['Jenkinsfile'],
    grammar: 'java',
    grammars: { ...endingIn('groovy gradle', 'groovy'), Jenkinsfile: 'groovy' },
  },
  scala: { source: 'scala sc', holders: 'sbt', grammar: 'scala' },
  kotlin: { source: 'kt kts', grammar: 'kotlin' },
  go: { source: 'go', grammar: 'go' },
  csharp: { source: 'cs', holders: 'csx', grammar: 'c-sharp' },
  rust: { source: 'rs' },
  c: { source: 'c cc cpp cxx h hh hpp', declarations: 'hxx m mm' },
  swift: { source: 'swift' },
  elixir: { source: 'ex exs' },
  lua: { source: '', declarations: 'lua' },
};

function endingIn(extensions: string, grammar: GrammarName): Readonly<Record<string, GrammarName>> {
  return Object.fromEntries(extensions.split(' ').map((extension) => [`.${extension}`, grammar]));
}

/** A language in which declarations are looked for. */
export type DeclaringLanguage = Exclude<keyof typeof rows, 'perl'>;

const languages = Object.keys(rows) as Language[];
const words = (text = ''): readonly string[] => text.split(' ').filter((word) => word !== '');
/** Which language has an ending or a name, of those that a row lists. */
const pairs = <Known extends keyof typeof rows>(listed: (row: LanguageRow) => readonly string[]) =>
  new Map(
    Object.entries(rows).flatMap(([language, row]) =>
      listed(row).map((one) => [one, language as Known] as const),
    ),
  );

const byExtension = pairs<Language>(({ source, holders = '', markup = '' }) =>
  words(`${source} ${holders} ${markup}`),
);
const byDeclaration = pairs<DeclaringLanguage>(({ source, declarations = '' }) =>
  words(`${source} ${declarations}`),
);
const byName = pairs<Language>(({ names = [] }) => names);

const markups: ReadonlySet<string> = new Set(Object.values(rows).flatMap(({ markup }) => words(markup)));

/** Glob patterns of every file that `languageOf` knows by name. */
export const languageGlobs: readonly string[] = [
  ...[...byExtension.keys()].map((extension) => `**/*.${extension}`),
  ...[...byName.keys()].map((name) => `**/${name}`),
];

/** Whether a file is markup, of which only some elements hold source. */
export function isMarkup(path: string): boolean {
  return markups.has(extensionOf(path));
}

/** Returns the language of a file with no other content, by its name; markup has none. */
export function scriptLanguage(path: string): Language | undefined {
  return isMarkup(path) ? undefined : languageOf(path);
}

/** Whether a file is source, of whatever language, by its name; markup is none. */
export function isCode(path: string): boolean {
  return (scriptLanguage(path) ?? declaringLanguage(path)) !== undefined;
}

/** The language of a file by its name, else by the interpreter in its first line. */
export function languageOf(path: string, firstLine = ''): Language | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  const known = byName.get(name) ?? (dot === -1 ? undefined : byExtension.get(extensionOf(name)));
  if (known !== undefined || !firstLine.startsWith('#!')) return known;
  const line = firstLine.slice(0, 200);
  return languages.find((language) => rows[language].interpreter?.test(line));
}

/** The language of a file's declarations by its extension; TypeScript counts as JavaScript. */
export function declaringLanguage(path: string): DeclaringLanguage | undefined {
  return byDeclaration.get(extensionOf(path));
}

/** Returns the grammar that parses a file, or `undefined` if there is none and the text is read token by token. */
export function grammarOf(path: string, language: Language): GrammarName | undefined {
  const { grammar, grammars = {} } = rows[language];
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return grammars[dot === -1 ? name : name.slice(dot).toLowerCase()] ?? grammar;
}

/** Returns the text after the last dot, in lower case; the whole path if it has none. */
function extensionOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).toLowerCase();
}
