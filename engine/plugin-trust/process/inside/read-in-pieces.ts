/** Lengths of the pieces in which the body of a response is read, separated by commas. The provider tester sends it. */
export const piecesHeader = 'writ-pieces';

/**
 * Divides `body` as the response asks. Pieces that are sent apart can arrive as one on their way into the sandbox; a
 * provider is tested with the pieces as they were meant.
 */
export function readInPieces(response: Response): Response {
  const { body } = response;
  const lengths = response.headers.get(piecesHeader)?.split(',').map(Number);
  if (body === null || lengths === undefined) return response;
  const received: Uint8Array[] = [];
  const divide = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk) {
      received.push(chunk);
    },
    flush(controller) {
      let rest = new Uint8Array(Buffer.concat(received));
      for (const length of lengths) {
        controller.enqueue(rest.slice(0, length));
        rest = rest.slice(length);
      }
      if (rest.length > 0) controller.enqueue(rest);
    },
  });
  let divided: ReadableStream<Uint8Array> | undefined;
  return Object.defineProperty(response, 'body', {
    get: () => {
      divided ??= body.pipeThrough(divide);
      return divided;
    },
  });
}
