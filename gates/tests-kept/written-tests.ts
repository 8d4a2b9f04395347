import type { CheckOutcome, ExecutedTests } from '../../core/contract/check-runner.ts';
import type { ExecutedCheck } from '../../core/contract/executed-rule.ts';
import type { Finding } from '../../core/contract/finding.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { isOfTests } from '../../readers/source/test-paths.ts';
import { ranAmong } from '../new-tests/new-cases.ts';

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

/**
 * Keys of losses that a comparison with the base covers: all their cases ran there, or, of a loss without cases, one of
 * its file. `texts` are files of the base.
 */
export function ranAt(
  base: ExecutedTests,
  losses: readonly Finding[],
  texts: ReadonlyMap<string, string>,
): readonly string[] {
  return losses
    .filter(({ path = '', detail }) => {
      const { count, tests } = detail as { readonly count?: number; readonly tests?: readonly string[] };
      const text = texts.get(path) ?? '';
      if (tests === undefined) return [...base.names].some((name) => isWritten(text, lastName(name)));
      return (
        tests.length === count && tests.every((name) => ranAmong([{ name, language: '' }], base) === 'ran')
      );
    })
    .map(keyOf);
}

/**
 * Whether what a check printed or reported in the candidate names a test file: by its path, or as the module of Python
 * or Java. The names of cases alone may be those of another file.
 */
export function isReported({ result, reports }: CheckOutcome, path: string): boolean {
  const names = [path, path.replace(/\.\w+$/, '').replaceAll('/', '.')];
  return [result?.combined.bytes, ...reports.map(({ bytes }) => bytes)].some((bytes) => {
    const text = Buffer.from(bytes ?? []).toString('utf8');
    return names.some((name) =>
      text.split(name).some((before, at, all) => at + 1 < all.length && isWhole(before, all[at + 1] ?? '')),
    );
  });
}

function isWhole(before: string, after: string): boolean {
  return !/[\w-]$/.test(before) && !/^[\w-]/.test(after);
}

/** Tells the losses of one change apart. */
export function keyOf({ path, detail }: Finding): string {
  return `${detail?.code} ${path}`;
}

/** What the text of changed files says of tests. */
export interface TestsAsWritten {
  /** Changed test files as the candidate has them. */
  readonly texts: readonly string[];
  /** Cases that the rule found under another name, and that name. */
  readonly renamed: readonly (readonly [was: string, now: string])[];
}

/** Reads the changed test files, and which cases have another name as the rule `says`. */
export async function testsAsWritten(
  { patch, readTexts }: Pick<ExecutedCheck, 'patch' | 'readTexts'>,
  says: readonly Finding[],
): Promise<TestsAsWritten> {
  const texts = await readTexts('candidate', patch.files.map(({ path }) => path).filter(isOfTests));
  return { texts: [...texts.values()], renamed: says.flatMap(renamedBy) };
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
