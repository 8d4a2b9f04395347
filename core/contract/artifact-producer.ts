import type { EffectiveIntentSpec } from '../spec/intentspec.gen.ts';
import type { PatchSet } from './patch-set.ts';
import type { StageRecord } from './stage.ts';

export interface ArtifactRequest {
  readonly spec: EffectiveIntentSpec;
  readonly patch: PatchSet;
  readonly stages: readonly StageRecord[];
  /** Content of a file in the candidate tree; `undefined` where it is absent. */
  readCandidate(path: string): Promise<Uint8Array | undefined>;
  /** Every path of the candidate tree. */
  listCandidate(): Promise<readonly string[]>;
  /** Committer time of the base commit, epoch milliseconds: what reproducible documents are dated with. */
  readonly baseTimeMs: number;
}

/** Makes one named artifact that no check delivered (slot `artifact`, by artifact name). Same request, same bytes. */
export interface ArtifactProducer {
  readonly contentType: string;
  /** File ending without the dot. */
  readonly extension: string;
  /** `undefined`: nothing to describe here (no lockfile, say); the gate then reports what is missing. */
  produce(request: ArtifactRequest): Promise<Uint8Array | undefined>;
}
