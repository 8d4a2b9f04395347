import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { activateIntent, closeIntent, supersedeIntent } from '../../../engine/intent/close-intent.ts';
import { findIntent, withLandings } from '../../../engine/intent/find-intent.ts';
import { readIntentHistory } from '../../../engine/intent/intent-history.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { openExternalLocalStore } from '../../../plugins/store/external-local-store.ts';
import { templateWords } from '../../../spec/profile.ts';
import { storeRefs } from '../../../store/stores.ts';
import { long } from '../../rooms/long.ts';
import { contractOf, openScene, person } from './scene.ts';

const id = '0198c1e2-7a5d-4b1c-9d51-0c5a3f1f7e11';
const otherId = '0198c1e2-7a5d-4b1c-9d51-0c5a3f1f7e22';
const illegal = (from: string, to: string) => ({
  code: 'LIFECYCLE_ILLEGAL_TRANSITION',
  detail: { from, to },
});

t.test('a draft is activated once, and the event records actor, status change and document', async (t) => {
  const { store } = await openScene(t);
  const draft = contractOf(id, 'draft');
  const { status, events, document } = await activateIntent(store, draft, person);
  t.equal(status, 'active');
  t.match(events, [
    {
      kind: 'activated',
      from: 'draft',
      status: 'active',
      by: 'Ada <ada@example.com>',
      reason: 'validated and confirmed',
      created_at: '2026-01-02T00:00:00.000Z',
      created_by: { kind: 'user' },
      external_ids: { intentspec_id: id, intentspec_digest: draft.digest },
    },
  ]);
  t.equal(document.lifecycle.status, 'draft', 'the author’s document is kept as it is');
  t.strictSame(await store.objects.read(store.refs.intent(id), 'spec.json'), draft.bytes);
  await t.rejects(activateIntent(store, draft, person), illegal('active', 'active'));
});

t.test('only a draft can be activated', async (t) => {
  const { store } = await openScene(t);
  for (const status of ['active', 'deprecated', 'closed'] as const) {
    await t.rejects(activateIntent(store, contractOf(id, status), person), illegal(status, 'active'));
  }
  t.equal(await readIntentHistory(store, id), undefined, 'what was refused left nothing');
});

t.test('an edited draft can be activated again without a status change', async (t) => {
  const { store } = await openScene(t);
  await activateIntent(store, contractOf(id, 'draft'), person);
  const revised = contractOf(id, 'draft', { summary: 'Another summary of it' });
  const history = await activateIntent(store, revised, person);
  t.equal(history.digest, revised.digest);
  t.equal(history.events.length, 2);
  t.equal(history.events[1]?.status, undefined, 'no status moved');
  await t.rejects(activateIntent(store, revised, person), illegal('active', 'active'));
});

t.test('a draft with unchanged template text cannot be activated', async (t) => {
  const { store } = await openScene(t);
  const draft = contractOf(id, 'draft', { summary: templateWords.summary });
  t.strictSame(draft.warnings.length, 1);
  await t.rejects(activateIntent(store, draft, person), {
    code: 'INTENTSPEC_INVALID',
    detail: { issues: [{ code: 'SEMANTIC_TEMPLATE_WORDS', path: '/intent/summary' }] },
  });
  t.equal(await readIntentHistory(store, id), undefined, 'and nothing of it is recorded');
});

t.test('every transition refuses the same id with different metadata', async (t) => {
  const { store } = await openScene(t);
  await activateIntent(store, contractOf(id, 'draft'), person);
  await activateIntent(store, contractOf(otherId, 'draft'), person);
  const changed = contractOf(id, 'draft', { baseRef: 'release' });
  const immutable = {
    code: 'INTENTSPEC_INVALID',
    detail: { issues: [{ code: 'SEMANTIC_METADATA_IMMUTABLE' }] },
  };
  await t.rejects(activateIntent(store, changed, person), immutable);
  await t.rejects(closeIntent({ store, specId: id, contract: changed }, 'x', person), immutable);
  await t.rejects(
    supersedeIntent({ store, specId: otherId }, { store, specId: id, contract: changed }, person),
    immutable,
  );
  t.equal((await readIntentHistory(store, id))?.events.length, 1);
  t.equal((await readIntentHistory(store, otherId))?.status, 'active');
});

t.test('active intents and drafts can be closed, and a closed intent is final', async (t) => {
  const { store } = await openScene(t);
  await activateIntent(store, contractOf(id, 'draft'), person);
  const closed = await closeIntent({ store, specId: id }, 'not needed', person);
  t.match(closed.events.at(-1), { kind: 'closed', from: 'active', status: 'closed', reason: 'not needed' });
  await t.rejects(closeIntent({ store, specId: id }, 'again', person), illegal('closed', 'closed'));
  await t.rejects(activateIntent(store, contractOf(id, 'draft'), person), illegal('closed', 'active'));
  await t.rejects(
    activateIntent(store, contractOf(id, 'draft', { summary: 'Another summary of it' }), person),
    illegal('closed', 'active'),
  );
  const draft = contractOf(otherId, 'draft');
  const unborn = await closeIntent({ store, specId: otherId, contract: draft }, 'never mind', person);
  t.match(unborn.events, [{ from: 'draft', status: 'closed' }]);
  await t.rejects(closeIntent({ store, specId: 'nobody-knows' }, 'x', person), { code: 'INTENT_NOT_FOUND' });
});

