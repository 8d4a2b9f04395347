import t, { type Test } from 'tap';
import { packPackage } from '../doors/packed-package.ts';
import { long } from '../rooms/long.ts';
import { type Case, readCases, readSetUps } from './transcripts/cases.ts';
import { readChanges, toCompare } from './transcripts/changes.ts';
import { readGolden } from './transcripts/golden.ts';
import { Place } from './transcripts/place.ts';

t.setTimeout(3_600_000);

const cases = readCases();
const changes = readChanges();

t.test('the sample transcripts match their goldens', async (t) => {
  const sample = cases.filter((one) => one.sample === true);
  await compare(t, sample);
});

long('all other transcripts match their goldens', { timeout: 3_600_000 }, async (t) => {
  await compare(
    t,
    cases.filter((one) => one.sample !== true),
  );
  t.strictSame(
    changes.entries.filter((entry) => !changes.used.has(entry)),
    [],
    'every entry of changes.json is needed by a case',
  );
});

/** Runs cases with the package of the working tree, and compares each with its golden under changes.json. */
async function compare(t: Test, some: readonly Case[]): Promise<void> {
  const place = new Place(packPackage(), readSetUps());
  t.teardown(() => place.remove());
  for (const one of some) {
    const title = `${one.group} › ${one.name}`;
    const lack = place.lacks(one);
    if (lack !== undefined) {
      t.pass(title, { skip: `this machine has no ${lack}` });
      continue;
    }
    const { group } = one;
    const goldens = { golden: readGolden(group), changed: readGolden(group, 'changed') };
    const { expected, actual } = toCompare(one, { ...goldens, actual: await place.run(one) }, changes);
    t.equal(actual, expected, title);
  }
}
