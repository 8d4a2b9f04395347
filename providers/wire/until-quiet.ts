import { setTimeout as wait } from 'node:timers/promises';
import { isWritError } from '../../core/base/errors.ts';
import type { ReplyProgress } from './wire-format.ts';

/** A reply that is `ending` may still be followed by its counts; of one that is `whole`, only the close is awaited. */
const quietMs = { ending: 3000, whole: 250 };

/**
 * The pieces of `body` until it ends, or until no frame has come for a while after the end of the reply: some gateways
 * keep the connection open. A connection that breaks after the end of the reply is ignored. `progress` is read before
 * each piece, `frames` is the number of frames so far: comments that keep a connection alive are none.
 */
export async function* untilQuiet(
  body: AsyncIterable<Uint8Array>,
  progress: () => { readonly is: ReplyProgress; readonly frames: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  const over = new AbortController();
  let since = '';
  let quiet: Promise<undefined> | undefined;
  try {
    for (;;) {
      const { is, frames } = progress();
      const next = pieces.next().catch((fault: unknown) => {
        signal.throwIfAborted();
        if (progress().is !== 'begun' && isWritError(fault, 'NETWORK_FAILED')) return undefined;
        throw fault;
      });
      if (is !== 'begun' && since !== `${is} ${frames}`) {
        since = `${is} ${frames}`;
        quiet = wait(quietMs[is], undefined, { signal: over.signal }).catch(() => undefined);
      }
      const piece = await (quiet === undefined ? next : Promise.race([next, quiet]));
      if (piece === undefined || piece.done) {
        // A piece that comes too late is the disposed connection's.
        next.catch(() => {});
        return;
      }
      yield piece.value;
    }
  } finally {
    over.abort();
  }
}
