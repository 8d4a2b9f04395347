import { AssertionError } from 'node:assert';
import { messageOf } from '../../core/base/errors.ts';
import type { GateRunner } from './gate-tester.ts';
import { openBench, type StoreSubject } from './store-bench.ts';
import { storeCases } from './store-cases.ts';
import { storeProcessCases } from './store-process-cases.ts';
import { tellPassed } from './tell-passed.ts';

/**
 * Runs a store through what every store promises; rejects with an AssertionError that names the case. Takes some
 * seconds.
 */
export async function storeTester(runner: GateRunner | undefined, subject: StoreSubject): Promise<void> {
  for (const [name, judge] of Object.entries({ ...storeCases, ...storeProcessCases })) {
    const run = async () => {
      try {
        await judge(await openBench(subject));
      } catch (cause) {
        const message = `store \`${subject.export}\`, case \`${name}\`: ${messageOf(cause)}`;
        throw Object.assign(new AssertionError({ message }), { cause });
      }
    };
    if (runner === undefined) await run();
    else {
      await runner.test(`${subject.export}: ${name}`, async (t) => {
        await run();
        tellPassed(t, name);
      });
    }
  }
}
