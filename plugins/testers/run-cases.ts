import { AssertionError } from 'node:assert';
import { messageOf } from '../../core/base/errors.ts';

/** The part of a test runner that is used: one subtest per case (tap's and node:test's contexts fit). */
export interface CaseRunner {
  test(name: string, body: (t: object) => Promise<void>): Promise<unknown>;
}

/** Promises by the sentence that says them, each with a function that rejects where it is not kept. */
export type Promises = Readonly<Record<string, () => Promise<void>>>;

/**
 * Asks for every promise, in order; the first that is not kept rejects with an AssertionError that names it and says
 * what was found. With a runner each is a test of its own.
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

/** Tells a runner that counts assertions (tap) of a case that passed; one that does not (node:test) needs no word. */
export function tellPassed(t: object, name: string): void {
  if ('pass' in t && typeof t.pass === 'function') t.pass(name);
}
