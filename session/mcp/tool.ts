/** The types of MCP tools and their environment, and the validation of arguments. */
import type { JsonData } from '../../api/json-data.ts';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import { list, parse, type Schema, SchemaFault, text, where } from '../../core/base/schema.ts';
import type { ApprovalPolicy } from '../state/settings.ts';
import type { PlannedChange } from '../vcs/change-repository.ts';

/** The caller, identified by its transport, never by its own claims. */
export interface McpActor {
  readonly transport: 'stdio' | 'http';
  /** What the client calls itself; a label, and no proof of anything. */
  readonly client?: string;
}

/** The result of a writ command with `--json`. */
export interface WritAnswer {
  readonly data?: JsonData;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details?: Readonly<Record<string, unknown>>;
    readonly hints?: readonly string[];
  };
}

/** A change that needs approval, and its client. */
export interface ApprovalQuestion {
  readonly planned: PlannedChange;
  /** The words of the call, none left out. */
  readonly argv: readonly string[];
  readonly actor: McpActor;
}

/** Who decides about calls that change something. */
export interface McpApproval {
  /** `never` refuses, `allow-all` allows, the others prompt. */
  readonly policy: ApprovalPolicy;
  /** Prompts the controller of the session. `nobody`: there is no controller. Absent: prompting is not possible. */
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

/** Services of an MCP server. */
export interface McpGround {
  /** The session's working directory. */
  readonly cwd: string;
  readonly version: string;
  /** Runs a command of writ's, without a terminal and without an input. */
  readonly ask: (words: readonly string[], signal: AbortSignal) => Promise<WritAnswer>;
  readonly approval: McpApproval;
  /** True if the context of the session forbids changes. */
  readonly readsOnly: () => boolean;
  readonly threads?: McpThreads;
  /** Writes a log line; never to standard output. */
  readonly log: (line: string) => void;
}

/** One tool as data: what clients list, and what it does. */
export interface McpTool {
  /** Short, `[a-z_]`: clients put their own name in front of it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: Schema<object>;
  /** Clients decide by this whether they run it unattended. */
  readonly reads: boolean;
  /** TOOL_ARGUMENTS for missing, unknown or malformed ones; returns what does the call. */
  readonly take: (given: unknown) => (call: ToolCall) => Promise<ToolOutcome>;
}

/** A tool whose call gets the arguments of its shape. */
export function toolOf<T extends object>({
  call,
  ...facts
}: Omit<McpTool, 'arguments' | 'take'> & {
  readonly arguments: Schema<T>;
  readonly call: (given: T, call: ToolCall) => Promise<ToolOutcome>;
}): McpTool {
  return {
    ...facts,
    take(given) {
      const read = readArguments(facts.arguments, given);
      return (made) => call(read, made);
    },
  };
}

/** One call on its way. */
export interface ToolCall {
  readonly ground: McpGround;
  readonly actor: McpActor;
  readonly signal: AbortSignal;
  /** Resolves where the change is allowed. APPROVAL_REQUIRED, APPROVAL_DENIED; may end the call with a question. */
  readonly allow: (planned: PlannedChange, argv: readonly string[]) => Promise<void>;
}

export interface ToolOutcome {
  readonly data: JsonData;
  /** Instead of the data as JSON. */
  readonly text?: string;
}

/** A NUL would end an argument for the operating system, and a lone surrogate is not valid text. */
export function word(most: number): Schema<string> {
  return where(
    text(most, 0),
    'to be text without a NUL',
    (found) => found.isWellFormed() && !found.includes('\0'),
  );
}

export const wordList = (most: number) => list(word(20_000), most);

function readArguments<T>(table: Schema<T>, given: unknown): T {
  try {
    return parse(table, given);
  } catch (fault) {
    if (!(fault instanceof SchemaFault)) throw fault;
    const { path, expected, found, stray } = fault.facts;
    const [argument = 'arguments'] = path;
    const named = stray === undefined ? expected : `\`arguments\` to be none but ${stray.known.join(', ')}`;
    throw wrong(String(argument), named, stray?.name ?? found);
  }
}

/** TOOL_ARGUMENTS. `expected` begins with the name of the argument: `` `path` to be … ``. */
export function wrong(argument: string, expected: string, value: unknown): WritError {
  const found = value === undefined ? 'nothing' : quoted(JSON.stringify(value) ?? typeof value);
  return new WritError('TOOL_ARGUMENTS', {
    message: `expected ${expected}, found ${found}`,
    detail: { argument, expected: expected.replace(/^`\w+` to be /, ''), found },
  });
}

const maxFiles = 20;

/** The question about a change: what it does, for which client, and its files. */
export function questionLines({ planned: { title, paths }, actor }: ApprovalQuestion): readonly string[] {
  const who =
    actor.client === undefined
      ? ''
      : `, for the MCP client that calls itself ${JSON.stringify(actor.client)}`;
  const files = paths.slice(0, maxFiles).map((path) => JSON.stringify(path));
  const more = paths.length > files.length ? [`and ${paths.length - files.length} more`] : [];
  return [`writ is asked to ${title}${who}`, ...files, ...more];
}
