import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerHeaders } from './send-answer.ts';

/** An answer of which nothing was sent yet. */
export type EventResponse = ServerResponse;

/** Octets that a client may send after its request; they are thrown away. */
const maxFurtherBytes = 64 * 1024;

/**
 * Takes an answer over as an event stream: headers, a comment and `first` go out at once, and `opened` gets the socket,
 * to which frames are written as they are (no chunks: every chunk costs a system call more). Nothing that the client
 * sends from now on is read as a request; more than 64 KiB of it, or its half of the connection closed, ends the
 * connection. A HEAD is answered; `opened` is not called then, nor for a client that has gone.
 */
export function openEventStream(
  response: EventResponse,
  first: readonly Uint8Array[],
  opened: (socket: Socket) => void,
): void {
  const open = (socket: Socket): void => {
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
    response.write(Buffer.concat([Buffer.from(': open\n\n'), ...first]));
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
  if (response.socket === null) response.once('socket', open);
  else open(response.socket);
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
