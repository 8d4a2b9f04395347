/* Finds the test cases that a change adds. */
import type { CheckOutcome } from '../../core/interfaces/check.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Language } from '../../readers/source/language.ts';
import type { ChangedSource } from '../source/changed-source.ts';

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

/**
 * `[rules.new-tests] cases`: line prefixes that are test cases in this repository. A returned string is the error
 * message.
 */
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

/** A test case that a patch adds, as rule `new-tests` names it. */
export interface NewCase {
  readonly name: string;
  readonly language: string;
  /** A row of a table, or what a layout pattern found, and not a declared case. */
  readonly isRow?: true;
}

/** Whether a report lists new cases: one ran, none ran, or the report does not show it. */
type RanAmong = 'ran' | 'did-not-run' | 'unknown';

/** Reports cut long names. */
const comparedLength = 60;

/** Whether a suite ran one of these cases. Letters and digits count: runners write names in their own way. Pure. */
export function ranAmong(
  cases: readonly NewCase[],
  executed: Pick<NonNullable<CheckOutcome['executed']>, 'names' | 'skipped'> | undefined,
): RanAmong {
  if (executed === undefined || executed.names.size === 0) return 'unknown';
  const wanted = cases.map(({ name }) => (isWorkedOut(name) ? '' : letters(name).slice(0, comparedLength)));
  if (wanted.includes('')) return 'unknown';
  const idle = new Set(executed.skipped);
  const reported = [...executed.names].filter((name) => !idle.has(name)).map(letters);
  return wanted.some((name) => reported.some((one) => one.includes(name))) ? 'ran' : 'did-not-run';
}

/** A name that is worked out when tests run cannot be looked for. */
function isWorkedOut(name: string): boolean {
  return /[\\%$#{]/.test(name);
}

function letters(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** The message for a bugfix that changes test files without a new case. */
export const noNewCase =
  'the spec is for a bugfix, and the patch changes test files without adding a test case';

/** Whether the spec requires a new test case: `requireNewTestsWhenBugfix` for a change of type `bugfix`. */
export function requiresNewTests({ intent, acceptance }: EffectiveIntentSpec): boolean {
  return intent.changeType === 'bugfix' && acceptance.qualityGates.requireNewTestsWhenBugfix;
}
