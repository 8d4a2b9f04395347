import { expectArray, expectText, type JsonObject } from '../../encoding/expect-json.ts';
import { refuted } from '../report.ts';
import { isUnset, readResource } from './read-resource.ts';
import { requireNames } from './require-names.ts';

/** What a suite is said to have come to. */
export interface TestResultClaims {
  readonly result: 'PASSED' | 'WARNED' | 'FAILED';
  readonly failedTests: readonly string[];
}

const members = ['result', 'configuration', 'url', 'passedTests', 'warnedTests', 'failedTests'];

/**
 * Reads an in-toto test-result 0.1 whole: its result, what it was configured by, and the names of tests. PASSED beside
 * tests that failed is `malformed`. Whether it is good enough is for the reader.
 */
export function readTestResult(predicate: JsonObject): TestResultClaims {
  const at = '/predicate';
  const result = expectText(predicate.result, `${at}/result`, /^(?:PASSED|WARNED|FAILED)$/);
  for (const [n, one] of expectArray(predicate.configuration, `${at}/configuration`, 10_000).entries())
    readResource(one, `${at}/configuration/${n}`);
  if (!isUnset(predicate.url)) expectText(predicate.url, `${at}/url`, /^[!-~]{1,4096}$/);
  const [, , failed = []] = ['passedTests', 'warnedTests', 'failedTests'].map((name) =>
    isUnset(predicate[name])
      ? []
      : expectArray(predicate[name], `${at}/${name}`, 1_000_000).map((test, n) =>
          expectText(test, `${at}/${name}/${n}`),
        ),
  );
  if (result === 'PASSED' && failed.length > 0)
    throw refuted('malformed', {
      member: `${at}/failedTests`,
      expected: 'none beside PASSED',
      found: failed.slice(0, 20),
    });
  requireNames(predicate, at, members);
  return { result: result as TestResultClaims['result'], failedTests: failed };
}
