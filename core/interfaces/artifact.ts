import type { Finding } from './finding.ts';
import type { EffectiveIntentSpec } from './intentspec.gen.ts';
import type { PatchSet } from './patch-set.ts';
import type { DigestedThing } from './sealing.ts';
import type { StageRecord } from './stage.ts';

export interface ArtifactRequest {
  /** What is to be made; a built-in producer makes what it is called by. */
  readonly name: string;
  readonly spec: EffectiveIntentSpec;
  readonly patch: PatchSet;
  readonly stages: readonly StageRecord[];
  /** Content of a file in the candidate tree; `undefined` where it is absent. */
  readCandidate(path: string): Promise<Uint8Array | undefined>;
  /** Every path of the candidate tree. */
  listCandidate(): Promise<readonly string[]>;
  /** Committer time of the base commit, epoch milliseconds: what reproducible documents are dated with. */
  readonly baseTimeMs: number;
  /** `[rules.<id>]` of `.writ/config.toml` at the policy commit, by rule id. */
  readonly ruleOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /**
   * Asks a registered rule, in the pool, about the change alone: no stage, no artifacts. Its own faults are findings.
   */
  judge(ruleId: string): Promise<readonly Finding[]>;
  readonly engineVersion: string;
  /** Nobody waits any more; absent: somebody always does. */
  readonly signal?: AbortSignal;
}

/**
 * Bytes, what they were made from besides the candidate (for `resolvedDependencies`), or in words why nothing can be
 * made: the gate reports what is missing with that reason. `undefined`: nothing to describe here.
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
  /** May throw what `requireReady` throws: it stops a run whose contract requires the artifact. */
  produce(request: ArtifactRequest): Promise<Produced>;
}

/** A format as a contract declares it: `cyclonedx-json`, `cyclonedx-json; version=1.7`. */
interface DeclaredFormat {
  /** Lower case; empty where the contract declares none. */
  readonly name: string;
  readonly version?: string;
}

/** Takes a declared format apart; what is no `name; version=…` is a name as a whole. */
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
