import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Removal } from './removal.ts';
import { type FailedName, type NamedTestRun, runNamedTest } from './run-named-test.ts';

export interface Removed {
  /** Why the removal counts as unnoticed; absent where its own test failed. */
  readonly fault?: string;
  readonly failed: readonly FailedName[];
  readonly seconds: number;
  /** Processor seconds, where the run told them. */
  readonly cost?: number;
}

/** Breaks one text in a tree, runs the test that is named for it, and puts the text back. */
export async function removeOne(tree: string, { file, from, to, test, fails }: Removal): Promise<Removed> {
  const path = join(tree, file);
  const text = readFileSync(path, 'utf8');
  const found = text.split(from).length - 1;
  if (found !== 1) return { fault: `its text stands ${found} times in the file`, failed: [], seconds: 0 };
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    return readRemoved(await runNamedTest(tree, test, fails), fails);
  } finally {
    writeFileSync(path, text);
  }
}

/** What a run says of a removal whose test these names begin. */
export function readRemoved({ passed, ...run }: NamedTestRun, fails: readonly string[]): Removed {
  const { failed } = run;
  if (fails.every((name, depth) => failed.some((one) => one.depth === depth && one.name.startsWith(name))))
    return run;
  return { ...run, fault: passed ? 'unnoticed' : sayInstead(failed) };
}

function sayInstead(failed: readonly FailedName[]): string {
  const names = failed.map(({ depth, name }) => `${'> '.repeat(depth)}${name}`);
  return names.length > 0 ? `failed instead: ${names.slice(0, 4).join('; ')}` : 'nothing failed';
}
