/* Records the exchanges with a provider. */
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { HttpStreamer, OpenAnswer, StreamQuestion } from '../../core/base/http-question.ts';
import { jsonBody } from '../../readers/sensitive/model-work.ts';
import {
  fileName,
  isKeptHeader,
  maskValues,
  maxExchanges,
  maxPieces,
  maxTrafficBytes,
  type OpenedProvider,
  type RecordedAnswer,
  type RecordedPiece,
  type RecordedQuestion,
  trafficEnds,
  trafficFailures,
  trafficFormat,
  type ValueMask,
} from './traffic-file.ts';

export interface RecordingOptions {
  /** Made where it is not there; must be empty. */
  readonly directory: string;
  readonly opened: OpenedProvider;
  /** What must not be in the recording: the key, and whatever else is known. */
  readonly secrets: readonly string[];
  /** Maximum number of exchanges, and of octets in one file; defaults to the format's own bounds. */
  readonly most?: { readonly exchanges: number; readonly bytes: number };
}

export interface TrafficRecording {
  readonly stream: HttpStreamer;
  /** What is written down from now on holds no such value. */
  hide(value: string): void;
  /** Throws where an exchange could not be written down. */
  close(): void;
}

/** Where exchanges are kept; what is thrown here is kept, too. */
interface Keeper {
  readonly maxBytes: number;
  /** Returns the fault, or `undefined`. */
  keep(answer: RecordedAnswer): Promise<WritError | undefined>;
  giveUp(found: string): WritError;
}

/**
 * Writes every exchange of a streamer down, one file for each, numbered, 0600, never over another one; headers by an
 * allow-list, secrets masked. OUTPUT_EXISTS where the directory is not empty; OUTPUT_FAILED, out of a question or its
 * body, where an exchange cannot be kept: a recording with a gap is none.
 */
export async function recordTraffic(
  stream: HttpStreamer,
  {
    directory,
    opened,
    secrets,
    most = { exchanges: maxExchanges, bytes: maxTrafficBytes },
  }: RecordingOptions,
): Promise<TrafficRecording> {
  const place = await emptyDirectory(directory);
  let hidden = secrets;
  let mask = maskValues(hidden);
  let count = 0;
  let broken: WritError | undefined;
  const giveUp = (found: string, cause?: unknown): WritError => {
    broken ??= failed(place, found, cause);
    return broken;
  };
  const keeperOf = (number: number, request: RecordedQuestion): Keeper => ({
    maxBytes: most.bytes,
    giveUp,
    async keep(answer) {
      const exchange = { format: trafficFormat, number, opened: mask.json(opened), request, answer };
      const bytes = Buffer.from(`${JSON.stringify(exchange, null, 1)}\n`);
      if (bytes.length > most.bytes) return giveUp(`an exchange of more than ${most.bytes} octets`);
      try {
        await writeNew(join(place, fileName(number)), bytes);
      } catch (cause) {
        return giveUp(messageOf(cause), cause);
      }
      return broken;
    },
  });
  return {
    async stream(question) {
      if (broken !== undefined) throw broken;
      count += 1;
      if (count > most.exchanges) throw giveUp(`more than ${most.exchanges} exchanges`);
      const keeper = keeperOf(count, toRecorded(question, mask));
      const answer = await stream(question).catch(async (fault: unknown) => {
        await keeper.keep({ failed: wordOf(fault, trafficFailures, 'left'), found: foundOf(fault, mask) });
        throw fault;
      });
      return recordAnswer(answer, mask, keeper);
    },
    hide(value) {
      hidden = [...hidden, value];
      mask = maskValues(hidden);
    },
    close() {
      if (broken !== undefined) throw broken;
    },
  };
}

