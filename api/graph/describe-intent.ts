import type { StoredObject } from '../../engine/store/stored-object.ts';
import { type Described, eachOf, named, toDetail } from './described.ts';

/** One version of an intent's contract; the one that its ref holds with what has happened to it. */
export function describeIntent(
  intent: StoredObject<'intent'>,
  tags: readonly string[],
  events: readonly StoredObject<'intent_event'>[] = [],
): Described {
  const { kind, id } = intent.created_by;
  return {
    label: intent.summary,
    tags: [...tags],
    detail: toDetail(
      `${intent.change_type} at ${intent.risk_level} risk`,
      intent.prompt,
      eachOf(intent.objectives, (one) => `objective: ${one}`),
      named('contract', intent.external_ids.intentspec_id),
      named('digest', intent.intentspec_digest),
      `created by: ${kind} ${id}`,
      // The last are the ones that tell how it stands.
      events
        .slice(-20)
        .map(({ created_at: at, kind: what, by, reason }) => `${at} ${what} by ${by}: ${reason}`),
    ),
  };
}
