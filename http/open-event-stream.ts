import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerHeaders } from './send-answer.ts';

/** An answer of which nothing was sent yet. */
export type EventResponse = ServerResponse;

/** Octets that a client may send after its request; they are thrown away. */
const maxFurtherBytes = 64 * 1024;
const openComment = Buffer.from(': open\n\n');

/**
 * Takes an answer over as an event stream: headers, a comment and `first` go out at once, and `opened` gets the socket,
 * to which frames are written as they are (no chunks: every chunk costs a system call more). Nothing that the client
 * sends from now on is read as a request; more than 64 KiB of it, or its half of the connection closed, ends the
 * connection. A HEAD is answered; neither `first` nor `opened` is called then, nor `opened` for a client that has gone.
 */
export function openEventStream(
  response: EventResponse,
  first: () => readonly Uint8Array[],
  opened: (socket: Socket) => void,
): void {
  const open = (socket: Socket): void => {
    const frames = response.req.method === 'HEAD' ? [] : first();
    // Without this node would answer in chunks, which a client of HTTP/1.0 could not read either.
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, {
      ...answerHeaders,
      'content-type': 'text/event-stream',
      connection: 'close',
    });
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    // One system call, and no copy: a stream's first frame may be large, and the same for many.
    response.cork();
    response.write(openComment);
    for (const frame of frames) response.write(frame);
    response.uncork();
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    socket.setTimeout(0);
    discardInput(socket);
    opened(socket);
  };
  // A request that was sent ahead of the answer to an earlier one gets its socket after that.
  if (response.socket !== null) open(response.socket);
  else
    response.once('socket', (socket) => {
      try {
        open(socket);
      } catch {
        // Nobody hears of it here; the client comes again.
        socket.destroy();
      }
    });
}

function discardInput(socket: Socket): void {
  let further = 0;
  socket.removeAllListeners('data');
  // Asking for data also takes the connection away from node's parser, which otherwise reads below the stream.
  socket.on('data', (part: Buffer) => {
    further += part.length;
    if (further > maxFurtherBytes) socket.destroy();
  });
  socket.on('end', () => socket.destroy());
  socket.resume();
}
