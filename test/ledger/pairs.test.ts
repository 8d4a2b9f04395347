import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { contractRows } from '../../spec/contract-rows.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import type { Json } from '../engine/sample.ts';
import { casesOf } from '../rooms/long.ts';
import { type Difference, lookAt, type Observation } from './pairs/observation.ts';
import { observe, runsSoFar } from './pairs/observe.ts';
import {
  differingPlaces,
  fixedTenth,
  isWithin,
  type Pair,
  patched,
  readProofs,
  runsOf,
  specsOf,
} from './pairs/pair.ts';
import { closeScenes } from './pairs/scene.ts';

/*
 * The ledger by behaviour: each enforced row of the spec has two valid specs that differ in its field alone, and what
 * comes of them differs where `fixtures/ledger/pairs/` says. `npm test` runs the pairs that end before a run and a
 * fixed tenth of the others.
 */

const root = new URL('../..', import.meta.url).pathname;
const proofs = readProofs();
const enforced = contractRows;
const pairs = proofs.flatMap(([id, proof]) => ('test' in proof ? [] : [[id, proof] as const]));

t.teardown(closeScenes);
// Run directly, tap ends a file after 30 seconds; all pairs take minutes.
t.setTimeout(3_600_000);

t.test('every enforced row has exactly one proof, and every proof an enforced row', async (t) => {
  const ids = proofs.map(([id]) => id);
  t.strictSame(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
    'none has two',
  );
  t.strictSame([...ids].sort(), enforced.map(({ id }) => id).sort());
});

t.test('a row without a pair names an existing test and a reason', async (t) => {
  for (const [id, proof] of proofs) {
    if (!('test' in proof)) continue;
    const { file, name, because } = proof.test;
    t.ok(because.length > 20, `${id}: ${because}`);
    const text = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '';
    t.ok(name !== '' && text.includes(name), `${id}: ${file}: ${name}`);
  }
});

t.test('the two specs of a pair differ only in the field of their row', async (t) => {
  for (const [id, pair] of pairs) {
    const row = enforced.find((one) => one.id === id);
    if (row === undefined) continue;
    const { a, b } = specsOf(pair);
    const places = differingPlaces(a, b);
    t.ok(places.length > 0, `${id}: they differ`);
    t.strictSame(
      places.filter((place) => !isWithin(place, row.path)),
      [],
      `${id}: they differ below ${row.path} alone`,
    );
    const read = [a, b].map((spec) => readIntentSpec(Buffer.from(JSON.stringify(spec))));
    const valid = read.filter(({ ok }) => ok);
    const isRuleOfValidity = pair.differs.some(({ at }) => at === 'issue') && pair.endsAt === 'validate';
    t.ok(
      valid.length === 2 || (isRuleOfValidity && valid.length === 1),
      `${id}: ${JSON.stringify(read.map(({ issues }) => issues))}`,
    );
    t.ok(
      valid.some((one) => one.ok && row.asks(one.effective, { model: true })) ||
        valid.some((one) => one.ok && row.asks(one.effective, { model: false })) ||
        isRuleOfValidity,
      `${id}: one of them asks for the row`,
    );
    t.ok(pair.differs.length > 0, `${id}: something differs`);
    for (const one of pair.differs) t.ok(isDifference(one), `${id}: ${JSON.stringify(one)}`);
    t.equal(
      pair.effect === 'none',
      (pair.same ?? []).length > 0 && pair.effect === 'none',
      `${id}: without effect is shown`,
    );
  }
});

function isDifference({ a, b, holds, unlike, in: side }: Difference): boolean {
  if (unlike) return holds === undefined && a === undefined && b === undefined;
  if (holds !== undefined) return holds !== '' && side !== undefined && a === undefined && b === undefined;
  return side === undefined && JSON.stringify(a) !== JSON.stringify(b);
}

const before = pairs.filter(([, { endsAt }]) => endsAt === 'validate' || endsAt === 'plan');
const beyond = pairs.filter(([, { endsAt }]) => endsAt !== 'validate' && endsAt !== 'plan');

