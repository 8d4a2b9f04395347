/* A conversation with a model that always fits into the model's context window. */
import { isWritError, messageOf } from '../core/base/errors.ts';
import type { ModelEvent, ModelImage, ModelMessage } from '../core/interfaces/model.ts';
import type { Turn, TurnQuestion, Turns } from '../core/interfaces/worker.ts';
import { openConversation } from './conversation.ts';

/** Most tokens of one reply. */
const maxOutputTokens = 16_384;
/** Assumed context window in tokens if it is unknown: the smallest windows of vendors are larger. */
const usualWindow = 128_000;
/** Of code; what vendors count as a token is shorter than in prose. */
const charactersPerToken = 3;
/** Maximum share of a small window for one reply. */
const replyShare = 1 / 4;
/** Minimum share of a window for the conversation, even with long instructions and many tools. */
const leastShare = 1 / 4;
/** One is enough if the vendor reports its window and the size of the request. */
const maxShortenings = 3;
/** Assumed window in tokens of a vendor that refused a question and names none. */
const leastWindow = 8192;
/** A conversation of fewer characters is not what is too long. */
const leastConversation = 1000;
/** Smaller numbers in a refusal are statuses and counts, not a window. */
const leastContext = 512;
/** Reply size if the window is smaller than known and the model does not report its size. */
const smallReply = 4096;

/** What a model was found to hold, because a vendor refused more. */
interface Fitting {
  readonly reply: number;
  readonly characters: number;
}

/** By thread, for as long as the process lives: its next question is not refused again. */
const found = new Map<string, Fitting>();
const maxFound = 100;

interface DialogueOrder extends Pick<TurnQuestion, 'system' | 'tools'> {
  readonly cacheKey: string;
  /** Identifies consecutive dialogues: a window size found in one also limits the later ones. */
  readonly thread?: string;
  readonly turns: Turns;
  readonly question: string;
  /** Images of the question. */
  readonly images?: readonly ModelImage[] | undefined;
  /** Whether the middle of a question is left out that is too long for the model. */
  readonly cutsQuestion?: boolean | undefined;
  /** Earlier messages, oldest first. Begins with a message of the user. */
  readonly before?: readonly ModelMessage[];
  /** Of the conversation; absent: as much as the model holds. */
  readonly maxCharacters?: number;
}

/** A conversation that always fits into the model's context window. */
interface Dialogue {
  add(message: ModelMessage): void;
  /**
   * Returns the next reply. If the window is smaller than known, the conversation is shortened and the question is
   * sent again, up to three times. Errors of the turns are thrown.
   */
  take(told?: (event: ModelEvent) => void): Promise<Turn>;
}

export function openDialogue(order: DialogueOrder): Dialogue {
  const {
    turns,
    question,
    images,
    before,
    maxCharacters = Number.POSITIVE_INFINITY,
    system,
    tools,
    cacheKey,
    thread,
  } = order;
  const overhead = system.join('').length + JSON.stringify(tools).length;
  const { contextTokens } = turns;
  // Another model of the thread may hold more.
  const key = thread === undefined ? undefined : `${thread} ${contextTokens}`;
  let fitting = key === undefined ? undefined : found.get(key);
  let reply = fitting?.reply ?? replyTokens(contextTokens ?? usualWindow);
  // Where the window is not known, only the work is bounded by the usual one.
  const most =
    contextTokens === undefined && order.maxCharacters !== undefined
      ? maxCharacters
      : Math.min(maxCharacters, conversationCharacters(contextTokens ?? usualWindow, overhead));
  const conversation = openConversation(question, Math.min(most, fitting?.characters ?? most), before, {
    images,
    cutsQuestion: order.cutsQuestion,
  });
  const ask = (told?: (event: ModelEvent) => void): Promise<Turn> =>
    turns.take({ system, messages: conversation.messages, tools, maxOutputTokens: reply, cacheKey }, told);
  /** Makes the next question smaller than the one that was refused in these words; false if it cannot be. */
  const shrink = (words: string): boolean => {
    const [size, replied] = [conversation.size, reply];
    const limit = replyLimitIn(words, reply);
    if (limit !== undefined) {
      reply = limit;
      fitting = { characters: most, ...fitting, reply };
      return true;
    }
    const { context, sent } = tokensIn(words, size + overhead);
    reply = Math.min(reply, context === undefined ? smallReply : replyTokens(context));
    const room = conversationCharacters(context ?? leastWindow, overhead);
    let characters = context === undefined ? Math.max(size / 2, room) : room;
    // Many vendors count the reply that was asked for. If that alone was too much, the conversation is not.
    if (context !== undefined && sent !== undefined && sent - replied > context - reply) {
      const share = (context - reply) / sent;
      characters = Math.max(Math.min(room, (size + overhead) * share - overhead), room * leastShare);
    }
    // Then a token has fewer characters than assumed. Instructions and tools that alone are too much stay so.
    if (characters >= size && reply === replied) {
      if (size < leastConversation) return false;
      characters = size / 2;
    }
    fitting = { reply, characters: Math.floor(characters) };
    conversation.shrinkTo(fitting.characters);
    return conversation.size < size || reply < replied;
  };
  return {
    add: (message) => conversation.add(message),
    async take(told) {
      for (let left = maxShortenings; ; left -= 1)
        try {
          const turn = await ask(told);
          if (key !== undefined && fitting !== undefined) remember(key, fitting);
          return turn;
        } catch (fault) {
          if (!isTooLarge(fault)) throw fault;
          if (left === 0 || !shrink(messageOf(fault))) throw fault;
        }
    },
  };
}

