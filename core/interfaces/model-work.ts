/*
 * What a provenance names of a model's work (docs/reference/build-type.md). It holds no text of a question or an
 * answer.
 */
import type { DataClass } from './intentspec.gen.ts';

/** SHA-256 of what was sent and of what came back; no `answer` if none began. */
export interface ModelExchange {
  readonly question: string;
  readonly answer?: string;
}

/** The calls of one model in one role. */
export interface ModelWork {
  readonly provider: string;
  readonly model: string;
  /** Host, with a port that is not the usual one. */
  readonly endpoint: string;
  readonly agent: string;
  /** The agent profile of the session; its instructions by digest. */
  readonly profile?: {
    readonly name: string;
    readonly tier: 'project' | 'user' | 'embedded';
    readonly sha256: string;
  };
  /** The answers came from a recording. */
  readonly replayed?: boolean;
  /** The signer did not see the calls: the record of another machine reports them. */
  readonly claimed?: boolean;
  /** Names of the tools that it was offered, sorted. */
  readonly tools: readonly string[];
  /** Files of the repository with instructions for agents, by their whole content. `cut`: only a start was sent. */
  readonly instructions: readonly {
    readonly path: string;
    readonly sha256: string;
    readonly cut?: boolean;
  }[];
  /** Classes that the redactor's reader finds in what was sent. */
  readonly data_classes: readonly DataClass[];
  /** `http`: of the bodies of requests and answers; `turn`: of what a plugin's backend was given and gave. */
  readonly form: 'http' | 'turn';
  readonly exchanges: readonly ModelExchange[];
  /** The external agent that called it: its recipe, its package's own version, and the digest of what was started. */
  readonly program?: {
    readonly name: string;
    readonly version?: string;
    readonly sha256: string;
    readonly recipe: string;
  };
  /** SHA-256 of its session logs, as the artifacts hold them. */
  readonly logs?: readonly string[];
  /** Exchanges beyond those that are listed. */
  readonly omitted?: number;
}
