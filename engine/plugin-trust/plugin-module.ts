import type { ArtifactRequest } from '../../core/interfaces/artifact.ts';
import type { StageCheckInput } from '../../core/interfaces/check.ts';
import type { EvidenceSource, RetrievalSoFar } from '../../core/interfaces/evidence.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { ModelEvent, ModelRequest } from '../../core/interfaces/model.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';

/** What a function of a plugin in its own process is handed: what its manifest declares, and nothing else. */
export interface PluginContext {
  /** As `options` of its `[[plugins]]` entry says, else as declared. */
  readonly options: Readonly<Record<string, unknown>>;
  /** By name: all that are declared. Of the keys of a model those that were found. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Content by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Nobody waits any more: end soon, or be ended. */
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
   * Hands an entry in, and answers once a checkpoint covers it. `behind`: the log's size before this very entry was
   * first handed in; where the same bytes stand behind it, those are meant.
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
   * Nodes that show the tree of `from` entries to be the beginning of that of `to` (RFC 9162, 2.1.4); asked where the
   * manifest says `consistency`, for two sizes that the log has signed.
   */
  consistency?(
    from: number,
    to: number,
    context: PluginContext,
  ): Promise<{ readonly hashes: readonly (Uint8Array | string)[] }>;
}

/**
 * The module of a stage check. An empty list is a pass; an `error` refuses, `warning` and `note` are reported. Whatever
 * is thrown refuses as well: there is no answer by which a gate passes that did not pass without it.
 */
export interface StageCheckModule {
  judge(
    input: StageCheckInput,
    context: PluginContext,
  ): readonly StageCheckFinding[] | Promise<readonly StageCheckFinding[]>;
}

/** Its `rule` is the name of the check, which need not be said. */
export type StageCheckFinding = Omit<Finding, 'rule'> & { readonly rule?: string };

/** What a producer of artifacts is handed: what a built-in one sees, as data. */
export interface ArtifactOrder
  extends Pick<ArtifactRequest, 'name' | 'spec' | 'stages' | 'baseTimeMs' | 'engineVersion'> {
  /** As the configuration says; empty: none. */
  readonly format: string;
  readonly patch: Omit<PatchSet, 'diff'> & { readonly diff: Uint8Array };
  /** Of the candidate, by path: those that `reads` of the manifest match. */
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/** The module of a producer. Same order, same answer; what it throws is the reason why there is no artifact. */
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

/** Nothing: it may. What is thrown, or answered in another form, stops whatever would rest on the answer. */
type EvidenceAnswer<T> = T | undefined | Promise<T | undefined>;

/** The module of an evidence policy, asked about what the contract's own strategy lets in. Same source, same answer. */
export interface EvidenceModule {
  /** Why a source may be used by nobody, or where it stands within its tier: from 0, the first, to 1000. */
  judge(
    source: EvidenceSource,
    context: PluginContext,
  ): EvidenceAnswer<{ readonly refuse: string } | { readonly order: number }>;
  /** Why nothing may be looked up yet; asked where the manifest says `refusesRetrieval`. */
  refuseRetrieval?(
    soFar: RetrievalSoFar,
    context: PluginContext,
  ): EvidenceAnswer<{ readonly refuse: string }>;
}
