import t from 'tap';
import { appendIntentEvents, recordIntent } from '../../../engine/intent/append-intent-events.ts';
import {
  activateIntent,
  closeByCommit,
  closeIntent,
  supersedeIntent,
} from '../../../engine/intent/close-intent.ts';
import {
  type IntentHistory,
  readIntentHistory,
  requireActive,
} from '../../../engine/intent/intent-history.ts';
import { contractOf, type IntentScene, openScene, person } from './scene.ts';

const id = '0198c1e2-7a5d-4b1c-9d51-0c5a3f1f7e11';
const otherId = '0198c1e2-7a5d-4b1c-9d51-0c5a3f1f7e22';
const runId = '019b7f3e-0000-7000-8000-000000000001';
const otherRun = '019b7f3e-0000-7000-8000-000000000002';
const committed = { runId, nowMs: Date.UTC(2026, 0, 5), commitSha: 'a'.repeat(40) };
const refusal = (found: string) => ({
  code: 'LIFECYCLE_NOT_ACTIVE',
  exitCode: 1,
  detail: { expected: 'active', found },
});

/** What a run leaves of its contract, without any event. */
async function settle({ store }: IntentScene, contract: ReturnType<typeof contractOf>): Promise<void> {
  const { files } = recordIntent(contract, await readIntentHistory(store, id), person.nowMs);
  await store.objects.writeTree(store.refs.intent(id), { message: 'run', keepExisting: true, files });
}

async function closedHistory(...[store, ...rest]: Parameters<typeof closeByCommit>): Promise<IntentHistory> {
  await closeByCommit(store, ...rest);
  return appendIntentEvents(store, id, []);
}

t.test('without events the status in the document decides', async (t) => {
  const { store } = await openScene(t);
  await t.resolves(requireActive(store, contractOf(id, 'active')));
  for (const status of ['draft', 'deprecated', 'closed'] as const)
    await t.rejects(requireActive(store, contractOf(id, status)), refusal(status));
});

t.test('a draft runs only after its exact document was activated', async (t) => {
  const { store } = await openScene(t);
  const draft = contractOf(id, 'draft');
  await activateIntent(store, draft, person);
  await t.resolves(requireActive(store, draft));
  const edited = contractOf(id, 'draft', { summary: 'Another summary of it' });
  await t.rejects(requireActive(store, edited), { ...refusal('draft'), message: /with another document/ });
  await activateIntent(store, edited, person);
  await t.resolves(requireActive(store, edited));
  await t.resolves(requireActive(store, draft), 'what was confirmed before still is');
  await t.resolves(requireActive(store, contractOf(id, 'active')), 'nor is the file made a draft by it');
  await t.rejects(requireActive(store, contractOf(id, 'closed')), refusal('closed'), 'the file can end it');
});

t.test('a draft is not made runnable by another document with its id', async (t) => {
  const scene = await openScene(t);
  await settle(scene, contractOf(id, 'active'));
  await t.rejects(requireActive(scene.store, contractOf(id, 'draft')), refusal('draft'));
});

t.test('a commit decision closes the intent, and further runs are refused', async (t) => {
  const scene = await openScene(t);
  const { store } = scene;
  const contract = contractOf(id, 'active');
  await settle(scene, contract);
  const closed = await closedHistory(store, contract, committed);
  t.equal(closed.status, 'closed');
  t.match(closed.events, [
    {
      kind: 'closed',
      from: 'active',
      status: 'closed',
      run: runId,
      created_by: { kind: 'system', id: contract.effective.objmodel.actorMapping.orchestratorActorId },
    },
  ]);
  await t.rejects(requireActive(store, contract), { ...refusal('closed'), detail: { run_id: runId } });
  await t.rejects(requireActive(store, contract, { runId: otherRun }), refusal('closed'));
  await t.resolves(requireActive(store, contract, { runId }), 'the run that closed it may go on to its end');
});

t.test('closing by commit twice changes nothing, even for another run', async (t) => {
  const scene = await openScene(t);
  const contract = contractOf(id, 'active');
  await settle(scene, contract);
  const { version } = await closedHistory(scene.store, contract, committed);
  t.equal((await closedHistory(scene.store, contract, committed)).version, version);
  t.equal((await closedHistory(scene.store, contract, { ...committed, runId: otherRun })).version, version);
  await settle(scene, contractOf(id, 'active', { summary: 'Another summary of it' }));
  const after = await readIntentHistory(scene.store, id);
  t.equal(after?.status, 'closed', 'what a later run records of its contract moves no status');
});

t.test('a commit does not change an intent that a person closed during the run', async (t) => {
  const scene = await openScene(t);
  const contract = contractOf(id, 'active');
  await settle(scene, contract);
  const { version } = await closeIntent({ store: scene.store, specId: id }, 'enough', person);
  t.equal((await closedHistory(scene.store, contract, committed)).version, version);
  await t.rejects(requireActive(scene.store, contract, { runId }), refusal('closed'));
});

t.test('a superseded intent names its successor', async (t) => {
  const scene = await openScene(t);
  const { store } = scene;
  await settle(scene, contractOf(id, 'active'));
  const next = { store, specId: otherId, contract: contractOf(otherId, 'active') };
  await supersedeIntent({ store, specId: id }, next, person);
  await t.rejects(requireActive(store, contractOf(id, 'active')), {
    ...refusal('deprecated'),
    detail: { superseded_by: otherId },
    hints: [/0198c1e2-7a5d-4b1c-9d51-0c5a3f1f7e22/],
  });
  await t.resolves(requireActive(store, next.contract));
});

t.test('a commit cannot close an unrecorded intent', async (t) => {
  const { store } = await openScene(t);
  await t.rejects(closeByCommit(store, contractOf(id, 'active'), committed), { code: 'INTENT_NOT_FOUND' });
  await t.rejects(appendIntentEvents(store, id, []), { code: 'INTENT_NOT_FOUND' });
});
