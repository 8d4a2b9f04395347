import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FailureKind, ModelRequest, ModelUsage, ReplyEnd, ToolCall } from '../../core/contract/model.ts';

/** How a provider is opened for the cases in its folder: `fixtures/providers/<folder>/provider.json`. */
export interface CaseSetting {
  readonly provider: string;
  readonly model: string;
  readonly key?: string;
  /** Whether the address of the server counts as another base than the vendor's. */
  readonly isOtherBase: boolean;
  readonly flags?: Readonly<Record<string, string>>;
}

/** Parts of a body by JSON pointer, with nothing more and nothing less in them; `null` for what must not be there. */
export type Exactly = Readonly<Record<string, unknown>>;

/** One recorded answer and what has to come of it. */
export interface WireCase {
  /** Name of the file. */
  readonly name: string;
  readonly says: string;
  readonly model?: string;
  readonly flags?: Readonly<Record<string, string>>;
  /** What differs from the plain question. */
  readonly request?: Partial<ModelRequest>;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream of events: each is its data, with `event` beside it where it has a name. */
  readonly events?: readonly { readonly event?: string; readonly data: unknown }[];
  readonly lines?: readonly unknown[];
  readonly json?: unknown;
  readonly text?: string;
  /** Path, headers and body that the question must have, as far as they are named. */
  readonly wire?: {
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    /** Top-level fields that the body must not have. */
    readonly without?: readonly string[];
    readonly exactly?: Exactly;
  };
  /** What the next question must hold: this reply, its tool results, its state as it came. */
  readonly next?: unknown;
  readonly nextExactly?: Exactly;
  /** The same where the reply was given to another model. */
  readonly nextElsewhere?: unknown;
  readonly nextElsewhereExactly?: Exactly;
  readonly expect: {
    readonly text?: string;
    readonly reasoning?: string;
    readonly calls?: readonly ToolCall[];
    readonly usage?: ModelUsage;
    readonly end?: ReplyEnd;
    readonly notices?: number;
    /** It is refused before anything is asked (PROVIDER_OPTION), in words that hold these. */
    readonly option?: readonly string[];
    readonly failure?: {
      readonly kind: FailureKind;
      readonly status?: number;
      readonly retryAfterSeconds?: number;
    };
  };
}

/** Cases that every folder has. Cut, stalled and broken connections are made out of `text`. */
export const neededCases = [
  'text',
  'parallel-calls',
  'reasoning',
  'empty',
  'refusal',
  'key-refused',
  'no-credit',
  'forbidden',
  'unknown-model',
  'too-large',
  'rate-limited',
  'rate-limited-with-wait',
  'server-error',
  'error-in-the-middle',
];

const fixtures = resolve(import.meta.dirname, '../../fixtures/providers');

/** Folders of cases. */
export const caseFolders = readdirSync(fixtures, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

export function readSetting(folder: string): CaseSetting {
  return JSON.parse(readFileSync(join(fixtures, folder, 'provider.json'), 'utf8')) as CaseSetting;
}

export function readCases(folder: string): readonly WireCase[] {
  return readdirSync(join(fixtures, folder))
    .filter((file) => file.endsWith('.json') && file !== 'provider.json')
    .map((file) => ({
      ...(JSON.parse(readFileSync(join(fixtures, folder, file), 'utf8')) as Omit<WireCase, 'name'>),
      name: file.slice(0, -'.json'.length),
    }));
}

/** The body as the vendor would send it. */
export function bodyOf({ events, lines, json, text }: WireCase): Buffer {
  if (events)
    return Buffer.from(
      events
        .map(({ event, data }) => {
          const told = typeof data === 'string' ? data : JSON.stringify(data);
          return `${event === undefined ? '' : `event: ${event}\n`}data: ${told}\n\n`;
        })
        .join(''),
    );
  if (lines) return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return Buffer.from(text ?? JSON.stringify(json));
}

export function contentTypeOf({ events, lines }: WireCase): string {
  if (events) return 'text/event-stream; charset=utf-8';
  return lines ? 'application/x-ndjson' : 'application/json';
}
