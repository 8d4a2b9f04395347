/* Keeps the messages between a worker and a model within the model's context window. */
import type { AssistantMessage, ModelImage, ModelMessage } from '../core/interfaces/model.ts';
import { recordDecision, updatePlan } from './tools/update-plan.ts';

export const emptyReply = 'the reply of the model is empty: it has no text and calls no tool';

export function isEmpty({ text, calls }: Pick<AssistantMessage, 'text' | 'calls'>): boolean {
  return text.trim() === '' && calls.length === 0;
}

/**
 * Earlier messages as vendors accept them. A turn that was interrupted, or ended by writ, leaves a call without a
 * result, or a reply that says nothing: vendors refuse every question after it.
 */
function acceptable(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.flatMap((message, at): readonly ModelMessage[] => {
    if (message.role !== 'assistant') return message.role === 'tool' ? [] : [message];
    if (isEmpty(message)) return [];
    if (message.calls.length === 0) return [message];
    const next = messages[at + 1];
    const known = next?.role === 'tool' ? next.results : [];
    const results = message.calls.map(
      ({ id, name }) =>
        known.find(({ callId }) => callId === id) ?? {
          callId: id,
          name,
          text: 'no result: the turn ended before this call did',
          isError: true,
        },
    );
    return [message, { role: 'tool', results }];
  });
}

/** The messages between a worker and a model, in the form that the model receives. */
export interface Conversation {
  /** Messages follow each other as vendors want them: a question, then replies and what came of each. */
  add(message: ModelMessage): void;
  /** Bounds it to fewer characters from now on. */
  shrinkTo(maxCharacters: number): void;
  readonly messages: readonly ModelMessage[];
  /** Characters, about. */
  readonly size: number;
}

/** What came of the last calls stays whole as long as that alone fits. */
const keptMessages = 8;
/** Left out in large steps: a vendor keeps a prompt only as far as it begins as before. */
const shrinkTo = 0.6;
const shortText = 200;
/** Recorded decisions that stay when their replies are dropped, and their maximum share of the conversation. */
const maxDecisions = 64;
const decisionShare = 1 / 8;

interface QuestionParts {
  readonly images?: readonly ModelImage[] | undefined;
  /** Whether the middle of the question is left out if nothing else is left to leave out. */
  readonly cutsQuestion?: boolean | undefined;
}

/**
 * Opens a conversation of at most `maxCharacters`. If it would be longer, content is omitted in this order: results
 * of the oldest calls, the oldest replies, the middle of results and answers that are too long, old messages of the
 * user. The question, the model's recorded decisions and its last plan stay. A note marks each omission. Omitted
 * content is not stored, so an attempt of thousands of turns needs no more memory than one of a hundred. `before`
 * begins with a message of the user.
 */
