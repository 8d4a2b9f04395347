/** The types of MCP tools and their environment, and the validation of arguments. */
import type { JsonData } from '../../api/json-data.ts';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { ApprovalPolicy } from '../session-options.ts';
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
export interface McpTool<Table extends ArgumentTable = ArgumentTable> {
  /** Short, `[a-z_]`: clients put their own name in front of it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: Table;
  /** Clients decide by this whether they run it unattended. */
  readonly reads: boolean;
  readonly call: (given: ReadonlyMap<string, unknown>, call: ToolCall) => Promise<ToolOutcome>;
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

/** One argument of a tool. */
interface ArgumentSpec {
  readonly type: 'string' | 'strings' | 'count';
  readonly about: string;
  readonly optional?: true;
  readonly choices?: readonly string[];
  /** Characters of a string, strings of a list, the largest number. */
  readonly most: number;
}

type ArgumentTable = Readonly<Record<string, ArgumentSpec>>;

const maxItem = 20_000;

/** Validates the arguments of a call. TOOL_ARGUMENTS for a missing, unknown or malformed one. */
export function readArguments(table: ArgumentTable, given: unknown): ReadonlyMap<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong('arguments', 'an object', given);
  const known = Object.keys(table);
  const stranger = Object.keys(given).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw wrong('arguments', known.length === 0 ? 'none' : `none but ${known.join(', ')}`, stranger);
  const read = new Map<string, unknown>();
  for (const [name, spec] of Object.entries(table)) {
    const value: unknown = Object.getOwnPropertyDescriptor(given, name)?.value;
    if (value === undefined && spec.optional === true) continue;
    if (!isSound(spec, value)) throw wrong(name, expectationOf(spec), value);
    read.set(name, value);
  }
  return read;
}

/** JSON Schema of the table, as clients pass it to models. */
export function toInputSchema(
  table: ArgumentTable,
): Readonly<Record<string, unknown>> & { readonly type: 'object' } {
  const entries = Object.entries(table);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, spec]) => [name, toSchema(spec)])),
    required: entries.filter(([, { optional }]) => optional !== true).map(([name]) => name),
    additionalProperties: false,
  };
}

function toSchema({ type, about, choices, most }: ArgumentSpec): Readonly<Record<string, unknown>> {
  if (type === 'count') return { type: 'integer', minimum: 1, maximum: most, description: about };
  if (type === 'strings')
    return {
      type: 'array',
      items: { type: 'string', maxLength: maxItem },
      maxItems: most,
      description: about,
    };
  return { type: 'string', ...(choices ? { enum: choices } : { maxLength: most }), description: about };
}

function isSound({ type, choices, most }: ArgumentSpec, value: unknown): boolean {
  if (type === 'count') return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most;
  if (type === 'strings')
    return Array.isArray(value) && value.length <= most && value.every((one) => isText(one, maxItem));
  return isText(value, most) && (choices === undefined || choices.includes(value));
}

/** A NUL would end an argument for the operating system, and a lone surrogate is not valid text. */
function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length <= most && value.isWellFormed() && !value.includes('\0');
}

function expectationOf({ type, choices, most }: ArgumentSpec): string {
  if (type === 'count') return `a whole number from 1 to ${most}`;
  if (type === 'strings') return `a list of at most ${most} strings`;
  return choices === undefined ? `a string of at most ${most} characters` : `one of ${choices.join(', ')}`;
}

function wrong(name: string, expected: string, value: unknown): WritError {
  const found = value === undefined ? 'nothing' : quoted(JSON.stringify(value) ?? typeof value);
  return new WritError('TOOL_ARGUMENTS', {
    message: `expected \`${name}\` to be ${expected}, found ${found}`,
    detail: { argument: name, expected, found },
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