t.test('superseding records both ids on both intents', async (t) => {
  const { store } = await openScene(t);
  await activateIntent(store, contractOf(id, 'draft'), person);
  const next = { store, specId: otherId, contract: contractOf(otherId, 'active') };
  const old = await supersedeIntent({ store, specId: id }, next, person);
  t.equal(old.status, 'deprecated');
  t.match(old.events.at(-1), { kind: 'deprecated', from: 'active', superseded_by: otherId });
  const successor = await readIntentHistory(store, otherId);
  t.equal(successor?.status, 'active');
  t.match(successor?.events, [{ kind: 'created', supersedes: id }]);
  await t.rejects(supersedeIntent({ store, specId: id }, next, person), illegal('deprecated', 'deprecated'));
  await t.rejects(closeIntent({ store, specId: id }, 'x', person), illegal('deprecated', 'closed'));
});

t.test('an unrecorded active intent can be superseded, which records it', async (t) => {
  const { store } = await openScene(t);
  const next = { store, specId: otherId, contract: contractOf(otherId, 'active') };
  const drafted = { store, specId: id, contract: contractOf(id, 'draft') };
  await t.rejects(supersedeIntent(drafted, next, person), illegal('draft', 'deprecated'));
  t.equal(await readIntentHistory(store, otherId), undefined, 'nothing is written by that');
  const old = await supersedeIntent({ ...drafted, contract: contractOf(id, 'active') }, next, person);
  t.match(old, { status: 'deprecated', digest: contractOf(id, 'active').digest });
  t.match(old.events, [{ kind: 'deprecated', from: 'active', superseded_by: otherId }]);
  t.match((await readIntentHistory(store, otherId))?.events, [{ kind: 'created', supersedes: id }]);
});

long('an interrupted supersede can be repeated without a duplicate event', async (t) => {
  const { store } = await openScene(t);
  for (const one of [id, otherId]) await activateIntent(store, contractOf(one, 'draft'), person);
  const stopped = {
    ...store,
    objects: { ...store.objects, writeTree: async () => Promise.reject(new Error('stopped')) },
  };
  const next = { store, specId: otherId };
  await t.rejects(supersedeIntent({ store: stopped, specId: id }, next, person), /stopped/);
  t.equal((await readIntentHistory(store, id))?.status, 'active');
  await supersedeIntent({ store, specId: id }, next, { ...person, nowMs: person.nowMs + 5 });
  const supersedes = (await readIntentHistory(store, otherId))?.events.filter(
    (event) => event.supersedes === id,
  );
  t.equal(supersedes?.length, 1);
});

t.test('an intent that is not active cannot supersede another, and nothing is written', async (t) => {
  const { store, sample } = await openScene(t);
  await activateIntent(store, contractOf(id, 'draft'), person);
  const before = sample.git('for-each-ref');
  const old = { store, specId: id };
  const draft = { store, specId: otherId, contract: contractOf(otherId, 'draft') };
  await t.rejects(supersedeIntent(old, draft, person), { code: 'LIFECYCLE_NOT_ACTIVE' });
  await t.rejects(supersedeIntent(old, { store, specId: otherId }, person), { code: 'INTENT_NOT_FOUND' });
  await t.rejects(supersedeIntent(old, old, person), { code: 'USAGE' });
  await t.rejects(supersedeIntent({ store, specId: 'nobody-knows' }, old, person), {
    code: 'INTENT_NOT_FOUND',
  });
  t.equal(sample.git('for-each-ref'), before);
  await closeIntent(draft, 'x', person);
  await t.rejects(supersedeIntent(old, { store, specId: otherId }, person), {
    code: 'LIFECYCLE_NOT_ACTIVE',
    detail: { expected: 'active', found: 'closed' },
  });
  t.equal((await readIntentHistory(store, id))?.status, 'active');
});

t.test('finds an intent by id under any ref prefix and refuses one found under two', async (t) => {
  const { store, repository } = await openScene(t);
  const odd = 'team/a b*[x]:~^';
  const elsewhere = { ...store, refs: storeRefs('refs/x-acme/ai/deep') };
  t.equal(await findIntent(builtInStores, repository, systemClock, odd), undefined);
  await activateIntent(elsewhere, contractOf(odd, 'draft'), person);
  const found = await findIntent(builtInStores, repository, systemClock, odd);
  t.equal(found?.refs.intent(odd), elsewhere.refs.intent(odd));
  t.equal(await findIntent(builtInStores, repository, systemClock, 'x]:~^'), undefined);
  await activateIntent(store, contractOf(odd, 'draft'), person);
  await t.rejects(findIntent(builtInStores, repository, systemClock, odd), {
    code: 'INTENT_NOT_FOUND',
    detail: { refs: { length: 2 } },
  });
});

t.test(
  'an intent in `external-local` is found and changed there, and refused if in both stores',
  async (t) => {
    const { store, repository, sample } = await openScene(t);
    const objects = openExternalLocalStore(repository, { clock: systemClock });
    const beside = withLandings(repository, { objects, refs: storeRefs('refs/x-acme/') });
    await activateIntent(beside, contractOf(id, 'draft'), person);
    const found = await findIntent(builtInStores, repository, systemClock, id);
    t.equal(found?.refs.intent(id), `refs/x-acme/intents/${id}`);
    await closeIntent({ store: found ?? store, specId: id }, 'done', person);
    t.equal((await readIntentHistory(beside, id))?.status, 'closed');
    t.equal(sample.git('for-each-ref', 'refs/x-acme'), '', 'git has nothing of it');
    await activateIntent({ ...store, refs: beside.refs }, contractOf(id, 'draft'), person);
    await t.rejects(findIntent(builtInStores, repository, systemClock, id), {
      code: 'INTENT_NOT_FOUND',
      detail: { stores: ['git-native', 'external-local'] },
    });
  },
);
