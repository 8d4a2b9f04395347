import type { Removal } from './removal.ts';
import { type Removed, removeOne } from './remove-one.ts';
import { runNamedTest } from './run-named-test.ts';

/** Breaks one text in a tree and says what the test that is named for it makes of that. */
type Remove = (tree: string, removal: Removal) => Promise<Removed>;

/**
 * Removes one after the other, each in one of the trees, and prints whether the test named for it failed. Tests that do
 * not pass as they stand are faults too. Answers how many faults there were.
 */
export async function runRemovals(
  removals: readonly Removal[],
  print: (line: string) => void,
  trees: readonly string[],
  remove: Remove = removeOne,
): Promise<number> {
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
  await each(asTheyStand(removals), async (tree, { test, fails }) => {
    const { passed, failed, seconds } = await runNamedTest(tree, test, fails);
    const instead = passed ? '' : `: ${failed.map(({ name }) => name).join('; ')}`;
    print(`${verdict(passed, { seconds })}  ${[test, ...fails].join(' > ')} as it stands${instead}`);
    return passed;
  });
  await each(removals, async (tree, removal) => {
    const removed = await remove(tree, removal);
    const what = `${removal.name.padEnd(44)} ${removal.file.padEnd(38)}`;
    const noticed = `${removal.test.replace(/^test\/|\.test\.ts$/g, '')}: ${removal.fails.join(' > ')}`;
    print(`${verdict(removed.fault === undefined, removed)}  ${what} ${removed.fault ?? noticed}`);
    return removed.fault === undefined;
  });
  return faults;
}

/** Each test once that a removal names, without the names of assertions in it. */
function asTheyStand(removals: readonly Removal[]): readonly Pick<Removal, 'test' | 'fails'>[] {
  const tests = removals.map(({ test, fails }) => ({ test, fails: fails.slice(0, 2) }));
  return [...new Map(tests.map((one) => [JSON.stringify(one), one])).values()];
}

/** With what it took, and what that cost the processors where the run told it. */
function verdict(good: boolean, { seconds, cost }: Pick<Removed, 'seconds' | 'cost'>): string {
  const spent = cost === undefined ? '' : ` (${cost.toFixed(1)} s of processors)`;
  return `${good ? 'ok    ' : 'BROKEN'} ${seconds.toFixed(1).padStart(5)} s${spent}`;
}
