import type { Clock } from '../base/clock.ts';

/** Where the candidate change comes from (resolutions, A supplied patch). */
export type ChangeSource =
  | { readonly kind: 'patch'; readonly bytes: Uint8Array }
  | { readonly kind: 'range'; readonly range: string };

/** One `writ run`, with everything that the outside decides. */
export interface RunRequest {
  readonly repositoryPath: string;
  /** The IntentSpec as its author gave it. */
  readonly specBytes: Uint8Array;
  readonly source: ChangeSource;
  /** Target branch by name, without `refs/heads/`. */
  readonly onto?: string;
  /** Sandbox back end by name, or `auto`. */
  readonly sandbox: string;
  /** Of this engine, for `internalParameters.scheduler_version`. */
  readonly schedulerVersion: string;
  readonly clock: Clock;
  /** Aborts the run: what has been moved stays moved or is rolled back, never half. */
  readonly signal: AbortSignal;
}
