import { AssertionError } from 'node:assert';
import { messageOf } from '../../core/base/errors.ts';

/** The part of a test runner that is used: one subtest per case (tap's and node:test's contexts fit). */
export interface CaseRunner {
  test(name: string, body: (t: object) => Promise<void>): Promise<unknown>;
}

/** Promises by sentence, each with a function that rejects if the promise is broken. */
export type Promises = Readonly<Record<string, () => Promise<void>>>;

/**
 * Runs every promise, in order. The first broken one rejects with an AssertionError that names it and reports the
 * result. With a runner each promise is a separate test.
 */
export async function runCases(
  runner: CaseRunner | undefined,
  kind: string,
  name: string,
  promises: Promises,
): Promise<void> {
  for (const [sentence, ask] of Object.entries(promises)) {
    const run = async () => {
      try {
        await ask();
      } catch (cause) {
        const message = `${kind} \`${name}\`, case \`${sentence}\`: ${messageOf(cause)}`;
        throw Object.assign(new AssertionError({ message }), { cause });
      }
    };
    if (runner === undefined) await run();
    else {
      await runner.test(`${name}: ${sentence}`, async (t) => {
        await run();
        tellPassed(t, sentence);
      });
    }
  }
}

/**
 * Notifies a runner that counts assertions (tap) of a passed case. A runner that does not count (node:test) needs no
 * call.
 */
export function tellPassed(t: object, name: string): void {
  if ('pass' in t && typeof t.pass === 'function') t.pass(name);
}