function recordAnswer(answer: OpenAnswer, mask: ValueMask, { maxBytes, keep, giveUp }: Keeper): OpenAnswer {
  const pieces: Buffer[] = [];
  let kept: Promise<WritError | undefined> | undefined;
  // The first end counts; whoever comes later waits until it is written down.
  const finish = (end: (typeof trafficEnds)[number], fault?: unknown): Promise<WritError | undefined> => {
    kept ??= keep({
      status: answer.status,
      headers: keptOf(answer.headers, mask),
      pieces: maskPieces(pieces, mask),
      end,
      ...(fault === undefined ? {} : { found: foundOf(fault, mask) }),
    });
    return kept;
  };
  const read = async function* (): AsyncGenerator<Uint8Array> {
    let size = 0;
    try {
      for await (const piece of answer.body) {
        size += piece.length;
        if (size > maxBytes || pieces.length === maxPieces) {
          kept = Promise.resolve(undefined);
          throw giveUp(`an answer of more than ${maxBytes} octets or ${maxPieces} pieces`);
        }
        // A copy, because the reader may reuse the buffer.
        pieces.push(Buffer.from(piece));
        yield piece;
      }
    } catch (fault) {
      await finish(wordOf(fault, trafficEnds, 'left'), fault);
      throw fault;
    }
    const fault = await finish('whole');
    if (fault !== undefined) throw fault;
  };
  return {
    status: answer.status,
    headers: answer.headers,
    body: read(),
    async [Symbol.asyncDispose]() {
      // The next request and `close` report the fault: an error thrown here would hide why the reader stopped.
      await finish('left');
      await answer[Symbol.asyncDispose]();
    },
  };
}

/** A question as it is recorded, and as it is compared with a recorded one. */
export function toRecorded(
  { method, url, headers = {}, body }: StreamQuestion,
  mask: ValueMask,
): RecordedQuestion {
  const { pathname, search } = new URL(url);
  const kept = { method, path: mask.text(pathname + search), headers: keptOf(headers, mask) };
  if (body === undefined) return kept;
  const octets = Buffer.from(body);
  const json = jsonBody(octets);
  // A body that is not valid JSON for a reader of the recording is stored as bytes.
  return json === undefined
    ? { ...kept, base64: mask.bytes(octets).toString('base64') }
    : { ...kept, body: mask.json(json.value) };
}

function keptOf(
  headers: Readonly<Record<string, string>>,
  mask: ValueMask,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), mask.text(value)] as const)
      .filter(([name]) => isKeptHeader(name)),
  );
}

/** Masked over their cuts: a secret may begin in one piece and end in the next. */
function maskPieces(pieces: readonly Buffer[], mask: ValueMask): readonly RecordedPiece[] {
  const whole = mask.bytes(Buffer.concat(pieces));
  let at = 0;
  return pieces.map(({ length }) => {
    at += length;
    const piece = whole.subarray(at - length, at);
    const text = piece.toString('utf8');
    return Buffer.from(text).equals(piece) ? text : { base64: piece.toString('base64') };
  });
}

/** The reason of a failed question, where the format has a word for it. */
function wordOf<W extends string>(fault: unknown, words: readonly W[], otherwise: W): W {
  const reason = isWritError(fault, 'NETWORK_FAILED') ? fault.detail.reason : undefined;
  return words.find((word) => word === reason) ?? otherwise;
}

function foundOf(fault: unknown, mask: ValueMask): string {
  const found = isWritError(fault, 'NETWORK_FAILED') ? String(fault.detail.found) : 'the caller went away';
  return mask.text(found).slice(0, 500);
}

async function emptyDirectory(directory: string): Promise<string> {
  await requireRecordingPlace(directory);
  const place = resolve(directory);
  await mkdir(place, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw failed(place, messageOf(cause), cause);
  });
  await requireRecordingPlace(place);
  return place;
}

/**
 * Requires that the directory is empty and belongs to the current user, or does not exist; it creates no files.
 * Throws OUTPUT_EXISTS, OUTPUT_FAILED.
 */
export async function requireRecordingPlace(directory: string): Promise<void> {
  // Without a slash at its end, that would follow a symlink.
  const place = resolve(directory);
  const fail = (cause: unknown): never => {
    throw failed(place, messageOf(cause), cause);
  };
  const found = await lstat(place).catch((fault: NodeJS.ErrnoException) =>
    fault.code === 'ENOENT' ? undefined : fail(fault),
  );
  if (found === undefined) return;
  if (!found.isDirectory()) throw failed(place, 'it is no directory');
  if (process.geteuid !== undefined && found.uid !== process.geteuid())
    throw failed(place, `it belongs to user ${found.uid}`);
  if ((await readdir(place).catch(fail)).length > 0)
    throw new WritError('OUTPUT_EXISTS', {
      message: `\`${place}\` is not empty, so the recording cannot be written there`,
      detail: { path: place },
      hints: ['name another directory'],
    });
}

async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  await using file = await open(path, flags, 0o600);
  await file.writeFile(bytes);
}

function failed(place: string, found: string, cause?: unknown): WritError {
  return new WritError('OUTPUT_FAILED', {
    message: `the recording in \`${place}\` cannot be written: ${found}`,
    detail: { path: place, found },
    ...(cause === undefined ? {} : { cause }),
  });
}