export function openConversation(
  question: string,
  maxCharacters: number,
  before: readonly ModelMessage[] = [],
  { images = [], cutsQuestion = false }: QuestionParts = {},
): Conversation {
  const pictures = images.length === 0 ? {} : { images };
  let asked: ModelMessage = { role: 'user', text: question, ...pictures };
  const [first = asked, ...later] = [...acceptable(before), asked];
  /** User messages before the first remaining reply, sent as one message. */
  let heads: readonly ModelMessage[] = [first];
  let tail: ModelMessage[] = later;
  let sizes: number[] = later.map(sizeOf);
  let size = 0;
  let limit = maxCharacters;
  let dropped = 0;
  let decisions: readonly string[] = [];
  let plan: string | undefined;
  let head: ModelMessage = first;

  const count = (): void => {
    const shown = heads.flatMap((message) => (message.role === 'user' ? (message.images ?? []) : []));
    head = { role: 'user', text: headText(), ...(shown.length === 0 ? {} : { images: shown }) };
    size = sizes.reduce((sum, one) => sum + one, sizeOf(head));
  };
  const headText = (): string => {
    const kept = [...decisions, ...(plan === undefined ? [] : [plan])];
    return [
      ...heads.map((message) => (message.role === 'user' ? message.text : '')),
      ...(dropped === 0
        ? []
        : [
            `[${dropped} earlier replies of yours and what came of them are left out here. The files are as you left them.]`,
          ]),
      ...(kept.length === 0 ? [] : [`What you recorded in them:\n${kept.join('\n')}`]),
    ].join('\n\n');
  };
  const replace = (index: number, message: ModelMessage): void => {
    const now = sizeOf(message);
    size += now - (sizes[index] ?? 0);
    sizes[index] = now;
    tail[index] = message;
  };
  const shorten = (to: number, goal: number, shorter: (message: ModelMessage) => ModelMessage): void => {
    for (let index = 0; index < to && size > goal; index += 1) {
      const message = tail[index];
      const changed = message && shorter(message);
      if (changed !== undefined && changed !== message) replace(index, changed);
    }
  };
  const remember = (message: ModelMessage): void => {
    if (message.role === 'user') {
      // A repeated reminder adds no information.
      if (message === asked || !heads.some((one) => one.role === 'user' && one.text === message.text))
        heads = [...heads, message];
      return;
    }
    if (message.role !== 'assistant') return;
    dropped += 1;
    for (const { name, arguments: given } of message.calls) {
      const text = `- ${name} ${given.slice(0, 2000)}`;
      if (name === updatePlan.name) plan = text;
      if (name === recordDecision.name) decisions = [...decisions, text].slice(-maxDecisions);
    }
    while (decisions.join('\n').length > limit * decisionShare) decisions = decisions.slice(1);
  };
  const dropOldest = (goal: number, kept: number): void => {
    // From the first message to the one before which enough is gone; results go with their calls.
    let end = 0;
    let left = size;
    for (let index = 0; index < tail.length - kept && left > goal; index += 1) {
      left -= sizes[index] ?? 0;
      if (tail[index + 1]?.role !== 'tool') end = index + 1;
    }
    if (end === 0) return;
    tail.slice(0, end).forEach(remember);
    tail = tail.slice(end);
    sizes = sizes.slice(end);
    count();
  };
  const shortenHeads = (maxText: number): void => {
    heads = heads.map((message) =>
      message === asked || message.role !== 'user'
        ? message
        : { ...message, text: shortened(message.text, maxText) },
    );
    if (maxText <= shortText) heads = heads.filter((message) => message === asked || heads.length === 1);
    count();
  };
  const shortenQuestion = (): void => {
    const before = asked;
    const most = Math.max(sizeOf(before) - (size - limit), shortText * 2);
    if (most >= sizeOf(before)) return;
    asked = { role: 'user', text: shortened(question, most), ...pictures };
    heads = heads.map((message) => (message === before ? asked : message));
    tail = tail.map((message) => (message === before ? asked : message));
    sizes = tail.map(sizeOf);
    count();
  };
  const fit = (): void => {
    if (size <= limit) return;
    const goal = limit * shrinkTo;
    shorten(tail.length - keptMessages, goal, (one) => withShortResults(one, shortText));
    if (size > goal) dropOldest(goal, keptMessages);
    for (let most = Math.max(limit / 4, shortText); size > limit && most >= shortText; most /= 2) {
      shorten(tail.length, limit, (one) => withShortResults(one, Math.floor(most)));
      shorten(tail.length, limit, (one) => withShortAnswer(one, Math.floor(most)));
    }
    if (size > limit) dropOldest(limit, 2);
    for (let most = Math.max(limit / 4, shortText); size > limit && most >= shortText / 2; most /= 2)
      shortenHeads(Math.floor(most));
    if (size > limit && cutsQuestion) shortenQuestion();
  };
  count();
  fit();
  return {
    get messages() {
      return [head, ...tail];
    },
    get size() {
      return size;
    },
    shrinkTo(most) {
      limit = Math.min(limit, most);
      fit();
    },
    add(message) {
      const added = sizeOf(message);
      tail.push(message);
      sizes.push(added);
      size += added;
      fit();
    },
  };
}

/** The last answer may be longer than the window of another model. */
function withShortAnswer(message: ModelMessage, maxText: number): ModelMessage {
  if (message.role !== 'assistant' || message.calls.length > 0 || message.text.length <= maxText)
    return message;
  return { role: 'assistant', text: shortened(message.text, maxText), calls: [] };
}

function withShortResults(message: ModelMessage, maxText: number): ModelMessage {
  if (message.role !== 'tool') return message;
  return {
    ...message,
    results: message.results.map((result) => ({ ...result, text: shortened(result.text, maxText) })),
  };
}

/** Both ends of a text, and how much is not there; of a text that stays short by itself, all of it. */
function shortened(text: string, maxText: number): string {
  if (text.length <= maxText) return text;
  const left = `[left out: ${text.length} characters; ask again]`;
  if (maxText <= shortText) return left;
  const half = Math.floor((maxText - shortText) / 2);
  return `${text.slice(0, half)}\n${left}\n${text.slice(-half)}`;
}

function sizeOf(message: ModelMessage): number {
  if (message.role === 'user') return message.text.length;
  if (message.role === 'tool') return message.results.reduce((sum, { text }) => sum + text.length + 50, 0);
  const { text, calls, state } = message;
  const opaque = state === undefined ? 0 : JSON.stringify(state.value)?.length;
  return text.length + (opaque ?? 0) + calls.reduce((sum, call) => sum + call.arguments.length + 50, 0);
}
