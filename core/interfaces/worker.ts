import type { WritError } from '../base/errors.ts';
import type { AssistantMessage, ModelEvent, ModelRequest, ModelUsage, ReplyEnd } from './model.ts';
import type { PersonQuestion } from './person-question.ts';

/**
 * One attempt at one Task, as whoever does it is told (document 1, Object-model binding; resolutions, Other fields'
 * effects).
 */
export interface TaskOrder {
  readonly runId: string;
  readonly taskId: string;
  /** Place of the Task in its plan, from 1; stable over resumes. */
  readonly taskNumber: number;
  /** From 1. */
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
  /** A directory that holds the base of this attempt; the worker may change it, only its answer counts. */
  readonly workspace: string;
  /** Digest of the context snapshot taken at the start, where the contract asks for one. */
  readonly snapshot?: string;
  /** Why the attempt before this one did not count; untrusted text. */
  readonly previousFailure?: string;
  /**
   * Calls of an earlier try at this attempt that left the machine before it was interrupted, a line each, and whether
   * they are refused in the same words. Untrusted text.
   */
  readonly lostCalls?: readonly string[];
  /** The workspace as tools see it. */
  readonly hands: Hands;
  /** What hands may ask about code; absent where no rule names it, or no language server is there. */
  readonly code?: CodeDoor;
  /** What lies outside the repository; absent where no tool rule of the contract names it. */
  readonly web?: Web;
  /** Where it records its decisions and what they rest on; absent where no model works. */
  readonly citations?: CitationDoor;
  /** The model; present where the worker names one. */
  readonly turns?: Turns;
  /** Who answers questions of the model; absent: nobody is there. */
  readonly person?: { answer(question: PersonQuestion): Promise<string | undefined> };
  /** In place of `turns`, where what the worker names is a program that works by itself. */
  readonly agent?: AgentHost;
  /** Ends with the wall clock, with `writ cancel` and with the person's Ctrl-C. */
  readonly signal: AbortSignal;
}

/** What an attempt used up. Units: `costUnits` of 0.001 USD (resolutions, maxCostUnits). */
export interface WorkUsage {
  readonly costUnits: number;
  readonly tokensUsed?: number;
}

/** What a contract asks a worker to cite (resolutions, Evidence); too few when the attempt has ended, and it fails. */
export interface CitationDoor {
  /**
   * Distinct sources that count, for every recorded decision; each step of the Task needs such a decision. 0: none is
   * asked for, and what is recorded is judged and kept all the same.
   */
  readonly needed: number;
  /** `contract`, the task itself, is a source that counts. */
  readonly trustsContract?: true;
  /** Why sources of one do not count, a line each. */
  refused(citation: WorkCitation): Promise<readonly string[]>;
  /** What lacks of all of them, a line each; empty where nothing does. */
  lacking(citations: readonly WorkCitation[]): Promise<readonly string[]>;
}

/** One choice that the worker calls a key technical decision, with the sources it rests on. */
export interface WorkCitation {
  readonly decision: string;
  readonly sources: readonly string[];
  /** The step of the Task that it settles, from 1. */
  readonly step?: number;
  /** The sources say different things. */
  readonly contradict?: boolean;
}

/** What came of an attempt. A worker that answers nothing says so; it never answers an empty patch. */
export type WorkResult = {
  readonly usage: WorkUsage;
  readonly citations?: readonly WorkCitation[];
  /** Values for `runPolicy.metricsSchema`, e.g. `tokens_used`. */
  readonly metrics?: Readonly<Record<string, number>>;
} & (
  | { readonly kind: 'patch'; readonly patch: Uint8Array }
  /** The change is what the workspace holds now, but for what git ignores there. */
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
   * Whether a model answers: prompts, replies and retrieved sources exist only then, and so do the rows of the contract
   * about them.
   */
  readonly usesModel: boolean;
  /** The model that answers, where the engine shall ask it for the worker (`TaskOrder.turns`). */
  readonly model?: ModelChoice;
  /** `false`: it has no way to cite, and a contract that asks for citations is refused before it begins. */
  readonly cites?: false;
  work(order: TaskOrder): Promise<WorkResult>;
  /** Drafts with its model; absent: it cannot. A rejection is an infrastructure failure. */
  draft?(order: DraftOrder): Promise<DraftEnd>;
}

/** Opens workers of one kind (slot `worker`), picked by whoever asks for a run. */
export interface WorkerSource {
  /**
   * A worker out of what it is made of; the same bytes, kept with the run, make it again when the run is resumed.
   * Throws for what it cannot read.
   */
  open(from: Uint8Array): Worker | Promise<Worker>;
}

/** What a model is to draft. Judged by whoever orders it; policy is never among it (resolutions, Repair). */
export interface DraftOrder {
  readonly what: 'intent' | 'plan';
  /** What it is of: a person's request, the Tasks of a contract. */
  readonly subject: string;
  /** JSON Schema of an object: what is submitted. */
  readonly form: Readonly<Record<string, unknown>>;
  readonly cacheKey: string;
  /** Reading only. */
  readonly hands: Hands;
  readonly turns: Turns;
  /** In place of both, where what drafts is a program that works by itself: it looks at a copy. */
  readonly agent?: ReadingHost;
  /** What is wrong with a draft, for the model; nothing: it was taken. */
  submit(draft: unknown): Promise<readonly string[]>;
}

