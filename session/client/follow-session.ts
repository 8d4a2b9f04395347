import { isWritError, messageOf } from '../../core/base/errors.ts';
import { readEventStream } from '../../core/base/event-stream.ts';
import { streamHttp } from '../../core/base/net.ts';
import { readAnswer, type SessionAnswer, transportFault, whyGone } from './ask-session.ts';
import type { SessionAccess } from './find-session.ts';

const connectWithinMs = 10_000;
/** A snapshot of a long session, with room. */
const maxEventBytes = 16 * 1024 * 1024;
const maxRefusalBytes = 64 * 1024;

/** An event stream that stands, or why it does not. */
type Feed =
  | { readonly error: Extract<SessionAnswer, { readonly error: unknown }>['error'] }
  | {
      /** Begins to hand on events; resolves with why there are no more, or with nothing where it was stopped. */
      run(onEvent: (event: string, data: unknown) => Promise<void>): Promise<string | undefined>;
    };

/** Asks for the events of a session. Nothing is handed on before `run`; the signal ends it. */
export async function followSession(access: SessionAccess, signal: AbortSignal): Promise<Feed> {
  const gone = await whyGone(access);
  if (gone !== undefined) return { error: gone };
  const opened = Promise.withResolvers<Feed>();
  const begun = Promise.withResolvers<(event: string, data: unknown) => Promise<void>>();
  signal.addEventListener('abort', () => begun.resolve(async () => {}), { once: true });
  const question = {
    url: `${access.baseUrl}/api/code/events`,
    headers: { accept: 'text/event-stream' },
    withinMs: connectWithinMs,
    signal,
  };
  const ended = streamHttp(question, async ({ status, headers, body }) => {
    if (status !== 200) {
      const answer = readAnswer(status, await readBounded(body));
      opened.resolve('error' in answer ? answer : { error: { code: -32603, message: 'no stream' } });
      return undefined;
    }
    if (!headers['content-type']?.startsWith('text/event-stream')) {
      opened.resolve({ error: { code: -32603, message: 'the answer 200 is no event stream' } });
      return undefined;
    }
    opened.resolve({
      run: (onEvent) => {
        begun.resolve(onEvent);
        return ended;
      },
    });
    const onEvent = await begun.promise;
    try {
      for await (const { type, data } of readEventStream(body, { maxEventBytes })) {
        signal.throwIfAborted();
        await onEvent(type, JSON.parse(data));
      }
      return 'the session ended';
    } catch (fault) {
      if (signal.aborted) return undefined;
      return isWritError(fault) ? fault.message : `the connection was cut: ${messageOf(fault)}`;
    }
  });
  ended.catch((fault) => {
    if (signal.aborted) opened.reject(signal.reason);
    else opened.resolve({ error: transportFault(fault) });
  });
  return opened.promise;
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maxRefusalBytes) break;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
