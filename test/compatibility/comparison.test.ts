import { readFileSync } from 'node:fs';
import t from 'tap';
import { specBases } from '../../scripts/compatibility/corpora/specs.ts';
import { differences, normalise } from '../../scripts/compatibility/differences.ts';
import { drawSpecs, membersOf } from '../../scripts/compatibility/draw-specs.ts';
import { explain, type Found, parseChanges, readChanges } from '../../scripts/compatibility/explain.ts';
import type { Json } from '../../scripts/compatibility/json.ts';

const found = (more: Partial<Found> = {}): Found => ({
  corpus: 'scan',
  case: 'python: case-0001, eval',
  path: '/0/message',
  old: 'direct execution: `eval`',
  new: 'direct execution with `eval`',
  ...more,
});
const change = (more: object = {}): string =>
  JSON.stringify({
    differential: [
      {
        corpus: 'scan',
        case: 'python: *',
        path: '/*/message',
        old: '*: `*`',
        new: '* with `*`',
        reason: 'clearer',
        ...more,
      },
    ],
  });
const explainBy = (text: string, ...all: readonly Found[]) =>
  explain(all, parseChanges(text), ['scan', 'sast']);

t.test('differences', async (t) => {
  t.test('names the innermost place of each difference and both values', async (t) => {
    const old = { a: { 'b/c': [1, { d: 'x' }], same: null }, gone: true };
    const now = { a: { 'b/c': [1, { d: 'y' }], same: null }, more: [] };
    t.strictSame(differences(old, now), [
      { path: '/a/b~1c/1/d', old: 'x', new: 'y' },
      { path: '/gone', old: true, new: undefined },
      { path: '/more', old: undefined, new: [] },
    ]);
  });

  t.test('reports one entry more or less in a list as one difference', async (t) => {
    t.strictSame(differences(['a', 'b', 'c'], ['a', 'x', 'b', 'c']), [
      { path: '/1', old: undefined, new: 'x' },
    ]);
    t.strictSame(differences([['a'], 'b', 'b'], [['a'], 'b']), [{ path: '/2', old: 'b', new: undefined }]);
    t.strictSame(differences(['a', 'b'], ['b', 'a']).length, 2, 'another order is a difference');
  });

  t.test('distinguishes types, null and absence', async (t) => {
    for (const [old, now] of [
      [1, '1'],
      [null, false],
      [[], {}],
      [{ a: null }, {}],
    ] as readonly (readonly [Json, Json])[])
      t.equal(differences(old, now).length, 1, JSON.stringify([old, now]));
    t.strictSame(differences({ a: 1, b: [{}] }, { b: [{}], a: 1 }), [], 'the order of members is none');
  });
});

t.test('normalise', async (t) => {
  const run = (id: string, other: string, at: string, ms: number, work: string): Json => ({
    run_id: id,
    content_ref: `refs/ai/content/${id}`,
    goes_on: other,
    started_at: at,
    duration_ms: ms,
    message: `${work}/a.js was read`,
    decision: { commit_sha: ms.toString(16).padStart(40, '0'), type: 'commit' },
  });
  const [first, second] = ['01a21fa1-8dcd-7528-a91d-ed9ff744cade', '01a21fa1-8dcd-7528-a91d-ed9ff744cadf'];
  const one = normalise(run(first, second, '2026-11-28T00:50:11.021Z', 12, '/tmp/one'), [
    ['/tmp/one', '{work}'],
  ]);

  t.test('makes two runs with the same content equal', async (t) => {
    const other = run(second, first, '2027-01-01T00:00:00+01:00', 900, '/tmp/two');
    t.strictSame(normalise(other, [['/tmp/two', '{work}']]), one);
  });

  t.test('keeps equal ids equal, digests, and the decision of a run', async (t) => {
    const same = run(first, first, '2026-11-28T00:50:11Z', 12, '/tmp/one');
    t.strictSame(differences(one, normalise(same, [['/tmp/one', '{work}']])), [
      { path: '/goes_on', old: '{id 2}', new: '{id 1}' },
    ]);
    const digest = { patch: { digest: 'a'.repeat(64) }, decision: { type: 'abandon', commit_sha: null } };
    t.strictSame(normalise(digest), digest);
  });

  t.test('replaces digests of signed content and no others', async (t) => {
    const value = { verification: { key_id: 'b'.repeat(64) }, tree: 'c'.repeat(40) };
    t.strictSame(normalise(value), { verification: { key_id: '{digest}' }, tree: 'c'.repeat(40) });
  });
});

t.test('changes.json', async (t) => {
  t.test('explains a difference only if an entry matches it in every member', async (t) => {
    t.strictSame(explainBy(change(), found()), { unexplained: [], explained: 1, unneeded: [] });
    const others = [{ corpus: 'sast' }, { case: 'go: x' }, { path: '/0/line' }, { old: 'x' }, { new: 'x' }];
    for (const more of [...others, { new: undefined }])
      t.equal(explainBy(change(), found(more)).unexplained.length, 1, JSON.stringify(more));
  });

  t.test('reports an unneeded entry if its corpus was run', async (t) => {
    t.match(explainBy(change()).unneeded, [{ corpus: 'scan' }]);
    t.match(explainBy(change({ corpus: 'runs' })).unneeded, []);
  });

  t.test('compares values other than text exactly, and a missing side means absence', async (t) => {
    const entry = change({ old: undefined, new: 3 });
    t.equal(explainBy(entry, found({ old: undefined, new: 3 })).explained, 1);
    t.equal(explainBy(entry, found({ old: undefined, new: 30 })).explained, 0);
    t.equal(explainBy(entry, found({ old: 2, new: 3 })).explained, 0);
  });

  t.test(
    'refuses an entry without a reason, with an unknown member, or that allows any change',
    async (t) => {
      const wrong = [
        { reason: '' },
        { reason: undefined },
        { why: 'x' },
        { old: '*', new: '*' },
        { old: undefined, new: undefined },
      ];
      for (const more of wrong) t.throws(() => parseChanges(change(more)), /entry 0/, JSON.stringify(more));
      t.doesNotThrow(readChanges, 'the entries of the repository are well formed');
    },
  );
});

t.test('drawn specs', async (t) => {
  const file = new URL('../../spec/intentspec.v1.schema.json', import.meta.url);
  const schema = JSON.parse(readFileSync(file, 'utf8')) as Json;
  const bases = specBases();
  const drawn = drawSpecs(schema, bases, { seed: 7, count: 200 });

  t.test('are the same for the same seed', async (t) => {
    const again = (seed: number): string => JSON.stringify(drawSpecs(schema, bases, { seed, count: 200 }));
    t.ok(again(7) === JSON.stringify(drawn), 'the same seed');
    t.ok(again(8) !== JSON.stringify(drawn), 'another seed');
  });

  t.test('draw every member of the schema and put a fault into every third spec', async (t) => {
    const members = membersOf(schema).map(({ path }) => path.join('/'));
    const reached = new Set(drawn.flatMap((one) => one.drawn));
    t.ok(members.length > 100, `${members.length} members`);
    t.strictSame(
      members.filter((member) => !reached.has(member)),
      [],
    );
    t.equal(drawn.filter(({ fault }) => fault !== undefined).length, 66);
  });
});
