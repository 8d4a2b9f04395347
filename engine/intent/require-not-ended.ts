import { WritError } from '../../core/base/errors.ts';
import type { IntentSpec, LifecycleStatus } from '../../core/contract/intentspec.gen.ts';

/** What is known of how an intent ended. */
interface IntentEnd {
  readonly run?: string;
  readonly superseded_by?: string;
}

/** Refuses a document that says itself that its intent is over: LIFECYCLE_NOT_ACTIVE. */
export function requireNotEnded({ metadata, lifecycle }: IntentSpec): void {
  if (isFinal(lifecycle.status)) throw intentEnded(metadata.id, lifecycle.status);
}

/** Nothing leads out of it. */
export function isFinal(status: LifecycleStatus): boolean {
  return status === 'closed' || status === 'deprecated';
}

/** LIFECYCLE_NOT_ACTIVE of an intent that has ended. */
export function intentEnded(id: string, status: LifecycleStatus, last?: IntentEnd): WritError {
  const successor = last?.superseded_by;
  return new WritError('LIFECYCLE_NOT_ACTIVE', {
    message: `expected intent \`${id}\` to be \`active\`, found \`${status}\`${successor === undefined ? '' : `: superseded by \`${successor}\``}`,
    detail: {
      spec_id: id,
      expected: 'active',
      found: status,
      ...(last?.run === undefined ? {} : { run_id: last.run }),
      ...(successor === undefined ? {} : { superseded_by: successor }),
    },
    hints: [
      successor === undefined
        ? 'a closed intent stays closed: give the next change a spec with a `metadata.id` of its own'
        : `run the spec \`${successor}\` instead`,
    ],
  });
}
