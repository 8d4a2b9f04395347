import { revealHidden } from '../../api/envelope.ts';
import { isTime } from './words-of.ts';

/** What a list says of a thread. Times are milliseconds since the epoch. */
export interface ThreadSummary {
  readonly id: string;
  /** The first request, else the first command, on one line and cut. */
  readonly title?: string;
  /** The intent that was drafted last. */
  readonly currentIntentId?: string;
  readonly createdAtMs: number;
  /** Never before `createdAtMs`, and never earlier than it was: a clock may go back. */
  readonly updatedAtMs: number;
}

/**
 * A summary with what the facts of one record add to it; `undefined` until a session of this very thread was opened.
 * Pure; anybody may have written the record, so that nothing of it is taken without a look at its form.
 */
export function withRecord(
  before: ThreadSummary | undefined,
  threadId: string,
  facts: unknown,
): ThreadSummary | undefined {
  let summary = before;
  for (const fact of Array.isArray(facts) ? facts : []) {
    const said = membersOf(fact);
    const { atMs } = said;
    if (!isTime(atMs)) continue;
    if (summary !== undefined) {
      summary = { ...withFact(summary, said), updatedAtMs: Math.max(summary.updatedAtMs, atMs) };
    } else if (said.type === 'opened' && membersOf(said.ground).threadId === threadId) {
      summary = { id: threadId, createdAtMs: atMs, updatedAtMs: atMs };
    }
  }
  return summary;
}

function withFact(summary: ThreadSummary, { type, text, draft }: Members): ThreadSummary {
  if (type === 'said' && typeof text === 'string' && !isRequest(summary.title)) {
    const title = toTitle(text);
    const isBetter = title !== '' && (summary.title === undefined || isRequest(title));
    return isBetter ? { ...summary, title } : summary;
  }
  const { intentId } = membersOf(type === 'drafted' ? draft : undefined);
  return isPlainId(intentId) ? { ...summary, currentIntentId: intentId } : summary;
}

/** Whether a message, or a title, is a request and not a command such as `/network allow`. */
export function isRequest(text: string | undefined): text is string {
  return text !== undefined && !/^\s*[/!]/.test(text.slice(0, 200));
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

const maxTitle = 80;
const maxId = 200;

function toTitle(text: string): string {
  const [...characters] = revealHidden(text.slice(0, 20 * maxTitle), () => ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  if (characters.length <= maxTitle) return characters.join('');
  return `${characters.slice(0, maxTitle - 1).join('')}…`;
}

function isPlainId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= maxId &&
    revealHidden(value, () => '') === value
  );
}
