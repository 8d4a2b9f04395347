import { canonicalize } from '../../../core/base/canonical.ts';
import type { Clock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { RunStore } from '../../store/run-store.ts';
import { storeRefs } from '../../store/store-refs.ts';
import { parseObject } from '../../store/stored-object.ts';
import type { Repository } from '../../vcs/repository.ts';
import type { AdmittedContract } from './admit-contract.ts';
import type { WritEngine } from './writ-engine.ts';

/** The store that a contract names (slot `store`), under its `aiRefPrefix`. SLOT_UNKNOWN for a backend that no plugin brings. */
export async function openRunStore(
  engine: WritEngine,
  repository: Repository,
  clock: Clock,
  spec: EffectiveIntentSpec,
): Promise<RunStore> {
  const { objectStore, actorMapping } = spec.objmodel;
  const source = await engine.slots.store.pick(objectStore.backend);
  return {
    objects: source.open({ repository, clock, actorId: actorMapping.orchestratorActorId }),
    refs: storeRefs(objectStore.aiRefPrefix),
  };
}

/** The thread of an intent is its first Intent object's id; `undefined` where the intent has never run. */
export async function readThreadId(
  { objects, refs }: RunStore,
  spec: EffectiveIntentSpec,
): Promise<string | undefined> {
  const bytes = await objects.read(refs.intent(spec.metadata.id), 'intent.json');
  return bytes && parseObject('intent', bytes).object_id;
}

/** Metadata are immutable after creation (document 1, Metadata): the same id with others is INTENTSPEC_INVALID. */
export async function requireSameMetadata(
  { objects, refs }: RunStore,
  contract: AdmittedContract,
): Promise<void> {
  const { metadata } = contract.document;
  const stored = await objects.read(refs.intent(metadata.id), 'spec.json');
  if (!stored) return;
  const { value } = parseStrictJson(stored, { code: 'OBJECT_CORRUPT' });
  const before = (value as { readonly metadata?: unknown }).metadata;
  if (canonicalize(before) === canonicalize(metadata)) return;
  const issue = {
    code: 'SEMANTIC_METADATA_IMMUTABLE',
    path: '/metadata',
    message: `intent \`${metadata.id}\` was run with other metadata; a change means a new id`,
    severity: 'error' as const,
  };
  throw new WritError('INTENTSPEC_INVALID', {
    message: issue.message,
    detail: { issues: [issue] },
    hints: ['give the changed intent a `metadata.id` of its own'],
  });
}
