import { WritError } from '../../core/base/errors.ts';
import { assertLifecycleMove } from '../spec/lifecycle.ts';
import type { LifecycleActor } from './activate-intent.ts';
import { appendIntentEvents, unknownIntent } from './append-intent-events.ts';
import type { NamedIntent } from './close-intent.ts';
import { type IntentHistory, readIntentHistory } from './intent-history.ts';
import { recordIntent } from './record-intent.ts';
import { requireActive } from './require-active.ts';
import { requireSameMetadata } from './require-same-metadata.ts';

/**
 * active → deprecated: the old intent names its successor and the successor names the old one. An old one that nothing
 * recorded is recorded by that. The successor must be active; it is written first, and a second call after a kill in
 * between adds only what is missing. Answers the old intent's history.
 */
export async function supersedeIntent(
  old: NamedIntent,
  next: NamedIntent,
  actor: LifecycleActor,
): Promise<IntentHistory> {
  if (old.specId === next.specId) {
    throw new WritError('USAGE', {
      message: `expected two intents, found \`${old.specId}\` twice`,
      detail: { spec_id: old.specId },
      hints: ['give the new spec a `metadata.id` of its own'],
    });
  }
  const { store, specId, contract } = old;
  if (contract) await requireSameMetadata(store, contract);
  const before = await readIntentHistory(store, specId);
  const status = before?.status ?? contract?.document.lifecycle.status;
  if (status === undefined) throw unknownIntent(specId);
  assertLifecycleMove(status, 'deprecated');
  await nameOld(specId, next, actor);
  return appendIntentEvents(
    store,
    specId,
    [
      {
        ...actor,
        kind: 'deprecated',
        status: 'deprecated',
        reason: `superseded by ${next.specId}`,
        superseded_by: next.specId,
      },
    ],
    contract ? { record: (known) => recordIntent(contract, known, actor.nowMs) } : {},
  );
}

async function nameOld(
  oldId: string,
  { store, specId, contract }: NamedIntent,
  actor: LifecycleActor,
): Promise<void> {
  if (contract) {
    await requireSameMetadata(store, contract);
    await requireActive(store, contract);
  }
  await appendIntentEvents(
    store,
    specId,
    (before) => {
      if (before && before.status !== 'active') {
        throw new WritError('LIFECYCLE_NOT_ACTIVE', {
          message: `expected intent \`${specId}\` to be \`active\`, found \`${before.status}\``,
          detail: { spec_id: specId, expected: 'active', found: before.status },
        });
      }
      if (before?.events.some((event) => event.supersedes === oldId)) return [];
      const digest = contract?.digest ?? before?.digest;
      return [
        {
          ...actor,
          kind: before ? 'activated' : 'created',
          reason: `supersedes ${oldId}`,
          supersedes: oldId,
          ...(digest === undefined ? {} : { digest }),
        },
      ];
    },
    contract ? { record: (before) => recordIntent(contract, before, actor.nowMs) } : {},
  );
}
