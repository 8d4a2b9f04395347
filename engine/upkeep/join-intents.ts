import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { openStores, type Stores } from '../../store/open-stores.ts';
import { storeRefs } from '../../store/store-refs.ts';
import { parseObject } from '../../store/stored-object.ts';
import { listRefs, readRef, updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { appendIntentEvents, type NewIntentEvent } from '../intent/append-intent-events.ts';
import { withLandings } from '../intent/find-intent.ts';
import { type IntentEvent, type IntentStore, readIntentHistory } from '../intent/intent-history.ts';
import { filedRef, filedStem } from './filed-record.ts';
import type { MovedRef } from './move-outcome.ts';
import { type StoredRef, toStoredRef } from './stored-ref.ts';

interface JoinPlace {
  readonly repository: Repository;
  readonly stores: Stores;
  readonly clock: Clock;
}

/**
 * Joins each history of an intent that two clones wrote apart and that `fetch` filed: their events, then those of ours
 * that they lack. The joined history follows theirs, so the next push brings it to the remote; ours stays under a ref
 * beside it. Histories that are damaged, or of another intent, stay as they are. Answers `refs` with what changed.
 */
export async function joinIntents(place: JoinPlace, refs: readonly MovedRef[]): Promise<readonly MovedRef[]> {
  return Promise.all(
    refs.map(async (moved) => {
      const stored = moved.from === null ? undefined : toStoredRef(moved.ref, moved.from);
      if (moved.status !== 'diverged' || stored?.kind !== 'intent') return moved;
      try {
        return (await joinIntent(place, stored)) ?? moved;
      } catch (fault) {
        if (isWritError(fault, 'OBJECT_CORRUPT')) return moved;
        throw fault;
      }
    }),
  );
}

async function joinIntent(
  { repository, stores, clock }: JoinPlace,
  stored: StoredRef,
): Promise<MovedRef | undefined> {
  const { ref, object, prefix, id } = stored;
  const before = filedRef(stored, 'before', 'intent');
  const filed = (await listRefs(repository, filedStem(prefix, id))).find(
    (one) => one.ref.endsWith('-intent') && one.ref !== before,
  );
  const store = await storeOf({ repository, stores, clock }, stored);
  if (!filed || !store) return undefined;
  const intent = await store.objects.read(ref, 'intent.json');
  const specId = intent && parseObject('intent', intent).external_ids.intentspec_id;
  if (specId === undefined) return undefined;
  const beside: IntentStore = { ...store, refs: { intent: () => filed.ref } };
  const ours = await readIntentHistory(store, specId);
  const theirs = await readIntentHistory(beside, specId);
  if (!ours || theirs?.thread !== ours.thread || ours.version !== object) return undefined;
  await appendIntentEvents(beside, specId, ours.events.map(toNewEvent), { isJoin: true });
  const to = await readRef(repository, filed.ref);
  if (to === undefined) return undefined;
  const outcome = await updateRefs(
    repository,
    [
      { ref, old: object, new: to },
      { ref: filed.ref, old: to, new: undefined },
      { ref: before, old: await readRef(repository, before), new: object },
    ],
    'writ: join two histories of an intent',
  );
  if (!outcome.moved) return undefined;
  return {
    ref,
    from: object,
    to,
    status: 'replaced',
    reason: `two histories joined; ours was \`${before}\``,
  };
}

/** The store that holds the intent; only a store in git has refs of a remote. */
async function storeOf(
  { repository, stores, clock }: JoinPlace,
  { ref, prefix }: StoredRef,
): Promise<IntentStore | undefined> {
  for (const { objects } of await openStores(stores, repository, clock))
    if ((await objects.version(ref)) !== undefined)
      return withLandings(repository, { objects, refs: storeRefs(prefix) });
  return undefined;
}

/** An event as it was when it was appended, to be appended behind others. */
function toNewEvent(event: IntentEvent): NewIntentEvent {
  const { kind, reason, status, diff_summary, run, superseded_by, supersedes } = event;
  const digest = event.external_ids.intentspec_digest;
  return {
    kind,
    reason,
    ...(status === undefined ? {} : { status }),
    ...(diff_summary === undefined ? {} : { diff_summary }),
    ...(run === undefined ? {} : { run }),
    ...(superseded_by === undefined ? {} : { superseded_by }),
    ...(supersedes === undefined ? {} : { supersedes }),
    by: event.created_by,
    nowMs: Date.parse(event.created_at),
    ...(digest === undefined ? {} : { digest }),
  };
}