t.test('specs that differ in one field have different results before a run', async (t) => {
  for (const [id, pair] of before) await endsDifferently(t, id, pair);
});

t.test(
  'specs that differ in one field have different results at the end of a run',
  { timeout: 3_600_000 },
  async (t) => {
    const kept = fixedTenth(new Map(beyond.map(([id, pair]) => [id, runsOf(pair)])));
    const chosen = casesOf(Object.fromEntries(beyond), kept);
    for (const [id, pair] of chosen)
      await t.test(id, { timeout: 600_000 }, (t) => endsDifferently(t, id, pair));
    t.comment(`note: ${chosen.length} pairs, ${runsSoFar()} specs brought to their ends`);
  },
);

async function endsDifferently(t: Test, id: string, pair: Pair): Promise<void> {
  const { a, b } = await observe(pair);
  for (const one of pair.differs) {
    const place = `${id}: ${one.at} ${one.file ?? ''}${one.path ?? ''}`;
    if (one.unlike) {
      for (const seen of [a, b]) t.type(lookAt(seen, one), 'string', place);
      t.not(lookAt(a, one), lookAt(b, one), place);
    } else if (one.holds === undefined) {
      t.strictSame(lookAt(a, one), one.a, `${place} under a`);
      t.strictSame(lookAt(b, one), one.b, `${place} under b`);
    } else {
      t.equal(holds(a, one), one.in === 'a', `${place} under a: ${one.holds}`);
      t.equal(holds(b, one), one.in === 'b', `${place} under b: ${one.holds}`);
    }
  }
  for (const one of pair.same ?? []) {
    t.not(lookAt(a, one), undefined, `${id}: ${one.at} is there`);
    t.strictSame(lookAt(a, one), lookAt(b, one), `${id}: ${one.at} is the same`);
  }
}

function holds(seen: Observation, one: Difference): boolean {
  const value = lookAt(seen, one);
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).includes(one.holds ?? '');
}

t.test('the fixed tenth does not depend on order and barely changes with a new row', async (t) => {
  const ids = Array.from({ length: 95 }, (_, index): readonly [string, readonly string[]] => [
    `row.${index}`,
    ['shared', `run ${index}`],
  ]);
  const tenth = fixedTenth(new Map(ids));
  t.equal(tenth.length, 9);
  t.strictSame(fixedTenth(new Map(ids.toReversed())), tenth);
  const more = fixedTenth(new Map([...ids, ['row.new', ['shared', 'run new']]]));
  t.ok(tenth.filter((id) => !more.includes(id)).length <= 1);
});

t.test('a patch sets JSON pointers, merges objects and removes with null', async (t) => {
  const document: Json = { list: [{ id: 'one' }, { id: 'two' }], deep: { kept: 1, gone: 2 } };
  t.strictSame(patched(document, { '/list/1/id': 'three', deep: { gone: null, more: [1] } }), {
    list: [{ id: 'one' }, { id: 'three' }],
    deep: { kept: 1, more: [1] },
  });
  t.strictSame(patched(document, { '/list/0': null, '/list/-': 'last', '/new/place': true }), {
    list: [{ id: 'two' }, 'last'],
    deep: { kept: 1, gone: 2 },
    new: { place: true },
  });
});

t.test('finds the deepest differing places and whether a place is within a path', async (t) => {
  t.strictSame(differingPlaces({ a: [1, { b: 2 }], c: 3 }, { a: [1, { b: 4 }, 5] }), [
    '/a/1/b',
    '/a/2',
    '/c',
  ]);
  t.ok(isWithin('/acceptance/verificationPlan/fastChecks/0/id', '/acceptance/verificationPlan/*/*/id'));
  t.ok(isWithin('/intent/inScope/1', '/intent/inScope'));
  t.ok(isWithin('/anything', ''));
  t.notOk(isWithin('/intent/outOfScope', '/intent/inScope'));
  t.notOk(isWithin('/acceptance/verificationPlan/fastChecks', '/acceptance/verificationPlan/*/*/id'));
});
