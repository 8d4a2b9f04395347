import { messageOf } from '../../core/base/errors.ts';
import type { CaseRunner } from '../../plugins/testers/run-cases.ts';

/** How a part of a plugin fared in the suite of its kind. */
export interface TestedPart {
  readonly kind: 'provider' | 'log';
  readonly name: string;
  readonly cases: number;
  readonly failures: readonly string[];
}

const maxWords = 2000;

/** Runs a suite to its end, whatever fails on the way; in words, what did. */
export async function collectFailures(
  suite: (runner: CaseRunner) => Promise<void>,
): Promise<readonly string[]> {
  const failures: string[] = [];
  await suite({
    async test(_name, body) {
      await body({}).catch((fault: unknown) => failures.push(messageOf(fault).slice(0, maxWords)));
    },
  });
  return failures;
}
