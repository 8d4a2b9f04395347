import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { appendIntentEvents, replanEvent } from '../../../engine/intent/append-intent-events.ts';
import { activateIntent } from '../../../engine/intent/close-intent.ts';
import { threadOf } from '../../../engine/intent/find-intent.ts';
import { intentEventPath, readIntentHistory } from '../../../engine/intent/intent-history.ts';
import { long } from '../../rooms/long.ts';
import { contractOf, type IntentScene, openScene, person } from './scene.ts';

const id = '0198c1e2-7a5d-4b1c-9d51-0c5a3f1f7e11';
const atMs = Date.UTC(2026, 0, 3, 4, 5, 6);

const replan = (description: string, nowMs = atMs) =>
  replanEvent({
    by: 'x-orchestrator',
    trigger: 'scope-creep',
    description,
    diffSummary: 'one task less',
    nowMs,
  });

async function read(scene: IntentScene) {
  const history = await readIntentHistory(scene.store, id);
  if (!history) throw new Error('nothing was recorded');
  return history;
}

t.test('an unrecorded intent has no history and accepts no events', async (t) => {
  const { store } = await openScene(t);
  t.equal(await readIntentHistory(store, id), undefined);
  await t.rejects(appendIntentEvents(store, id, [replan('x')]), { code: 'INTENT_NOT_FOUND', exitCode: 1 });
});

t.test('events are stored in order, linked to the previous event, and never rewritten', async (t) => {
  const scene = await openScene(t);
  await activateIntent(scene.store, contractOf(id, 'draft'), person);
  const first = scene.sample.git('rev-parse', `refs/ai/intents/${id}:${intentEventPath(1)}`);
  await appendIntentEvents(scene.store, id, [replan('one'), replan('two')]);
  await appendIntentEvents(scene.store, id, [replan('three')]);
  const history = await read(scene);
  t.strictSame(
    history.events.map(({ kind }) => kind),
    ['activated', 'replanned', 'replanned', 'replanned'],
  );
  t.equal(history.status, 'active', 'a replan moves no status');
  t.equal(history.thread, threadOf(history.document.metadata));
  t.equal(scene.sample.git('rev-parse', `refs/ai/intents/${id}:${intentEventPath(1)}`), first);
  t.strictSame(
    history.events.map(({ external_ids: { previous } }) => previous === undefined),
    [true, false, false, false],
  );
});

t.test('the change log holds the entries of the author, then one for each replan', async (t) => {
  const scene = await openScene(t);
  const own = { at: '2026-01-01T00:00:00Z', by: 'ada', reason: 'drafted', diffSummary: 'all of it' };
  await activateIntent(scene.store, contractOf(id, 'draft', { changeLog: [own] }), person);
  const after = await appendIntentEvents(scene.store, id, [replan('writes outside src')]);
  t.strictSame(after.changeLog, [
    own,
    {
      at: '2026-01-03T04:05:06.000Z',
      by: 'x-orchestrator',
      reason: 'scope-creep: writes outside src',
      diffSummary: 'one task less',
    },
  ]);
  const more = await appendIntentEvents(scene.store, id, [replan('again')]);
  t.strictSame(more.changeLog.slice(0, 2), after.changeLog, 'it only grows');
  t.equal(more.changeLog.length, 3);
});

t.test('a replan event cuts long text and fills in empty text to fit the schema limits', async (t) => {
  const long = replanEvent({
    by: 'x',
    trigger: 'unknown-api',
    description: `${'\u{1f956}'.repeat(3000)}`,
    diffSummary: '\0'.repeat(5000),
    nowMs: atMs,
  });
  t.equal([...long.reason].length, 2000);
  t.equal([...(long.diff_summary ?? '')].length, 4000);
  t.notMatch(long.diff_summary, '\0');
  const empty = replanEvent({
    by: 'x',
    trigger: 'unknown-api',
    description: '',
    diffSummary: '',
    nowMs: atMs,
  });
  t.ok(empty.reason.length > 0 && (empty.diff_summary ?? '').length > 0);
});

t.test('appending the same event again stores it only once', async (t) => {
  const scene = await openScene(t);
  await activateIntent(scene.store, contractOf(id, 'draft'), person);
  await appendIntentEvents(scene.store, id, [replan('x')]);
  const { version } = await read(scene);
  t.equal((await appendIntentEvents(scene.store, id, [replan('x')])).version, version);
  t.equal(
    (await appendIntentEvents(scene.store, id, [replan('x', atMs + 1)])).events.length,
    3,
    'later it is another',
  );
});

