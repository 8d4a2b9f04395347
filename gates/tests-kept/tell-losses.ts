/* Reports lost and weakened tests as findings. */
import type { ExecutedTests } from '../../core/interfaces/check.ts';
import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { ExecutedCheck } from '../../core/interfaces/rule.ts';
import { isOfTests } from '../../readers/source/test-paths.ts';
import { ranAmong } from '../new-tests/new-cases.ts';
import type { TestCase } from '../test-cases/read-tests.ts';

/** A loss in one file, of one case or of many. */
export interface ReportedLoss {
  readonly code: LossCode;
  readonly severity: Severity;
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  /** The case as its author wrote it. */
  readonly name?: string;
  /** Its new name. */
  readonly now?: string;
}

const rule = 'tests-kept';
const maxFindings = 100;
const maxNamed = 20;
/** What lets tests go. */
export const requestsRemoval =
  '; to remove tests on purpose, an objective of the spec (with `writ seal`: the message `-m`) has to say so and name them or their file';

const words = {
  TEST_GONE: ['test case is gone', 'test cases are gone'],
  TEST_RENAMED: ['test case has another name', 'test cases have other names'],
  TEST_SKIPPED: ['test case is skipped', 'test cases are skipped'],
  TEST_MAY_BE_SKIPPED: ['new mark may leave tests out', 'new marks may leave tests out'],
  TEST_EMPTIED: ['test case asserts nothing any more', 'test cases assert nothing any more'],
  TEST_CUT_SHORT: ['test case returns before its assertions', 'test cases return before their assertions'],
  TEST_SWALLOWED: ['test case keeps its failures to itself', 'test cases keep their failures to themselves'],
  TEST_MERGED: [
    'test case is gone, and its assertions are in others',
    'test cases are gone, and their assertions are in others',
  ],
  TEST_JUDGED_ELSEWHERE: [
    'test case leaves its assertions to a helper that the change does not show',
    'test cases leave their assertions to helpers that the change does not show',
  ],
  TEST_FOCUSED: ['mark leaves out all other tests', 'marks leave out all other tests'],
  ASSERTIONS_STUBBED: ['place keeps assertions from running', 'places keep assertions from running'],
} as const;

/** What became of a case that ran at the base, or what keeps tests from running. */
export type LossCode = keyof typeof words;

/**
 * Findings for losses: one for each file, kind and severity, with the first 20 names; at most 100, errors first, the
 * rest counted.
 */
export function reportLosses(losses: readonly ReportedLoss[]): readonly Finding[] {
  const groups = new Map<string, ReportedLoss[]>();
  for (const loss of losses) {
    const key = [loss.severity, loss.path, loss.code].join('\0');
    const group = groups.get(key);
    if (group) group.push(loss);
    else groups.set(key, [loss]);
  }
  const found = [...groups.values()].map(toFinding);
  if (found.length <= maxFindings) return found;
  const errors = found.filter(({ severity }) => severity === 'error');
  const ordered = [...errors, ...found.filter(({ severity }) => severity !== 'error')];
  const message = `${maxFindings} of ${found.length} findings are listed`;
  return [
    ...ordered.slice(0, maxFindings),
    { rule, severity: errors.length > maxFindings ? 'error' : 'note', message },
  ];
}

function toFinding(group: readonly ReportedLoss[]): Finding {
  const [first] = group as readonly [ReportedLoss];
  const { code, severity, path, line, column } = first;
  const [one, many] = words[code];
  const named = group.flatMap(({ name, now }) => {
    if (name === undefined || name === '') return [];
    return [now === undefined ? `\`${name}\`` : `\`${name}\` is now \`${now}\``];
  });
  const asks =
    severity === 'error' && code !== 'ASSERTIONS_STUBBED' && code !== 'TEST_FOCUSED' ? requestsRemoval : '';
  return {
    rule,
    severity,
    message: `${group.length} ${group.length === 1 ? one : many}${listed(named)}${asks}`,
    path,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    detail: {
      code,
      count: group.length,
      ...(named.length === 0
        ? {}
        : {
            tests: group
              .slice(0, maxNamed)
              .map(({ name = '', now }) => (now === undefined ? name : [name, now])),
          }),
    },
  };
}

/** A loss found by test runs, with the first 20 of its tests. `asks`: the action to request. */
export function executedLoss(
  code: string,
  severity: Severity,
  message: string,
  tests: readonly string[],
  asks = '',
  more: Readonly<Record<string, unknown>> = {},
): Finding {
  const list = listed(tests.map((name) => `\`${name}\``));
  const detail = { code, count: tests.length, tests: tests.slice(0, maxNamed), ...more };
  return { rule, severity, message: `${message}${list}${asks}`, detail };
}

/** The first 20 names behind a colon, and how many more there are. */
function listed(names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : '';
  return `: ${names.slice(0, maxNamed).join(', ')}${more}`;
}

/** A case's name as text: sources are read as bytes. */
export function nameOf({ name }: Pick<TestCase, 'name'>): string {
  return Buffer.from(name, 'latin1').toString('utf8').slice(0, 200);
}

/** Whether a file is of tests, or was. */
export function isOfSuite({ path, oldPath = path }: PatchFile): boolean {
  return isOfTests(path) || isOfTests(oldPath);
}

/** Whether a fast check can show which tests a change loses. */
export function hasFastSuite({ acceptance }: EffectiveIntentSpec): boolean {
  return acceptance.verificationPlan.fastChecks.some(({ kind }) => kind === 'testSuite');
}

