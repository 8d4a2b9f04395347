import type { Language } from '../../readers/source/language.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import type { NewCase } from './ran-among.ts';

/**
 * Lines by which a case is added to a test file without a new declaration: rows of tables, registrations, words of a
 * project's own harness. By layout alone: they decide only where no test suite reports what ran.
 */

/** A row of literals in a list, an array or a tuple, and the name of a row that is longer than a line. */
const ofAny: readonly RegExp[] = [
  /^[[{(](?=.*["'`\d]).*[\]})],?;?$/,
  /^(?:name|label|desc(?:ription)?|title|case)\s?[:=]\s?.{0,80}?["'`](.{1,200}?)["'`],?$/,
  // Between two rows that are longer than a line.
  /^\}, ?\{$/,
];
const ofLanguages: Partial<Readonly<Record<Language, readonly RegExp[]>>> = {
  c: [/^RUN_TEST\((\w+)/],
  go: [/^"(.{1,200}?)":\s?\{/],
  // Rows of `each` as a template.
  javascript: [/^\$\{.*\}\s?(?:\|.*)?$/],
  // @CsvSource, @ValueSource.
  java: [/^["'].*["'],?\)?$/],
  kotlin: [/^["'].*["'],?\)?$/],
  csharp: [/^\[(?:InlineData|TestCase|DataRow)\(.*\)\]$/],
  rust: [/^#\[(?:case|test_case)[(:].*\]$/],
  python: [/^def (test_\w+)\(.*\):.*\S$/, /^pytest\.param\(.*\),?$/],
};

const maxPatterns = 50;
const maxRows = 200;
const maxLines = 50_000;
const maxLineLength = 2_000;

/** `[rules.new-tests] cases`: beginnings of lines that are cases in this repository; a text says what is wrong. */
export function readPatterns(options: Readonly<Record<string, unknown>>): readonly string[] | string {
  const { cases = [], ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `[rules.new-tests]: unknown option \`${unknown}\`; known: \`cases\``;
  const isList = Array.isArray(cases) && cases.length <= maxPatterns;
  const words: readonly unknown[] = isList ? cases : [];
  if (!isList || words.some((word) => typeof word !== 'string' || word.trim() === '' || word.length > 200))
    return '[rules.new-tests] cases: expected at most 50 beginnings of lines, each of 1 to 200 characters';
  return words.map(String);
}

/** Rows and lines of cases that the change adds, and that its file did not have before. Linear. */
export function newRows(
  source: ChangedSource,
  language: Language,
  before: string,
  patterns: readonly string[],
): readonly NewCase[] {
  const isTable = language !== 'shell' && language !== 'perl';
  const forms = [...(isTable ? ofAny : []), ...(ofLanguages[language] ?? [])];
  const old = new Set(before.split('\n', maxLines).map(plain));
  const found: NewCase[] = [];
  let [start, above] = [0, ''];
  for (const written of source.text.split('\n', maxLines)) {
    const offset = start;
    start += written.length + 1;
    const line = above === '},' && written.trim() === '{' ? '}, {' : plain(written);
    above = line;
    const isOld = old.has(line) && line !== '}, {';
    if (line.length > maxLineLength || isOld || !source.isAdded(offset)) continue;
    const own = patterns.find((pattern) => line.startsWith(pattern.trim()));
    const row = own === undefined ? forms.map((form) => form.exec(line)).find((match) => match) : undefined;
    if (own === undefined && !row) continue;
    const name = own === undefined ? (row?.[1] ?? line) : line.slice(own.trim().length).trim();
    found.push({ name, language, isRow: true });
    if (found.length >= maxRows) break;
  }
  return found;
}

function plain(line: string): string {
  return line.trim().replace(/\s+/g, ' ');
}
