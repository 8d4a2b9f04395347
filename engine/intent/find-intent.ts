/* Finds the record of an intent and the store that holds it. */
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { EffectiveIntentSpec, Metadata } from '../../core/interfaces/intentspec.gen.ts';
import type { StorePlace, StoreSource } from '../../core/interfaces/store-source.ts';
import type { Slot } from '../../core/kernel/slot.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { hasLanded } from '../../store/landed.ts';
import { parseObject } from '../../store/stored-object.ts';
import { type OpenStore, openStores, type RunStore, type Stores, storeRefs } from '../../store/stores.ts';
import { runGit } from '../../workspace/git/git.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { IntentStore } from './intent-history.ts';

/**
 * Returns where the intent with that `metadata.id` is recorded, under any `aiRefPrefix` and in any store; `undefined`
 * if it is not recorded. Several matches throw INTENT_NOT_FOUND: the caller must pass a file to choose one.
 */
export async function findIntent(
  stores: Stores,
  repository: Repository,
  clock: Clock,
  specId: string,
): Promise<IntentRunStore | undefined> {
  const name = `intents/${encodeId(specId)}`;
  const found: Place[] = [];
  for (const store of await openStores(stores, repository, clock)) {
    const refs = await (store.beside ? beside(repository, store.beside, name) : inGit(repository, name));
    for (const ref of refs) found.push({ ref, store });
  }
  const [only] = found;
  if (only === undefined) return undefined;
  if (found.length > 1) {
    throw new WritError('INTENT_NOT_FOUND', {
      message: `the spec \`${specId}\` is stored in ${found.length} places`,
      detail: {
        spec_id: specId,
        refs: found.map(({ ref }) => ref),
        stores: found.map(({ store }) => store.name),
      },
      hints: ['pass the spec file instead: its `objmodel.objectStore` says which place counts'],
    });
  }
  const refs = storeRefs(only.ref.slice(0, -name.length));
  return withLandings(repository, { objects: only.store.objects, refs });
}

interface Place {
  readonly ref: string;
  readonly store: OpenStore;
}

async function inGit(repository: Repository, name: string): Promise<readonly string[]> {
  const listed = await runGit(repository, [
    'for-each-ref',
    '--format=%(refname)',
    '--end-of-options',
    `refs/ai/${name}`,
    `refs/ai/**/${name}`,
    `refs/x-*/${name}`,
    `refs/x-*/**/${name}`,
  ]);
  const refs = listed.toString('utf8').split('\n');
  return [...new Set(refs.filter((ref) => ref.endsWith(`/${name}`)))];
}

async function beside(
  repository: Repository,
  store: Required<OpenStore>['beside'],
  name: string,
): Promise<readonly string[]> {
  const refs = (await store.list(repository)).map(({ ref }) => ref);
  return refs.filter((ref) => /^refs\/(?:ai|x-[^/]*)\//.test(ref) && ref.endsWith(`/${name}`));
}

/** Runs, and the intents that they are of. */
export type IntentRunStore = RunStore & IntentStore;

/** Adds to the store whether the repository has landed a run's commit. */
export function withLandings(repository: Repository, store: RunStore): IntentRunStore {
  return { ...store, hasLanded: (runId) => hasLanded(repository, store, runId) };
}

/**
 * Opens the store that a spec names (slot `store`), under its `aiRefPrefix`. `config` reads the configuration of the
 * run's policy commit. Throws SLOT_UNKNOWN for a backend that no plugin provides.
 */
export async function openRunStore(
  stores: Pick<Slot<StoreSource>, 'pick'>,
  repository: Repository,
  clock: Clock,
  spec: EffectiveIntentSpec,
  config?: StorePlace['config'],
): Promise<IntentRunStore> {
  const { objectStore } = spec.objmodel;
  const source = await stores.pick(objectStore.backend);
  return withLandings(repository, {
    objects: source.open({ repository, clock, actorId: schedulerOf(spec).id, ...(config ? { config } : {}) }),
    refs: storeRefs(objectStore.aiRefPrefix),
  });
}

const maxMs = 2 ** 48 - 1;

/**
 * The thread of an intent, which is its Intent object's id. It follows from what is immutable (id and time of
 * creation), so that two runs that both begin an intent, on one machine or on two, begin the same one.
 */
export function threadOf({ id, createdAt }: Pick<Metadata, 'id' | 'createdAt'>): string {
  const ms = Date.parse(createdAt);
  return uuidV7From(ms >= 0 && ms <= maxMs ? ms : 0, `intent/${id}`);
}

/** The thread of an intent is its first Intent object's id; `undefined` where the intent has never run. */
export async function readThreadId(
  { objects, refs }: RunStore,
  spec: EffectiveIntentSpec,
): Promise<string | undefined> {
  const bytes = await objects.read(refs.intent(spec.metadata.id), 'intent.json');
  return bytes && parseObject('intent', bytes).object_id;
}
