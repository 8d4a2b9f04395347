import type { ReadingHost } from '../../core/contract/draft-order.ts';
import type { ModelMessage } from '../../core/contract/model.ts';
import type { ConverseEnd, ConverseOrder } from '../converse-order.ts';
import { readingOnly } from './draft.ts';
import { openCodexThread, usualLimits } from './thread.ts';

/** One question to Codex; what `ConverseOrder` has of a model it does not need. */
export interface CodexQuestion extends Pick<ConverseOrder, 'system' | 'before' | 'question' | 'told'> {
  readonly agent: ReadingHost;
}

/** Characters of what was said before: each question opens a thread of its own. */
const maxBefore = 60_000;

/** A question that Codex answers: it looks around in its sandbox, and changes nothing. */
export async function converseWithCodex(
  { agent: { host, signal }, system, before, question, told }: CodexQuestion,
  limits = usualLimits,
): Promise<ConverseEnd> {
  const instructions = [...system, readingOnly].join('\n\n');
  await using thread = await openCodexThread(host, {
    signal,
    instructions,
    limits,
    heard: (piece) => told.text(piece),
  });
  const why = await thread.take({
    text: withBefore(before, question),
    mode: 'read',
    begun: () => told.message({ role: 'user', text: question }),
  });
  if (why !== undefined) return { kind: 'nothing', reason: why };
  const text = thread
    .said()
    .filter((one) => one.trim() !== '')
    .join('\n\n');
  if (text === '') return { kind: 'nothing', reason: 'Codex said nothing' };
  await told.message({ role: 'assistant', text, calls: [] });
  return { kind: 'answered' };
}

/** The question, below the end of what was said before. */
function withBefore(before: readonly ModelMessage[], question: string): string {
  const lines = before.flatMap((message) => {
    if (message.role === 'tool' || message.text === '') return [];
    return [`${message.role === 'user' ? 'The person' : 'You'}: ${message.text}`];
  });
  if (lines.length === 0) return question;
  const said = lines.join('\n\n');
  return `Before this was said:\n\n${said.slice(-maxBefore).toWellFormed()}\n\nThe question now:\n\n${question}`;
}
