/* The interface of workers, which make the change of a Task. */
import type { WritError } from '../base/errors.ts';
import type { AssistantMessage, ModelEvent, ModelRequest, ModelUsage, ReplyEnd } from './model.ts';
import type { ModelWork } from './model-work.ts';

/** One attempt at one Task, as passed to the worker. */
export interface TaskOrder {
  readonly runId: string;
  readonly taskId: string;
  /** Place of the Task in its plan, from 1; stable over resumes. */
  readonly taskNumber: number;
  readonly attempt: number;
  /** Revision of the plan, from 1. */
  readonly revision: number;
  readonly title: string;
  /** `changeType` of the intent. */
  readonly goal: string;
  readonly steps: readonly string[];
  /** `in-scope:…`, `out-of-scope:…`, `crypto-policy:…`, `risk-rationale:…`. */
  readonly constraints: readonly string[];
  readonly acceptanceCriteria: readonly string[];
  /** The repository's instruction files for agents, as text for a model. */
  readonly instructionFiles?: string;
  /** A directory with the base of this attempt. The worker may change it; only its result counts. */
  readonly workspace: string;
  /** Digest of the context snapshot at the start, if the spec requires one. */
  readonly snapshot?: string;
  /** Why the previous attempt did not count; untrusted text. */
  readonly previousFailure?: string;
  /**
   * Calls of an interrupted try at this attempt that left the machine, one per line, and whether the same calls are
   * refused. Untrusted text.
   */
  readonly lostCalls?: readonly string[];
  readonly hands: Hands;
  /** Queries about code. Absent if no tool rule names them or no language server is available. */
  readonly code?: CodeDoor;
  /** Access outside the repository. Absent if no tool rule of the spec names it. */
  readonly web?: Web;
  /** Tools of MCP servers. Absent if no tool rule names one. */
  readonly mcp?: McpDoor;
  /** Records its decisions and their sources. Absent if no model works. */
  readonly citations?: CitationDoor;
  /** The model, if the worker names one. */
  readonly turns?: Turns;
  /** Answers the model's questions. Absent: no person is available. */
  readonly person?: { answer(question: PersonQuestion): Promise<string | undefined> };
  /** Replaces `turns` if the worker names an autonomous program. */
  readonly agent?: AgentHost;
  /** Aborts at the end of the wall clock, on `writ cancel` and on Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Usage of an attempt. `costUnits` are units of 0.001 USD (`maxCostUnits`). */
export interface WorkUsage {
  readonly costUnits: number;
  readonly tokensUsed?: number;
}

/** The citations that a spec requires of a worker. If too few exist when the attempt ends, the attempt fails. */
export interface CitationDoor {
  /**
   * Minimum of distinct valid sources for every recorded decision; each step of the Task needs such a decision. 0:
   * none is required, but recorded citations are still evaluated and stored.
   */
  readonly needed: number;
  /** `contract`, the task itself, is a valid source. */
  readonly trustsContract?: true;
  /** Why sources of one decision do not count, one per line. */
  refused(citation: WorkCitation): Promise<readonly string[]>;
  /** What the citations lack as a whole, one per line; empty if complete. */
  lacking(citations: readonly WorkCitation[]): Promise<readonly string[]>;
}

/** One choice that the worker calls a key technical decision, with its sources. */
export interface WorkCitation {
  readonly decision: string;
  readonly sources: readonly string[];
  /** The step of the Task that it settles, from 1. */
  readonly step?: number;
  readonly contradict?: boolean;
}

/** Result of an attempt. A worker without a change returns `nothing`, never an empty patch. */
export type WorkResult = {
  readonly usage: WorkUsage;
  readonly citations?: readonly WorkCitation[];
  /** Values for `runPolicy.metricsSchema`, e.g. `tokens_used`. */
  readonly metrics?: Readonly<Record<string, number>>;
} & (
  | { readonly kind: 'patch'; readonly patch: Uint8Array }
  /** The change is the current content of the workspace, without ignored files. */
  | { readonly kind: 'workspace' }
  | { readonly kind: 'nothing'; readonly reason: string }
);

/**
 * Does Tasks: a model, a recording, a person's patch. One `work` call per attempt; calls for different Tasks run side
 * by side. A rejection stops the run, to be resumed, and is not the Task's fault; a bad answer is a value.
 */
export interface Worker {
  readonly name: string;
  /**
   * Whether a model answers. Only then are there prompts, replies and retrieved sources, and only then do the spec
   * rows about them apply.
   */
  readonly usesModel: boolean;
  /** The model that answers, if the engine is to call it for the worker (`TaskOrder.turns`). */
  readonly model?: ModelChoice;
  /** `false`: it cannot cite. A spec that requires citations is refused before the work begins. */
  readonly cites?: false;
  /** A program with a model of its own that makes the whole change; `model` is then the one of its recipe. */
  readonly external?: ExternalAgent;
  work(order: TaskOrder): Promise<WorkResult>;
  /** Drafts with its model; absent: it cannot. A rejection is an infrastructure failure. */
  draft?(order: DraftOrder): Promise<DraftEnd>;
}

/** The words that start an external agent, and the name of its recipe, or `auto`. */
export interface ExternalAgent {
  readonly argv: readonly string[];
  readonly recipe: string;
}

/** Opens workers of one kind (slot `worker`). The caller of a run selects it. */
export interface WorkerSource {
  /**
   * A worker out of what it is made of; the same bytes, kept with the run, make it again when the run is resumed.
   * Throws for what it cannot read.
   */
  open(from: Uint8Array): Worker | Promise<Worker>;
}

/** An order for a model to draft a document. The caller validates the draft. A draft never contains policy. */
export interface DraftOrder {
  readonly what: 'intent' | 'plan';
  /** The input of the draft: a person's request, or the Tasks of a spec. */
  readonly subject: string;
  /** JSON Schema of an object: what is submitted. */
  readonly form: Readonly<Record<string, unknown>>;
  readonly cacheKey: string;
  readonly hands: Hands;
  readonly turns: Turns;
  /** Replaces both if an autonomous program drafts. It sees a copy. */
  readonly agent?: ReadingHost;
  /** Returns the faults of a draft, for the model. Empty: the draft is accepted. */
  submit(draft: unknown): Promise<readonly string[]>;
}

/** A program with read-only access. Its work ends with the signal. */
export interface ReadingHost {
  readonly host: AgentHost;
  readonly signal: AbortSignal;
}

/** The draft was accepted, or the reason why there is none. */
export type DraftEnd = { readonly kind: 'taken' } | { readonly kind: 'nothing'; readonly reason: string };

/** The model that does the work, as requested; stored with the run. */
export interface ModelChoice {
  /** By name in slot `provider`. */
  readonly provider: string;
  /** Absent: the provider's default. */
  readonly model?: string;
  readonly apiBase?: string;
  readonly temperature?: number;
  /** The provider's own flags, by name. */
  readonly flags: Readonly<Record<string, string>>;
  /** The agent profile of the session that chose it. */
  readonly profile?: NonNullable<ModelWork['profile']>;
}

export interface Turn {
  readonly message: AssistantMessage;
  readonly end: ReplyEnd;
  readonly usage: ModelUsage;
}

/** A worker's request to a model. The worker does not choose the model. */
export type TurnQuestion = Pick<
  ModelRequest,
  'system' | 'messages' | 'tools' | 'maxOutputTokens' | 'cacheKey'
>;

/** The only access to an attempt's model. It retries where useful, counts usage and masks secrets. */
export interface Turns {
  /** The model's context window in tokens, if known. */
  readonly contextTokens?: number;
  /**
   * Throws PROVIDER_FAILED if there is no reply. Throws TURN_LIMIT if the attempt has used all its turns. Throws
   * REPLY_MALFORMED if the model, despite a correction, calls an undeclared tool: that is the model's failure.
   */
  take(question: TurnQuestion, told?: (event: ModelEvent) => void): Promise<Turn>;
}

/** A tool call in the workspace of an attempt. Paths are relative to it, or absolute within it. */
export type HandUse =
  /** Text of a file with numbered lines from `fromLine` (the first is 1), as many as requested and as fit. */
  | { readonly kind: 'read'; readonly path: string; readonly fromLine?: number; readonly lines?: number }
  | { readonly kind: 'list'; readonly path: string }
  /** Lines that match a POSIX extended regular expression. */
  | { readonly kind: 'search'; readonly pattern: string; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: 'delete'; readonly path: string }
  /** A question to version control: a subcommand, and its arguments as words. */
  | { readonly kind: 'vcs'; readonly command: string; readonly args: readonly string[] }
  /** Shell text, in the sandbox; `background`: the answer is an id at once, and `command` concerns what has one. */
  | { readonly kind: 'execute'; readonly command: string; readonly timeoutSeconds?: number }
  | { readonly kind: 'background'; readonly command: string; readonly timeoutSeconds?: number }
  | { readonly kind: 'command'; readonly action: 'list' | 'output' | 'stop'; readonly id?: string }
  | CodeUse;

/** Result of a tool call. A model may read `text`; parts from files or programs are untrusted. */
export interface HandAnswer {
  readonly outcome: 'done' | 'denied' | 'failed';
  readonly text: string;
  /** Bytes of a file that was read completely, not masked. For the worker's own work on the file, never for a model. */
  readonly bytes?: Uint8Array;
  readonly exitCode?: number;
  /** Accesses that the sandbox denied to a failed command, as far as they are known. */
  readonly heldBack?: string;
}

/**
 * The only access to the files of an attempt. The spec's tool rules, its scope and every guard authorize each call
 * before it runs. One call at a time; a refusal is a result.
 */
export interface Hands {
  /** Whether a rule of the spec allows version control; absent: no. */
  readonly seesHistory?: boolean;
  use(use: HandUse): Promise<HandAnswer>;
}

/** A lookup outside the repository (tool `web.search`). */
export type WebUse =
  | { readonly kind: 'search'; readonly query: string }
  /** Text of one page. */
  | { readonly kind: 'read'; readonly url: string };

/** Result of a lookup; text of external origin is untrusted. */
export type WebAnswer = Pick<HandAnswer, 'outcome' | 'text'>;

/**
 * The only network access of an attempt. Tool rules, network policy, strategy, domain rules and guards authorize each
 * call before any request, and again at every redirect. One call at a time; a refusal is a result.
 */
export interface Web {
  /** The actions that a rule of the spec names. */
  readonly actions: readonly WebUse['kind'][];
  use(use: WebUse): Promise<WebAnswer>;
}

/** Tools of MCP servers, authorized like every other; descriptions and results are untrusted. */
export interface McpDoor {
  readonly tools: ModelRequest['tools'];
  /** `given`: arguments as JSON text. */
  use(name: string, given: string): Promise<WebAnswer>;
}

/** Queries to a language server. Each is an action of the tool `workspace.lsp`. */
export const codeActions = [
  'hover',
  'goto-definition',
  'find-references',
  'document-symbols',
  'workspace-symbols',
  'diagnostics',
  'preview-rename',
] as const;

export type CodeAction = (typeof codeActions)[number];

/** A query about code. For a rename it only previews the changes. */
export interface CodeUse {
  readonly kind: 'code';
  readonly action: CodeAction;
  /** A file; `.` for symbols of the workspace. */
  readonly path: string;
  /** From 1. Without it the first line with the name is meant. */
  readonly line?: number;
  /** A name on the line, or the query of a symbol search. */
  readonly symbol?: string;
  readonly newName?: string;
}

/** The code queries that an attempt may use, and the file endings they apply to. */
export interface CodeDoor {
  readonly actions: readonly CodeAction[];
  /** Endings of files, with their dots. */
  readonly endings: readonly string[];
}

/** A WebSocket on the loopback of the sandbox, and its bearer token. */
export interface AgentPort {
  readonly port: number;
  /** The client sends it when it connects, and only then: start parameters are readable inside the sandbox. */
  readonly token: string;
}

/**
 * How to start a program: arguments, files of its home by path, the variable that names that home, and further
 * variables. If it serves no port, it is driven over its standard input and output.
 */
export interface AgentProgram {
  readonly port?: AgentPort;
  readonly words: readonly string[];
  readonly home: Readonly<Record<string, string>>;
  readonly homeVariable: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A program that is driven line by line. Disposing of it ends it and its children; `ended` reports how it ended. */
export interface AgentProcess extends AsyncDisposable {
  send(line: string): void;
  /** Throws PROVIDER_FAILED beyond the limits. */
  readonly lines: AsyncIterable<string>;
  readonly ended: Promise<string>;
}

/** Why a program may not make a call. If the call is allowed, `settle` receives its outcome once. */
export interface AgentVerdict {
  readonly refusal?: string;
  settle(outcome: 'done' | 'failed', exitCode?: number): Promise<void>;
}

/** A worker's access to an autonomous program. `notes` are for the model. */
export interface AgentHost {
  readonly model: string;
  /** Base URL for the program's model requests. The engine serves it, holds the key and forwards the requests. */
  readonly modelBase: string;
  readonly workspace: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  start(program: AgentProgram): Promise<AgentProcess>;
  /**
   * Authorizes a call like a use of `Hands`, with paths as the program sees them. For a write, `bytes` is the most
   * that it adds.
   */
  judge(use: HandUse): Promise<AgentVerdict>;
  /** Whether a model request is in progress, and why the last reply failed, as observed by the engine. */
  isAsking(): boolean;
  failure(): WritError | undefined;
  note(text: string): void;
}

/** Describes a backend that is a program: its location, and its requests to its model. */
export interface AgentSource<Failure> {
  /** Its name on PATH, and the flag that overrides it. */
  readonly program: { readonly name: string; readonly flag: string; readonly hint: string };
  /** A file beside its directory. If it exists, the whole directory belongs to the program. */
  readonly marker: string;
  /** The program that npm's launcher starts, below `node_modules`, by platform and architecture. */
  readonly natives: Readonly<Record<string, string>>;
  /** The only path below the base that it calls, with POST and JSON. */
  readonly path: string;
  /** Returns the request with `change` applied to the texts of tools. */
  prepare(question: object, change: (text: string) => string): object;
  /** Usage and failure in an event of a reply, if there is one. */
  usageOf(event: unknown): ModelUsage | undefined;
  failureOf(status: number | undefined, body: unknown): Failure | undefined;
}

/** A question of a model to a person: a choice of `options`, or a free answer if there are none. */
export interface PersonQuestion {
  readonly question: string;
  readonly options: readonly string[];
  /** The answer goes only to the caller and is not stored. */
  readonly isSecret?: true;
}
