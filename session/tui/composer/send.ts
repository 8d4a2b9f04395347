import { load } from './buffer.ts';
import { asks, type Composer, type Context, type Outcome, only } from './composer.ts';
import { noFolds, whole } from './folds.ts';
import { asWritten, remember } from './history.ts';

/** Messages that wait at most. */
const mostQueued = 50;
const nothing = { text: '', folds: noFolds };

/**
 * Enter: what is written goes to the session. While a turn is at work words wait for its end; a command goes at once,
 * for some only look. What is too long stays, and is told why.
 */
export function send(composer: Composer, { busy }: Context): Outcome {
  const text = whole(composer.buffer);
  if (text.trim() === '') return only(composer);
  const notice = judgeMessage(text);
  if (notice !== undefined) return only({ ...composer, notice });
  if (/^\s*!\s*$/.test(text)) return only({ ...composer, notice: 'type a command behind the !' });
  if (busy && !text.trimStart().startsWith('/')) return enqueue(composer);
  return asks(cleared(composer), { type: 'submit', text });
}

/** What is written waits for the end of the turn. */
export function enqueue(composer: Composer): Outcome {
  const text = whole(composer.buffer);
  const notice = judgeMessage(text);
  if (notice !== undefined) return only({ ...composer, notice });
  if (composer.queue.length >= mostQueued)
    return only({
      ...composer,
      notice: `${mostQueued} messages wait already; nothing is lost, send it later`,
    });
  return only({ ...cleared(composer), queue: [...composer.queue, text] });
}

/** The end of a turn: the message that waited longest goes now. */
export function turnEnded(composer: Composer): Outcome {
  const [first, ...queue] = composer.queue;
  return first === undefined ? only(composer) : asks({ ...composer, queue }, { type: 'submit', text: first });
}

/** The message that waits last is written again; `undefined` where none waits. */
export function takeBack(composer: Composer): Composer | undefined {
  const last = composer.queue.at(-1);
  if (last === undefined) return undefined;
  return {
    ...composer,
    queue: composer.queue.slice(0, -1),
    buffer: load(composer.buffer, asWritten(composer.history, last)),
  };
}

/** All that waits is written again, before what is being written: after an interrupt nothing goes by itself. */
export function takeAllBack(composer: Composer): Composer {
  if (composer.queue.length === 0) return composer;
  const { buffer } = composer;
  const before = composer.queue.map((text) => `${text}\n`).join('');
  const text = buffer.text === '' ? before.slice(0, -1) : before + buffer.text;
  return { ...composer, queue: [], buffer: load(buffer, { text, folds: buffer.folds }) };
}

/** An empty text; what was written is the newest entry of the history. */
export function cleared(composer: Composer): Composer {
  const { buffer, history } = composer;
  return {
    ...composer,
    history: remember(history, buffer),
    buffer: load(buffer, nothing),
    completion: undefined,
    closed: undefined,
  };
}

/** What a session takes at most: octets of a message in a body of 256 KiB, and characters of a question. */
const messageLimits = { octets: 255 * 1024, question: 8000 } as const;

/** Why a message cannot be sent, in words; `undefined` where it can. */
function judgeMessage(text: string): string | undefined {
  const octets = octetsOf(text);
  if (octets > messageLimits.octets)
    return `too long to be sent: ${kib(octets)} KiB of at most ${kib(messageLimits.octets)} KiB; nothing is lost, shorten it`;
  const question = /^\s*\/ask\s+/.exec(text);
  const length = question === null ? 0 : text.trimEnd().length - question[0].length;
  if (length > messageLimits.question) {
    const [found, most] = [length, messageLimits.question].map((count) => count.toLocaleString('en-US'));
    return `too long for a question: ${found} of at most ${most} characters; nothing is lost, shorten it`;
  }
  return undefined;
}

/** As a string of JSON in UTF-8, as it stands in a body. */
function octetsOf(text: string): number {
  return text.length > messageLimits.octets
    ? text.length
    : new TextEncoder().encode(JSON.stringify(text)).length;
}

function kib(octets: number): string {
  return Math.ceil(octets / 1024).toLocaleString('en-US');
}
