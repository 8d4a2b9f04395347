import type { CheckOutcome } from '../../../core/interfaces/check.ts';

const maxNamed = 10;

/** Why a check failed, in words; `undefined` where it passed. Names of tests are the check's own words. */
export function toldOutcome(
  { findings, result, tests }: CheckOutcome,
  expectedExitCode: number,
): string | undefined {
  const [first] = findings.filter(({ severity }) => severity === 'error');
  if (first === undefined) return undefined;
  const failed = (tests?.failedTests ?? []).map(({ name }) => name);
  const named = failed.slice(0, maxNamed).map((name) => `\`${name}\``);
  const more = failed.length > maxNamed ? `, and ${failed.length - maxNamed} more` : '';
  if (named.length > 0)
    return `${failed.length === 1 ? '1 test fails' : `${failed.length} tests fail`}: ${named.join(', ')}${more}`;
  if (result?.exitCode !== undefined && result.exitCode !== expectedExitCode)
    return `exit code ${result.exitCode}, expected ${expectedExitCode}`;
  return first.message;
}
