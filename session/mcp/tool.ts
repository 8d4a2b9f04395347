/* The types of MCP tools and their environment, the validation of arguments, and the form of answers. */
import { homedir, tmpdir } from 'node:os';
import { toErrorRecord, toFault } from '../../api/envelope.ts';
import type { JsonData } from '../../api/schemas/shape.ts';
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

type ErrorRecord = NonNullable<WritAnswer['error']>;

/** What a tool answers, as the protocol carries it. */
interface CallAnswer {
  readonly [key: string]: unknown;
  readonly content: { type: 'text'; text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: true;
}

/** A refusal that came as data, from a command: thrown on, with the data that it came with. */
export class ToolRefusal extends Error {
  readonly record: ErrorRecord;
  readonly data: WritAnswer['data'];

  constructor(record: ErrorRecord, data?: WritAnswer['data']) {
    super(record.message);
    this.record = record;
    this.data = data;
  }
}

export function toCallAnswer({ data, text }: ToolOutcome): CallAnswer {
  return {
    content: [{ type: 'text', text: text ?? JSON.stringify(data) }],
    structuredContent: { ...data },
  };
}

/**
 * A fault as a client may see it: code, message, expected and found values, next step. No stack, and no path outside
 * the working directory. An internal fault is reported as such, without its message.
 */
export function toRefusalAnswer(thrown: unknown, cwd: string): CallAnswer {
  const { told, text } = toShownFault(thrown, cwd);
  const data = thrown instanceof ToolRefusal ? thrown.data : undefined;
  const more = data === undefined ? '' : `\n${JSON.stringify(data)}`;
  return {
    content: [{ type: 'text', text: text + more }],
    structuredContent: { ...data, error: told },
    isError: true,
  };
}

/** The record of a fault, and the same in lines. */
export function toShownFault(
  thrown: unknown,
  cwd: string,
): { readonly told: ErrorRecord; readonly code: string; readonly text: string } {
  const record = thrown instanceof ToolRefusal ? thrown.record : recordOf(thrown);
  const told = withoutPlaces(record, cwd) as ErrorRecord;
  const { expected, found } = told.details ?? {};
  const lines = [
    `${told.code}: ${told.message}`,
    ...(expected === undefined ? [] : [`expected: ${asText(expected)}`]),
    ...(found === undefined ? [] : [`found: ${asText(found)}`]),
    ...(told.hints ?? []).map((hint) => `hint: ${hint}`),
  ];
  return { told, code: told.code, text: lines.join('\n') };
}

function recordOf(thrown: unknown): ErrorRecord {
  const fault = toFault(thrown);
  if (fault.code === 'INTERNAL') return { code: 'INTERNAL_ERROR', message: 'the server failed' };
  return toErrorRecord(fault) as unknown as ErrorRecord;
}

function withoutPlaces(value: unknown, cwd: string): unknown {
  if (typeof value === 'string') return hidePlaces(value, cwd);
  if (Array.isArray(value)) return value.map((one) => withoutPlaces(one, cwd));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutPlaces(one, cwd)]));
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * A text as it may leave for a client: paths in the working directory are relative to it, the rest of this machine has
 * no place in it.
 */
function hidePlaces(text: string, cwd: string): string {
  const inside = text.replaceAll(`${cwd}/`, '').replaceAll(cwd, '.');
  return inside
    .replaceAll(tmpdir(), '<tmp>')
    .replaceAll(homedir(), '~')
    .replaceAll(/(?<![\w.~<>/:-])\/(?:[^\s/`'":,;()<>]+\/)+([^\s/`'":,;()<>]*)/g, '<path>/$1');
}

/**
 * Shortens data so that it fits into an answer of `maxBytes`. The longest lists are shortened, and `truncated` gives
 * their original lengths. OUTPUT_TOO_LARGE if there is no list to shorten.
 */
export function fitData(data: JsonData, maxBytes: number): JsonData {
  const lengths = new Map<string, number>();
  let fitted: JsonData = data;
  while (Buffer.byteLength(JSON.stringify(fitted)) > maxBytes) {
    const longest = Object.entries(fitted)
      .filter(
        (entry): entry is [string, readonly unknown[]] => Array.isArray(entry[1]) && entry[1].length > 0,
      )
      .map(([name, list]) => ({ name, list, bytes: JSON.stringify(list).length }))
      .sort((a, b) => b.bytes - a.bytes)[0];
    if (longest === undefined) {
      const message = `the answer has more than ${maxBytes} bytes`;
      throw new WritError('OUTPUT_TOO_LARGE', {
        message,
        hints: ['ask for less, or read it with `writ` itself'],
      });
    }
    const { name, list } = longest;
    if (!lengths.has(name)) lengths.set(name, list.length);
    const half = list.slice(0, Math.floor(list.length / 2));
    fitted = { ...fitted, [name]: half, truncated: Object.fromEntries(lengths) };
  }
  return fitted;
}
