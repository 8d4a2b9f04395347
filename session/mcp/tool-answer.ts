/** Converts results and errors of tools to MCP answers. */
import { homedir, tmpdir } from 'node:os';
import { toErrorRecord, toFault } from '../../api/envelope.ts';
import type { JsonData } from '../../api/json-data.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ToolOutcome, WritAnswer } from './tool.ts';

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
  if (fault.code === 'INTERNAL') return { code: 'INTERNAL_ERROR', message: 'a fault of the server itself' };
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
