import type { ExecutedTests } from '../../core/contract/check-runner.ts';
import type { Finding } from '../../core/contract/finding.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { isOfTests } from '../../readers/source/test-paths.ts';
import { ranAmong } from '../new-tests/ran-among.ts';
import { isWritten, lastName } from './left-out.ts';

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

/** Tells the losses of one change apart. */
export function keyOf({ path, detail }: Finding): string {
  return `${detail?.code} ${path}`;
}
