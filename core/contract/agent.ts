import type { WritError } from '../base/errors.ts';
import type { HandUse } from './hands.ts';
import type { ModelUsage } from './model.ts';

/** Where a program serves a WebSocket on the loopback of its sandbox, and the bearer token that it wants. */
export interface AgentPort {
  readonly port: number;
  /** Told to it by whoever connects and in no other way: what it is started with may be read in its sandbox. */
  readonly token: string;
}

/**
 * What a program is started with: words, files of its own home by path, the variable that names it, and others. It is
 * talked with over its standard input and output where it serves no port.
 */
export interface AgentProgram {
  readonly port?: AgentPort;
  readonly words: readonly string[];
  readonly home: Readonly<Record<string, string>>;
  readonly homeVariable: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A program that is talked with by lines; disposing of it ends it with all that it started. `ended` says how. */
export interface AgentProcess extends AsyncDisposable {
  send(line: string): void;
  /** PROVIDER_FAILED beyond their bounds. */
  readonly lines: AsyncIterable<string>;
  readonly ended: Promise<string>;
}

/** Why a program may not do something; else it is told once what came of it. */
export interface AgentVerdict {
  readonly refusal?: string;
  settle(outcome: 'done' | 'failed', exitCode?: number): Promise<void>;
}

/** The way of a worker to a program that works by itself (document 2, P8). `notes` are for the model. */
export interface AgentHost {
  readonly model: string;
  /** Where the program asks its model: the engine stands there, with the key, and asks for it. */
  readonly modelBase: string;
  readonly workspace: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  start(program: AgentProgram): Promise<AgentProcess>;
  /** As a use of `Hands`, by paths as the program sees them; of a write `bytes` is what it adds at most. */
  judge(use: HandUse): Promise<AgentVerdict>;
  /** Whether the model is being asked now, and why its last answer was none: as the engine saw it. */
  isAsking(): boolean;
  failure(): WritError | undefined;
  /** For the record of the attempt. */
  note(text: string): void;
}

/** What is to be known of a backend that is a program: where it is, and how it asks its model. */
export interface AgentSource<Failure> {
  /** Its name on PATH, and the flag that names another place. */
  readonly program: { readonly name: string; readonly flag: string; readonly hint: string };
  /** A file beside its directory, where all that stands there belongs to it. */
  readonly marker: string;
  /** What npm's starter would start, below `node_modules`, by platform and architecture. */
  readonly natives: Readonly<Record<string, string>>;
  /** The one path below the base that it asks, with POST and JSON. */
  readonly path: string;
  /** A question whose texts of tools went through `change`. */
  prepare(question: object, change: (text: string) => string): object;
  /** What an event of an answer says of tokens, and what is no answer. */
  usageOf(event: unknown): ModelUsage | undefined;
  failureOf(status: number | undefined, body: unknown): Failure | undefined;
}
