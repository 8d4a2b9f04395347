/* Types of the modules that a plugin exports, for plugin authors. */
import type { ArtifactRequest } from '../../core/interfaces/artifact.ts';
import type { StageCheckInput } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { ModelEvent, ModelRequest } from '../../core/interfaces/model.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { EvidenceSource, RetrievalSoFar } from '../../core/interfaces/privacy.ts';

/** The input of a plugin function in its own process: exactly what its manifest declares. */
export interface PluginContext {
  /** From `options` of its `[[plugins]]` entry, or else the declared default. */
  readonly options: Readonly<Record<string, unknown>>;
  /** By name: all that are declared. Of the keys of a model those that were found. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Content by path. */
  readonly files: Readonly<Record<string, string>>;
  /** The caller no longer waits: stop soon, or the process is killed. */
  readonly signal: AbortSignal;
}

/**
 * The module of a provider. What it yields is held to the form of an event; what it throws is a failed question, of
 * `kind` (a `FailureKind`), `status` and `retryAfterSeconds` where the error has them.
 */
export interface ProviderModule {
  ask(
    request: ModelRequest,
    context: PluginContext & { readonly base: string; readonly key?: string },
  ): AsyncIterable<ModelEvent>;
}

/** The module of a log. Whatever it answers is checked against the key that the policy commit pins. */
export interface LogModule {
  /**
   * Submits an entry, and resolves when a checkpoint covers it. `behind` is the log's size before this entry was
   * first submitted. If the log contains the same bytes at or after that position, return that entry.
   */
  append(
    entry: Uint8Array,
    context: PluginContext & { readonly behind: number },
  ): Promise<{
    readonly logIndex: number;
    readonly treeSize: number;
    /** Hashes are 32 octets, or their base64 (44 characters); hexadecimal is none. */
    readonly rootHash: Uint8Array | string;
    readonly hashes: readonly (Uint8Array | string)[];
    readonly checkpoint: string;
  }>;
  /** Entries that a checkpoint covers. */
  size(context: PluginContext): Promise<number>;
  /**
   * Returns nodes which prove that the tree of `from` entries is a prefix of that of `to` (RFC 9162, 2.1.4). Called
   * if the manifest sets `consistency`, for two sizes that the log has signed.
   */
  consistency?(
    from: number,
    to: number,
    context: PluginContext,
  ): Promise<{ readonly hashes: readonly (Uint8Array | string)[] }>;
}

/**
 * The module of a stage check. An empty list is a pass. An `error` refuses; `warning` and `note` are reported. A
 * thrown error refuses too. No answer can make a gate pass that would fail without this check.
 */
export interface StageCheckModule {
  judge(
    input: StageCheckInput,
    context: PluginContext,
  ): readonly StageCheckFinding[] | Promise<readonly StageCheckFinding[]>;
}

/** `rule` is the name of the check and may be omitted. */
export type StageCheckFinding = Omit<Finding, 'rule'> & { readonly rule?: string };

/** The input of an artifact producer: the same as for a built-in one, as data. */
export interface ArtifactOrder
  extends Pick<ArtifactRequest, 'name' | 'spec' | 'stages' | 'baseTimeMs' | 'engineVersion'> {
  /** From the configuration; empty if not set. */
  readonly format: string;
  readonly patch: Omit<PatchSet, 'diff'> & { readonly diff: Uint8Array };
  /** Of the candidate, by path: those that `reads` of the manifest match. */
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/**
 * The module of a producer. The same order must give the same answer. If it throws, the message is the reason for the
 * missing artifact.
 */
export interface ArtifactModule {
  produce(
    order: ArtifactOrder,
    context: PluginContext,
  ): Promise<
    | { readonly text: string }
    | { readonly bytes: Uint8Array }
    | { readonly json: unknown }
    | { readonly unmade: string }
  >;
}

/**
 * No value permits the source. A thrown error, or an answer in another form, stops every step that depends on the
 * answer.
 */
type EvidenceAnswer<T> = T | undefined | Promise<T | undefined>;

/**
 * The module of an evidence policy, called for sources that the spec's own strategy admits. The same source must give
 * the same answer.
 */
export interface EvidenceModule {
  /** Returns why the source may not be used, or its position within its tier: from 0, the first, to 1000. */
  judge(
    source: EvidenceSource,
    context: PluginContext,
  ): EvidenceAnswer<{ readonly refuse: string } | { readonly order: number }>;
  /** Returns why retrieval is not allowed yet. Called if the manifest sets `refusesRetrieval`. */
  refuseRetrieval?(
    soFar: RetrievalSoFar,
    context: PluginContext,
  ): EvidenceAnswer<{ readonly refuse: string }>;
}
