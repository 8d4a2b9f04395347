import type { FailureKind, ModelRequest, ModelUsage, ReplyEnd, ToolCall } from '../../core/contract/model.ts';

/** What a vendor answered once, and what has to come of it. */
export interface ProviderCase {
  readonly name: string;
  readonly model?: string;
  /** What differs from the plain question. */
  readonly request?: Partial<ModelRequest>;
  /** Of the answer; default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its body, one of these. A stream of events: each is its data, with `event` beside it where it has a name. */
  readonly events?: readonly { readonly event?: string; readonly data: unknown }[];
  readonly lines?: readonly unknown[];
  readonly json?: unknown;
  readonly text?: string;
  /** Path and body that the question must have, as far as they are named. */
  readonly wire?: { readonly path?: string; readonly body?: unknown };
  readonly expect: {
    readonly text?: string;
    readonly reasoning?: string;
    readonly calls?: readonly ToolCall[];
    readonly usage?: ModelUsage;
    /** Default `stop`. */
    readonly end?: ReplyEnd;
    readonly failure?: {
      readonly kind: FailureKind;
      readonly status?: number;
      readonly retryAfterSeconds?: number;
    };
  };
}

/** The body as the vendor would send it. */
export function caseBody({ events, lines, json, text }: ProviderCase): Buffer {
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

export function caseType({ events, lines }: ProviderCase): string {
  if (events) return 'text/event-stream; charset=utf-8';
  return lines ? 'application/x-ndjson' : 'application/json';
}