/**
 * Whether executions decide about a loss that the text shows: the base's tests can run over the candidate without the
 * changed file. A stub of assertions silences those, too.
 */
export function isLeftToSuite({ severity, path, detail }: Finding): boolean {
  return (
    severity === 'error' && path !== undefined && isOfTests(path) && detail?.code !== 'ASSERTIONS_STUBBED'
  );
}

/** Losses as warnings, if a suite decides about them. */
export function leftToSuite(findings: readonly Finding[], spec: EffectiveIntentSpec): readonly Finding[] {
  if (!hasFastSuite(spec)) return findings;
  return findings.map((one) =>
    isLeftToSuite(one)
      ? { ...one, severity: 'warning', message: `${one.message}; the test suites of the fast stage decide` }
      : one,
  );
}

const maxDoubted = 3;

/**
 * Keys of losses that a comparison with the base covers: without their file, the check runs fewer tests there, and
 * their cases are among those that ran. Of a change with losses in more than three files, none.
 */
export async function ranAt(
  { patch, rerun }: Pick<ExecutedCheck, 'patch' | 'rerun'>,
  base: ExecutedTests,
  losses: readonly Finding[],
): Promise<readonly string[]> {
  const paths = [...new Set(losses.map(({ path = '' }) => path))];
  const covered = new Set<string>();
  for (const path of paths.length > maxDoubted ? [] : paths) {
    const { oldPath = path } = patch.files.find((file) => file.path === path) ?? {};
    const left = await rerun({ tree: 'base', without: [oldPath] });
    if (left !== undefined && ranIn(left.executed) < ranIn(base)) covered.add(path);
  }
  const isRun = (name: unknown): boolean => ranAmong([{ name: String(name), language: '' }], base) === 'ran';
  return losses
    .filter(({ path = '', detail }) => {
      const { count, tests } = detail as { readonly count?: number; readonly tests?: readonly unknown[] };
      return covered.has(path) && (tests === undefined || (tests.length === count && tests.every(isRun)));
    })
    .map(keyOf);
}

/** How many tests passed or failed. */
export function ranIn(tests: ExecutedTests | undefined): number {
  return tests ? tests.counts.passed + tests.counts.failed : 0;
}

/** Identifies a loss within one change. */
export function keyOf({ path, detail }: Finding): string {
  return `${detail?.code} ${path}`;
}

/** The tests in the text of the changed files. */
export interface TestsAsWritten {
  /** Changed test files as the candidate has them. */
  readonly texts: readonly string[];
  /** Cases that the rule found under another name, and that name. */
  readonly renamed: readonly (readonly [was: string, now: string])[];
  /** Cases that the rule found merged into others. */
  readonly merged: readonly string[];
}

/** Reads the changed test files. Renamed and merged cases come from the rule's findings, `says`. */
export async function testsAsWritten(
  { patch, readTexts }: Pick<ExecutedCheck, 'patch' | 'readTexts'>,
  says: readonly Finding[],
): Promise<TestsAsWritten> {
  const texts = await readTexts('candidate', patch.files.map(({ path }) => path).filter(isOfTests));
  const merged = says.flatMap(({ detail }) => (detail?.code === 'TEST_MERGED' ? detail.tests : []));
  return { texts: [...texts.values()], renamed: says.flatMap(renamedBy), merged: merged.map(String) };
}

/** The reported names with a case that was merged into others. */
export function mergedAmong(names: readonly string[], { merged }: TestsAsWritten): readonly string[] {
  return names.filter((name) => merged.some((was) => was !== '' && endsWithName(name, was)));
}

/**
 * Names that ran at the base and were left out: the candidate still writes them, or writes them under a name that did
 * not run. Names that are worked out when tests run are passed over, and so are those that a new name holds.
 */
export function leftOut(
  gone: readonly string[],
  fresh: readonly string[],
  { texts, renamed }: TestsAsWritten,
): readonly string[] {
  return gone.filter((name) => {
    const own = lastName(name);
    if (own === '' || fresh.some((one) => one.includes(own))) return false;
    const now = renamed.filter(([was]) => was !== '' && endsWithName(name, was)).map(([, is]) => is);
    if (now.length > 0) return now.every((is) => isPlain(is) && !fresh.some((one) => one.includes(is)));
    return texts.some((text) => isWritten(text, own));
  });
}

function endsWithName(name: string, end: string): boolean {
  return name.endsWith(end) && !/\w/.test(name.at(-end.length - 1) ?? ' ');
}

/**
 * Whether a report gives the name as it is written: without parts that are filled in, escapes, or an end that was cut
 * off.
 */
function isPlain(name: string): boolean {
  return name.length < 200 && !/[\\%$#{}]/.test(name);
}

/** A reported name without its groups. */
function lastName(name: string): string {
  return name.split(/ > |::/).at(-1) ?? name;
}

/** Whether a text declares a test of that name. */
function isWritten(text: string, name: string): boolean {
  if (["'", '"', '`'].some((quote) => text.includes(`${quote}${name}${quote}`))) return true;
  return /^test\w+$/i.test(name) && new RegExp(`\\b${name}\\b`).test(text);
}

function renamedBy({ detail }: Finding): readonly (readonly [string, string])[] {
  const { code, tests } = (detail ?? {}) as { readonly code?: unknown; readonly tests?: unknown };
  if (code !== 'TEST_RENAMED' || !Array.isArray(tests)) return [];
  return tests.flatMap((one: unknown) => {
    const [was, now] = Array.isArray(one) ? (one as readonly unknown[]) : [];
    return typeof was === 'string' && typeof now === 'string' ? [[was, now] as const] : [];
  });
}
