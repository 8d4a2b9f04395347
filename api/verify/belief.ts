import type { CheckpointMemory } from '../../attest/log/checkpoint-memory.ts';
import type { Anchors } from '../../attest/verify/anchors.ts';

/** Whom a verifier believes, and what they have seen of logs. */
export interface Belief {
  readonly anchors: Anchors;
  readonly memory: CheckpointMemory;
}
