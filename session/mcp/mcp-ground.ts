import type { JsonData } from '../../api/json-data.ts';
import type { ApprovalPolicy } from '../options/session-options.ts';
import type { PlannedChange } from '../vcs/plan-vcs-change.ts';

/** Who calls: known by the way that the call came, never by what it says. */
export interface McpActor {
  readonly transport: 'stdio' | 'http';
  /** What the client calls itself; a label, and no proof of anything. */
  readonly client?: string;
}

/** What writ answers to a command line with `--json` (`5-cli.md`, JSON). */
export interface WritAnswer {
  readonly data?: JsonData;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details?: Readonly<Record<string, unknown>>;
    readonly hints?: readonly string[];
  };
}

/** A change that somebody has to allow, and who wants it. */
export interface ApprovalQuestion {
  readonly planned: PlannedChange;
  /** The words of the call, none left out. */
  readonly argv: readonly string[];
  readonly actor: McpActor;
}

/** Who decides about calls that change something. */
export interface McpApproval {
  /** `never` refuses, `allow-all` allows, every other one asks (document 2, Approval policies). */
  readonly policy: ApprovalPolicy;
  /** Asks whoever controls the session; `nobody`: nobody does. Absent: nobody can, here. */
  readonly askController?: (
    question: ApprovalQuestion,
    signal: AbortSignal,
  ) => Promise<'approved' | 'denied' | 'nobody'>;
}

/** The threads of the repository, as resources show them. */
export interface McpThreads {
  list(): Promise<readonly JsonData[]>;
  /** `undefined`: there is none of that id. */
  read(threadId: string): Promise<JsonData | undefined>;
}

/** All that an MCP server stands on. */
export interface McpGround {
  /** The session's working directory. */
  readonly cwd: string;
  readonly version: string;
  /** Runs a command of writ's, without a terminal and without an input. */
  readonly ask: (words: readonly string[], signal: AbortSignal) => Promise<WritAnswer>;
  readonly approval: McpApproval;
  /** By its context: nothing is changed, whoever would allow it. */
  readonly readsOnly: () => boolean;
  readonly threads?: McpThreads;
  /** A line for whoever started the server: never to standard output. */
  readonly log: (line: string) => void;
}
