/* The interface of artifact producers. */
import type { Finding } from './finding.ts';
import type { EffectiveIntentSpec } from './intentspec.gen.ts';
import type { PatchSet } from './patch-set.ts';
import type { DigestedThing } from './sealing.ts';
import type { StageRecord } from './stage.ts';

export interface ArtifactRequest {
  /** Name of the artifact. A built-in producer makes the artifact of this name. */
  readonly name: string;
  readonly spec: EffectiveIntentSpec;
  readonly patch: PatchSet;
  readonly stages: readonly StageRecord[];
  /** Content of a file in the candidate tree; `undefined` if it does not exist. */
  readCandidate(path: string): Promise<Uint8Array | undefined>;
  /** Every path of the candidate tree. */
  listCandidate(): Promise<readonly string[]>;
  /** Committer time of the base commit, epoch milliseconds: the date of reproducible documents. */
  readonly baseTimeMs: number;
  /** `[rules.<id>]` of `.writ/config.toml` at the policy commit, by rule id. */
  readonly ruleOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /**
   * Evaluates a registered rule in the worker pool against the change alone: no stage, no artifacts. Faults of the
   * rule become findings.
   */
  judge(ruleId: string): Promise<readonly Finding[]>;
  readonly engineVersion: string;
  /** Aborts when the caller no longer waits. Absent: the caller always waits. */
  readonly signal?: AbortSignal;
}

/**
 * The bytes, with their inputs in addition to the candidate (for `resolvedDependencies`), or the reason why they
 * cannot be produced. The gate then reports the missing artifact with that reason. `undefined`: there is no content
 * to describe.
 */
export type Produced =
  | Uint8Array
  | { readonly bytes: Uint8Array; readonly madeFrom: readonly DigestedThing[] }
  | { readonly unmade: string }
  | undefined;

/** Makes one named artifact that no check delivered (slot `artifact`, by artifact name). Same request, same bytes. */
export interface ArtifactProducer {
  readonly contentType: string;
  /** File ending without the dot. */
  readonly extension: string;
  /** Throws an error of the environment if this machine cannot make it, whatever the candidate is. */
  requireReady?(): void;
  /** May throw the same errors as `requireReady`: they stop a run if its spec requires the artifact. */
  produce(request: ArtifactRequest): Promise<Produced>;
}

/** A format as a spec declares it: `cyclonedx-json`, `cyclonedx-json; version=1.7`. */
interface DeclaredFormat {
  /** Lower case. Empty if the spec declares none. */
  readonly name: string;
  readonly version?: string;
}

/** Parses a declared format. Text that is not `name; version=…` is a name as a whole. */
export function parseFormat(format: string): DeclaredFormat {
  const text = format.trim().toLowerCase();
  const [, name = text, version] = /^([^;]*[^;\s])\s*;\s*version\s*=\s*"?([\w.]+)"?$/.exec(text) ?? [];
  return { name, ...(version === undefined ? {} : { version }) };
}

/** `artifacts.required[].format` of an artifact. */
export function declaredFormat(
  spec: Pick<EffectiveIntentSpec, 'artifacts'>,
  artifact: string,
): DeclaredFormat {
  return parseFormat(spec.artifacts.required.find(({ name }) => name === artifact)?.format ?? '');
}
