import { rmSync } from 'node:fs';
import { makeBrokenTree } from './broken-tree.ts';
import type { Removal } from './removal.ts';
import { removeOne } from './remove-one.ts';
import { runNamedTest } from './run-named-test.ts';

const lanes = 2;

/**
 * Removes one after the other, each in a copy of the tree, and prints whether the test named for it failed. Tests that
 * do not pass as they stand are faults too. Answers how many faults there were.
 */
export async function runRemovals(
  removals: readonly Removal[],
  print: (line: string) => void,
): Promise<number> {
  const trees = Array.from({ length: lanes }, makeBrokenTree);
  let faults = 0;
  const each = async <Item>(items: readonly Item[], work: (tree: string, item: Item) => Promise<boolean>) => {
    const queue = [...items];
    await Promise.all(
      trees.map(async (tree) => {
        for (let item = queue.shift(); item !== undefined; item = queue.shift())
          if (!(await work(tree, item))) faults += 1;
      }),
    );
  };
  try {
    await each(asTheyStand(removals), async (tree, { test, fails }) => {
      const { passed, failed, seconds } = await runNamedTest(tree, test, fails);
      const instead = passed ? '' : `: ${failed.map(({ name }) => name).join('; ')}`;
      print(`${verdict(passed, seconds)}  ${[test, ...fails].join(' > ')} as it stands${instead}`);
      return passed;
    });
    await each(removals, async (tree, removal) => {
      const { fault, seconds } = await removeOne(tree, removal);
      const what = `${removal.name.padEnd(44)} ${removal.file.padEnd(38)}`;
      const noticed = `${removal.test.replace(/^test\/|\.test\.ts$/g, '')}: ${removal.fails.join(' > ')}`;
      print(`${verdict(fault === undefined, seconds)}  ${what} ${fault ?? noticed}`);
      return fault === undefined;
    });
  } finally {
    for (const tree of trees) rmSync(tree, { recursive: true, force: true });
  }
  return faults;
}

/** Each test once that a removal names, without the names of assertions in it. */
function asTheyStand(removals: readonly Removal[]): readonly Pick<Removal, 'test' | 'fails'>[] {
  const tests = removals.map(({ test, fails }) => ({ test, fails: fails.slice(0, 2) }));
  return [...new Map(tests.map((one) => [JSON.stringify(one), one])).values()];
}

function verdict(good: boolean, seconds: number): string {
  return `${good ? 'ok    ' : 'BROKEN'} ${seconds.toFixed(1).padStart(5)} s`;
}
