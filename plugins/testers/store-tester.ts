import { type CaseRunner, runCases } from './run-cases.ts';
import { openBench, type StoreSubject } from './store-bench.ts';
import { storeCases } from './store-cases.ts';
import { storeProcessCases } from './store-process-cases.ts';

/**
 * Runs a store through what every store promises; rejects with an AssertionError that names the case. Takes some
 * seconds.
 */
export async function storeTester(runner: CaseRunner | undefined, subject: StoreSubject): Promise<void> {
  const promises = Object.entries({ ...storeCases, ...storeProcessCases }).map(
    ([sentence, judge]) => [sentence, async () => judge(await openBench(subject))] as const,
  );
  await runCases(runner, 'store', subject.export, Object.fromEntries(promises));
}
