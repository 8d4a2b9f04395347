import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutant.ts';
import { noEnd, runUntilFailure } from './run-until-failure.ts';
import type { LineTest } from './tests-of-line.ts';

export interface Verdict {
  /** The file of tests that noticed, and what failed in it. */
  readonly noticed?: { readonly test: string; readonly failed: string };
  /** How many files of tests were asked, of how many that run the line. */
  readonly asked: number;
  readonly seconds: number;
}

/** Files of tests by what they do to a tree in which nothing is broken. */
export type Trust = Map<string, boolean>;

/**
 * Breaks a tree, asks one file of tests after the other until one fails, and mends it. One that fails without the
 * mutant, too, has noticed nothing. Nobody is asked once `budgetSeconds` are spent, counted as the tests took when they
 * ran alone: a busy machine asks as many.
 */
export async function judgeMutant(
  tree: string,
  mutant: Mutant,
  tests: readonly LineTest[],
  trust: Trust,
  budgetSeconds: number,
): Promise<Verdict> {
  const path = join(tree, mutant.file);
  const text = readFileSync(path, 'utf8');
  const mutated = text.slice(0, mutant.start) + mutant.to + text.slice(mutant.end);
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  let asked = 0;
  let spent = 0;
  try {
    for (const { test, seconds: usual } of tests) {
      if (trust.get(test) === false) continue;
      if (spent > budgetSeconds) break;
      // A machine that is busy with other things is no mutant that hangs: what has no end is compared, too.
      const timeoutMs = 60_000 + usual * 5_000;
      writeFileSync(path, mutated);
      asked += 1;
      spent += usual;
      const { failed } = await runUntilFailure(tree, test, timeoutMs);
      if (failed === undefined) continue;
      writeFileSync(path, text);
      if (failed === noEnd && !(await endsSoon(tree, test, timeoutMs))) continue;
      if (!trust.has(test))
        trust.set(test, (await runUntilFailure(tree, test, 2 * timeoutMs)).failed === undefined);
      if (trust.get(test) === true) return { noticed: { test, failed }, asked, seconds: seconds() };
    }
    return { asked, seconds: seconds() };
  } finally {
    writeFileSync(path, text);
  }
}

/** Whether a file of tests passes in a tree in which nothing is broken, long before it would count as hanging. */
async function endsSoon(tree: string, test: string, timeoutMs: number): Promise<boolean> {
  const started = performance.now();
  const { failed } = await runUntilFailure(tree, test, timeoutMs);
  return failed === undefined && performance.now() - started < timeoutMs / 3;
}
