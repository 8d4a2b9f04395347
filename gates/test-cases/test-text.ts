import type { Language } from '../../readers/source/language.ts';
import type { Token } from '../../readers/source/tokens/lex.ts';

const blank = 0x20;
const feed = 0x0a;

/** The code of a text: every offset stays, comments are blanks and of strings only the quotes are left. */
export function codeText(text: string, tokens: readonly Token[]): string {
  const source = Buffer.from(text, 'latin1');
  const code = Buffer.alloc(source.length, blank);
  for (let at = source.indexOf(feed); at !== -1; at = source.indexOf(feed, at + 1)) code[at] = feed;
  for (const { kind, start, end } of tokens) {
    if (kind === 'newline') continue;
    if (kind !== 'string') source.copy(code, start, start, end);
    else if (end > start) {
      code[start] = source[start] ?? blank;
      code[end - 1] = source[end - 1] ?? blank;
    }
  }
  return code.toString('latin1');
}

/** The same of a shell text, as far as lines that are comments go. */
export function shellCode(text: string): string {
  return text.replace(/^[ \t]*#[^\n]*/gm, (line) => ' '.repeat(line.length));
}

const withPreprocessor: ReadonlySet<Language> = new Set(['c', 'csharp', 'swift']);
const directive = /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b[ \t]*([^\n]{0,200})/;

/** The text with `#if false` and `#if 0` blanked, so that offsets stay. */
export function withoutDeadCode(text: string, language: Language): string {
  if (!withPreprocessor.has(language) || !/#[ \t]*if[ \t]+(?:0|false)\b/.test(text)) return text;
  /** By depth: whether what stands around the `#if` is left out. */
  const open: boolean[] = [];
  let isDead = false;
  return text
    .split('\n')
    .map((line) => {
      const found = directive.exec(line);
      if (!found) return isDead ? ' '.repeat(line.length) : line;
      const [, word = '', condition = ''] = found;
      if (word.startsWith('if')) {
        open.push(isDead);
        isDead ||= word === 'if' && /^(?:0|false)[ \t\r]*(?:\/[/*].*)?$/.test(condition);
      } else if (word === 'endif') {
        isDead = open.pop() ?? false;
      } else isDead = open.at(-1) ?? false;
      return ' '.repeat(line.length);
    })
    .join('\n');
}

const directories = /(?:^|\/)(?:__tests__|tests?|specs?|e2e|t)\//i;

/** Where each language keeps its tests, over whole paths. */
const patterns: Readonly<Record<Language, RegExp>> = {
  javascript: /[._-](?:test|spec|tests)\.[cm]?[jt]sx?$|(?:^|\/)test\.[cm]?[jt]s$/i,
  python: /(?:^|\/)test_[^/]*\.py$|_tests?\.py$|(?:^|\/)tests\.py$/,
  shell: /\.bats$|(?:^|\/)test[_-][^/]*\.sh$|[_-]test\.sh$/,
  ruby: /_(?:spec|test)\.rb$/,
  php: /Test\.php$|\.phpt$/,
  perl: /\.t$/,
  java: /(?:Tests?|IT|Spec)\.(?:java|groovy)$/,
  kotlin: /(?:Tests?|IT|Spec)\.kts?$/,
  scala: /(?:Tests?|IT|Spec|Suite)\.scala$/,
  go: /_test\.go$/,
  csharp: /Tests?\.cs$/,
  // Rust keeps unit tests beside the code.
  rust: /\.rs$/,
  c: /(?:^|[/_.-])tests?[^/]*\.(?:c|cc|cpp|cxx)$/i,
  swift: /Tests?\.swift$/,
  elixir: /_test\.exs$/,
};

/** True for files in which a test case of that language may stand. */
export function isTestFile(path: string, language: Language): boolean {
  if (patterns[language].test(path)) return true;
  // Go and Elixir run nothing that is not named so.
  return language !== 'go' && language !== 'elixir' && directories.test(path);
}