t.test('a writer that loses the race appends after the other writer', async (t) => {
  const scene = await openScene(t);
  await activateIntent(scene.store, contractOf(id, 'draft'), person);
  let raced = false;
  const { objects } = scene.store;
  const racing: IntentScene['store'] = {
    ...scene.store,
    objects: {
      ...objects,
      async writeTree(ref, write) {
        if (!raced) {
          raced = true;
          await appendIntentEvents(scene.store, id, [replan('the other')]);
        }
        return objects.writeTree(ref, write);
      },
    },
  };
  const { events } = await appendIntentEvents(racing, id, [replan('the slower')]);
  t.strictSame(
    events.map(({ reason }) => reason),
    ['validated and confirmed', 'scope-creep: the other', 'scope-creep: the slower'],
  );
});

t.test('a reader sees one consistent version while another writer appends', async (t) => {
  const scene = await openScene(t);
  await activateIntent(scene.store, contractOf(id, 'draft'), person);
  const { objects } = scene.store;
  let raced = false;
  const racing: IntentScene['store'] = {
    ...scene.store,
    objects: {
      ...objects,
      async readMany(ref, paths) {
        if (!raced) {
          raced = true;
          await appendIntentEvents(scene.store, id, [replan('meanwhile')]);
        }
        return objects.readMany(ref, paths);
      },
    },
  };
  t.equal((await readIntentHistory(racing, id))?.events.length, 2);
});

long('concurrent processes can append events without losing any', async (t) => {
  const scene = await openScene(t);
  await activateIntent(scene.store, contractOf(id, 'draft'), person);
  const program = fileURLToPath(new URL('./appender.ts', import.meta.url));
  const run = promisify(execFile);
  await Promise.all(
    ['one', 'two', 'three'].map((name) => run(process.execPath, [program, scene.sample.dir, id, name, '3'])),
  );
  const { events } = await read(scene);
  t.equal(events.length, 10);
  for (const name of ['one', 'two', 'three']) {
    t.strictSame(
      events.filter(({ by }) => by === name).map(({ reason }) => reason),
      [1, 2, 3].map((at) => `repeated-test-fail: ${name} ${at}`),
    );
  }
});

long('refuses a history that was truncated, changed, extended or reordered', async (t) => {
  const scene = await openScene(t);
  await activateIntent(scene.store, contractOf(id, 'draft'), person);
  await appendIntentEvents(scene.store, id, [replan('one'), replan('two')]);
  const ref = scene.store.refs.intent(id);
  const { objects } = scene.store;
  const whole = await read(scene);
  const paths = (await objects.list(ref)).map(({ path }) => path);
  const files = await objects.readMany(ref, paths);
  const tamper = async (change: (files: Map<string, Buffer>) => void): Promise<void> => {
    const changed = new Map(files);
    change(changed);
    await objects.writeTree(ref, { message: 'tampered', keepExisting: false, files: changed });
  };
  const edited = (path: string): Buffer =>
    Buffer.from((files.get(path) ?? '').toString('utf8').replace('scope-creep', 'unknown-api'));
  const [second, third] = [intentEventPath(2), intentEventPath(3)];
  const table: Readonly<Record<string, (files: Map<string, Buffer>) => void>> = {
    'the last is gone': (all) => all.delete(third),
    'one in the middle is gone': (all) => all.delete(second),
    'all are gone': (all) => [1, 2, 3].map((at) => all.delete(intentEventPath(at))),
    'the head is gone': (all) => all.delete('history.json'),
    'the head is no head': (all) => all.set('history.json', Buffer.from('{}')),
    'one in the middle says something else': (all) => all.set(second, edited(second)),
    'the last says something else': (all) => all.set(third, edited(third)),
    'two have changed places': (all) =>
      all.set(second, files.get(third) ?? Buffer.of()).set(third, files.get(second) ?? Buffer.of()),
    'one was put behind': (all) => all.set(intentEventPath(4), files.get(third) ?? Buffer.of()),
    'something else lies among them': (all) => all.set('events/note.txt', Buffer.from('x')),
    'one has an unknown field': (all) =>
      all.set(third, Buffer.from((files.get(third) ?? '').toString('utf8').replace('{', '{"extra":1,'))),
    'the contract is gone': (all) => all.delete('spec.json'),
  };
  for (const [what, change] of Object.entries(table)) {
    await tamper(change);
    await t.rejects(readIntentHistory(scene.store, id), { code: 'OBJECT_CORRUPT' }, what);
    await t.rejects(appendIntentEvents(scene.store, id, [replan('three')]), { code: 'OBJECT_CORRUPT' }, what);
  }
  await tamper(() => {});
  t.strictSame((await read(scene)).events, whole.events, 'untouched, it is read again');
});

t.test('the thread id is derived from the intent id and the instant of its creation', async (t) => {
  const of = (createdAt: string, specId = id) => threadOf({ id: specId, createdAt });
  t.equal(of('2026-02-03T08:15:00Z'), of('2026-02-03T09:15:00+01:00'));
  t.not(of('2026-02-03T08:15:00Z'), of('2026-02-03T08:15:00Z', `${id}x`));
  for (const odd of ['1969-01-01T00:00:00Z', '2026-12-31T23:59:60Z', '9999-12-31T23:59:59Z']) {
    t.match(of(odd), /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  }
});