/** A program that may look, and nothing else; what it is asked ends with the signal. */
export interface ReadingHost {
  readonly host: AgentHost;
  readonly signal: AbortSignal;
}

/** A draft was taken, or why none was. */
export type DraftEnd = { readonly kind: 'taken' } | { readonly kind: 'nothing'; readonly reason: string };

/** Which model does the work, as it was asked for; kept with the run. */
export interface ModelChoice {
  /** By name in slot `provider`. */
  readonly provider: string;
  /** Absent: the provider's default. */
  readonly model?: string;
  readonly apiBase?: string;
  readonly temperature?: number;
  /** The provider's own flags, by name. */
  readonly flags: Readonly<Record<string, string>>;
}

/** One whole reply. */
export interface Turn {
  readonly message: AssistantMessage;
  readonly end: ReplyEnd;
  readonly usage: ModelUsage;
}

/** What a worker asks of a model; which model is not its business. */
export type TurnQuestion = Pick<
  ModelRequest,
  'system' | 'messages' | 'tools' | 'maxOutputTokens' | 'cacheKey'
>;

/** The only way to the model of an attempt: asks again where that helps, counts, masks what is secret. */
export interface Turns {
  /** Tokens that a question and its reply may have together, where that is known of the model. */
  readonly contextTokens?: number;
  /**
   * PROVIDER_FAILED where no reply is to be had. TURN_LIMIT where the attempt has had its turns, and REPLY_MALFORMED
   * where the model, though told, calls what was not declared: it is the model that fails there.
   */
  take(question: TurnQuestion, told?: (event: ModelEvent) => void): Promise<Turn>;
}

/** What a worker may ask to be done in the workspace of its attempt. Paths are relative to it, or absolute in it. */
export type HandUse =
  /** Text of a file, its lines numbered: as many as asked for and as fit, from `fromLine` (the first is 1). */
  | { readonly kind: 'read'; readonly path: string; readonly fromLine?: number; readonly lines?: number }
  | { readonly kind: 'list'; readonly path: string }
  /** Lines that match a POSIX extended regular expression. */
  | { readonly kind: 'search'; readonly pattern: string; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: 'delete'; readonly path: string }
  /** A question to version control: a subcommand, and its arguments as words. */
  | { readonly kind: 'vcs'; readonly command: string; readonly args: readonly string[] }
  /** Shell text, in the sandbox. */
  | { readonly kind: 'execute'; readonly command: string; readonly timeoutSeconds?: number }
  | CodeUse;

/** What came of it: `text` is what a model may read of it, untrusted wherever it holds what a file or program said. */
export interface HandAnswer {
  readonly outcome: 'done' | 'denied' | 'failed';
  readonly text: string;
  /**
   * Of a file that was read whole: its bytes as they are, with what is masked in `text`. For the worker's own work on
   * it, never for a model.
   */
  readonly bytes?: Uint8Array;
  readonly exitCode?: number;
  /** What the sandbox kept a command that failed from, as far as that can be told. */
  readonly heldBack?: string;
}

/**
 * The only way to the files of an attempt: every use is judged by the contract's tool rules, its scope and every guard
 * before it happens (resolutions, Who judges a tool call). One at a time; a refusal is an answer.
 */
export interface Hands {
  /** Whether a rule of the contract opens version control; absent: no. */
  readonly seesHistory?: boolean;
  use(use: HandUse): Promise<HandAnswer>;
}

/** What a worker may look up outside the repository (tool `web.search`; document 2, Web search tool). */
export type WebUse =
  | { readonly kind: 'search'; readonly query: string }
  /** Text of one page. */
  | { readonly kind: 'read'; readonly url: string };

/** What came of it; untrusted wherever it holds what somebody else wrote. */
export type WebAnswer = Pick<HandAnswer, 'outcome' | 'text'>;

/**
 * The only way out of an attempt: every use is judged by tool rules, network policy, strategy, domain rules and guards
 * before anything is asked, and again at every redirect. One at a time; a refusal is an answer.
 */
export interface Web {
  /** Those that a rule of the contract names. */
  readonly actions: readonly WebUse['kind'][];
  use(use: WebUse): Promise<WebAnswer>;
}

/** What a language server is asked; each is an action of the tool `workspace.lsp` (document 1, ToolRule). */
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

/** A question about code. Of what there is to rename, only what would change is told. */
export interface CodeUse {
  readonly kind: 'code';
  readonly action: CodeAction;
  /** A file; `.` for symbols of the workspace. */
  readonly path: string;
  /** From 1. Without it the first line with the name is meant. */
  readonly line?: number;
  /** A name on the line, or what symbols are looked for by. */
  readonly symbol?: string;
  readonly newName?: string;
}

/** What may be asked in an attempt, and of which files. */
export interface CodeDoor {
  readonly actions: readonly CodeAction[];
  /** Endings of files, with their dots. */
  readonly endings: readonly string[];
}

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