function remember(key: string, fitting: Fitting): void {
  found.delete(key);
  found.set(key, fitting);
  const [oldest] = found.keys();
  if (found.size > maxFound && oldest !== undefined) found.delete(oldest);
}

/** True if a vendor refused what it was sent as too long for the model. */
export function isTooLarge(fault: unknown): boolean {
  return isWritError(fault, 'PROVIDER_FAILED') && fault.detail.kind === 'too-large';
}

function replyTokens(context: number): number {
  return Math.min(maxOutputTokens, Math.max(1, Math.floor(context * replyShare)));
}

/** Characters of a conversation beside instructions and tools of `overhead` characters, and a reply. */
function conversationCharacters(context: number, overhead: number): number {
  const window = Math.min(context, 2 * usualWindow);
  const room = charactersPerToken * (window - replyTokens(context));
  return Math.floor(Math.max(room - overhead, room * leastShare));
}

/** The tokens of a reply that a refusal allows which speaks of the reply alone; `undefined` for any other refusal. */
function replyLimitIn(words: string, asked: number): number | undefined {
  if (
    /context|prompt|input tokens/i.test(words) ||
    !/max_\w{0,11}tokens|(?:completion|output) tokens/i.test(words)
  )
    return undefined;
  const numbers = [...words.matchAll(/\b\d{3,8}\b/g)].map(([digits]) => Number(digits));
  const fitting = numbers.filter((one) => one >= leastContext && one < asked);
  return fitting.length > 0 ? Math.max(...fitting) : Math.min(smallReply, Math.ceil(asked / 2));
}

/**
 * Parses the window and the request size in tokens from the text of a vendor's refusal of a question of so many
 * characters. Each is absent if the text does not contain it. The HTML page of a proxy has neither.
 */
function tokensIn(words: string, characters: number): { readonly context?: number; readonly sent?: number } {
  const plain = words.replace(/<[^<>]{0,1000}>/g, ' ').replace(/(\d),(?=\d{3}(?!\d))/g, '$1');
  // Anthropic: `context limit: PROMPT + REPLY > WINDOW`.
  const [, prompt, asked, window] = /\b(\d{1,8}) \+ (\d{1,8}) > (\d{3,8})\b/.exec(plain) ?? [];
  if (prompt !== undefined && Number(window) >= leastContext)
    return { context: Number(window), sent: Number(prompt) + Number(asked) };
  const [, count] = /(?:context|maximum|limit|<=|>)\D{0,60}?(\d{3,8})\b/i.exec(plain) ?? [];
  const context = Number(count ?? 0);
  if (context < leastContext) return {};
  const numbers = [...plain.matchAll(/\b\d{3,8}\b/g)].map(([digits]) => Number(digits));
  // A larger number counts something else, for example requests.
  const sent = Math.max(...numbers.filter((one) => one <= 2 * characters + maxOutputTokens));
  return sent > context ? { context, sent } : { context };
}
